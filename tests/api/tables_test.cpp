// Walks every row of every info table: each answers, says its size first, and minds the buffer's.
#include "api/tables.h"

#include <CL/cl_ext.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "api/composition.h"
#include "scheduler/context_state.h"
#include "scheduler/enqueue.h"
#include "tests/support/unit_sets.h"

namespace weft::api {
namespace {

template <class Object>
cl_int ask(InfoTable<Object> table, Object& object, cl_uint token, size_t capacity,
           void* destination, size_t* size) {
  try {
    query(table, object, token, capacity, destination, size);
  } catch (const Error& error) {
    return error.code();
  }
  return CL_SUCCESS;
}

// `refused` is the one token, if any, that answers with an error for this object.
template <class Object>
void walk(InfoTable<Object> table, Object& object, cl_uint refused = 0) {
  std::set<cl_uint> seen;
  for (const InfoRow<Object>& row : table) {
    SCOPED_TRACE(testing::Message() << "token 0x" << std::hex << row.token);
    EXPECT_TRUE(seen.insert(row.token).second) << "a token twice";
    if (row.token == refused) continue;
    size_t size = SIZE_MAX;
    ASSERT_EQ(ask(table, object, row.token, 0, nullptr, &size), CL_SUCCESS);
    ASSERT_LT(size, 1u << 20);
    std::vector<unsigned char> first(size + 8, 0xee), second(size + 8, 0x11);
    size_t written = 0;
    ASSERT_EQ(ask(table, object, row.token, size, first.data(), &written), CL_SUCCESS);
    EXPECT_EQ(written, size);
    ASSERT_EQ(ask(table, object, row.token, second.size(), second.data(), nullptr), CL_SUCCESS);
    EXPECT_TRUE(std::equal(first.begin(), first.end() - 8, second.begin())) << "two answers";
    EXPECT_EQ(std::vector<unsigned char>(first.end() - 8, first.end()),
              std::vector<unsigned char>(8, 0xee));
    if (size) {
      EXPECT_EQ(ask(table, object, row.token, size - 1, first.data(), nullptr), CL_INVALID_VALUE);
    }
  }
  EXPECT_EQ(ask(table, object, 0xdead, 0, nullptr, nullptr), CL_INVALID_VALUE);
}

class Tables : public testing::Test {
 protected:
  Device& device() { return *platform().devices().front(); }
  Ref<Context> makeContext() {
    auto made = make<Context>(platform(), platform().devices(),
                              std::vector<cl_context_properties>{}, nullptr, nullptr);
    made->setState(makeContextState(*made));
    return made;
  }
  // With the application's reference, as a queue has when clCreateCommandQueue returns it. Giving
  // that up is what parts a queue from its last command.
  std::unique_ptr<weft::Queue, void (*)(weft::Queue*)> makeQueue() {
    auto made = make<weft::Queue>(context, Ref<weft::Device>(&device()), CL_QUEUE_PROFILING_ENABLE,
                                  std::vector<cl_queue_properties>{});
    return {made.detach(), [](weft::Queue* queue) { queue->releaseHandle(); }};
  }
  Ref<Context> context = makeContext();
};

TEST_F(Tables, Platform) { walk<Platform>(platform_info, platform()); }

TEST_F(Tables, Device) {
  // No test machine is on a PCI bus.
  walk<weft::Device>(device_info, device(), CL_DEVICE_PCI_BUS_INFO_KHR);
  const auto sub = make<weft::Device>(
      Ref<weft::Device>(&device()), device().port().partition(test::singles(1)).front(),
      std::vector<cl_device_partition_property>{CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  walk<weft::Device>(device_info, *sub, CL_DEVICE_PCI_BUS_INFO_KHR);
}

TEST_F(Tables, Context) { walk<weft::Context>(context_info, *context); }

TEST_F(Tables, Queue) {
  const auto queue = makeQueue();
  walk<weft::Queue>(queue_info, *queue, CL_QUEUE_SIZE);
  EXPECT_EQ(ask(queue_info, *queue, CL_QUEUE_SIZE, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
}

TEST_F(Tables, Memory) {
  const auto buffer =
      make<Buffer>(context, CL_MEM_READ_WRITE, 64, nullptr, std::vector<cl_mem_properties>{});
  walk<MemObject>(memory_info, *buffer);
}

TEST_F(Tables, Image) {
  const ImageFormat* format = findImageFormat({CL_RGBA, CL_UNORM_INT8});
  ASSERT_NE(format, nullptr);
  ImageShape shape;
  shape.width = shape.height = 4;
  shape.row_pitch = 16;
  shape.slice_pitch = 64;
  const auto image = make<PixelImage>(context, CL_MEM_READ_WRITE, *format, shape, nullptr,
                                      std::vector<cl_mem_properties>{});
  walk<MemObject>(memory_info, *image);
  walk<PixelImage>(image_info, *image);
}

TEST_F(Tables, Pipe) {
  const auto pipe = make<weft::Pipe>(context, CL_MEM_READ_WRITE, 4, 16);
  walk<MemObject>(memory_info, *pipe);
  walk<weft::Pipe>(pipe_info, *pipe);
}

TEST_F(Tables, DeviceQueue) {
  const auto queue =
      make<weft::DeviceQueue>(context, context->devices().front(),
                              CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 4096,
                              std::vector<cl_queue_properties>{});
  walk<weft::DeviceQueue>(device_queue_info, *queue);
}

TEST_F(Tables, Sampler) {
  const auto sampler =
      make<weft::Sampler>(context, SamplerState{}, std::vector<cl_sampler_properties>{});
  walk<weft::Sampler>(sampler_info, *sampler);
}

TEST_F(Tables, Event) {
  const auto queue = makeQueue();
  const auto marker = enqueueMarker(*queue, {});
  EXPECT_EQ(marker->wait(), CL_COMPLETE);
  walk<weft::Event>(event_info, *marker);
  walk<weft::Event>(profiling_info, *marker);
  walk<weft::Event>(event_info, *make<UserEvent>(context));
}

TEST_F(Tables, CommandBuffer) {
  const auto queue = makeQueue();
  const auto buffer = make<weft::CommandBuffer>(Ref<weft::Queue>(queue.get()), 0, 0,
                                                std::vector<cl_command_buffer_properties_khr>{});
  walk<weft::CommandBuffer>(command_buffer_info, *buffer);
}

}  // namespace
}  // namespace weft::api
