// The wait list and the event of every command that takes them: one set of tests, generated for
// each entry point.
#include <algorithm>
#include <iterator>
#include <ostream>
#include <string_view>

#include "tests/conformance/image_fixture.h"

namespace weft::conformance {
namespace {

struct WaitArguments {
  cl_uint count = 0;
  const cl_event* list = nullptr;
  cl_event* event = nullptr;
};

class WaitListTest;

struct Command {
  const char* name;
  cl_command_type type;
  cl_int (*enqueue)(WaitListTest& test, const WaitArguments& waits);
  // The same as a blocking call, where there is one.
  cl_int (*enqueueBlocking)(WaitListTest& test, const WaitArguments& waits) = nullptr;
};
void PrintTo(const Command& command, std::ostream* out) { *out << command.name; }

class WaitListTest : public CommandTest, public testing::WithParamInterface<Command> {
 public:
  using CommandTest::buffer;
  using CommandTest::buffer_bytes;
  using CommandTest::host;
  using CommandTest::queue;

  const char* kernel_source = "kernel void write(global int* out) { *out = 1; }";
  OwnedMem second = makeBuffer();
  OwnedMem image, second_image;
  OwnedProgram program;
  OwnedKernel kernel;
  size_t origin[3] = {0, 0, 0};
  size_t region[3] = {4, 4, 1};
  void* mapped = nullptr;

 protected:
  bool launches() const {
    return GetParam().type == CL_COMMAND_NDRANGE_KERNEL || GetParam().type == CL_COMMAND_TASK;
  }
  OwnedMem makeImage() {
    const cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE2D, 4, 4);
    cl_int code = 1;
    OwnedMem made(cl.clCreateImage(context, 0, &rgba8, &desc, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  bool usesImages() const {
    return std::string_view(GetParam().name).find("Image") != std::string_view::npos;
  }
  void SetUp() override {
    if (GetParam().type == CL_COMMAND_NATIVE_KERNEL &&
        !(deviceInfo<cl_device_exec_capabilities>(CL_DEVICE_EXECUTION_CAPABILITIES) &
          CL_EXEC_NATIVE_KERNEL))
      GTEST_SKIP() << "the device runs no native kernels";
    if (usesImages()) {
      if (!deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "no images";
      image = makeImage();
      second_image = makeImage();
    }
    if (GetParam().type == CL_COMMAND_UNMAP_MEM_OBJECT) {
      mapped = cl.clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, 16, 0, nullptr,
                                     nullptr, nullptr);
      ASSERT_NE(mapped, nullptr);
    }
    if (!launches()) return;
    cl_int code = 1;
    program =
        OwnedProgram(cl.clCreateProgramWithSource(context, 1, &kernel_source, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
    kernel = OwnedKernel(cl.clCreateKernel(program, "write", &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const cl_mem out = buffer;
    ASSERT_EQ(cl.clSetKernelArg(kernel, 0, sizeof out, &out), CL_SUCCESS);
  }
  cl_int enqueue(const WaitArguments& waits) { return GetParam().enqueue(*this, waits); }
  static cl_int statusOf(cl_event event) {
    return info<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }
};

template <cl_bool blocking>
cl_int readBuffer(WaitListTest& t, const WaitArguments& w) {
  return cl.clEnqueueReadBuffer(t.queue, t.buffer, blocking, 0, 16, t.host.data(), w.count, w.list,
                                w.event);
}
template <cl_bool blocking>
cl_int writeBuffer(WaitListTest& t, const WaitArguments& w) {
  return cl.clEnqueueWriteBuffer(t.queue, t.buffer, blocking, 0, 16, t.host.data(), w.count, w.list,
                                 w.event);
}
template <cl_bool blocking>
cl_int readRect(WaitListTest& t, const WaitArguments& w) {
  return cl.clEnqueueReadBufferRect(t.queue, t.buffer, blocking, t.origin, t.origin, t.region, 0, 0,
                                    0, 0, t.host.data(), w.count, w.list, w.event);
}
template <cl_bool blocking>
cl_int writeRect(WaitListTest& t, const WaitArguments& w) {
  return cl.clEnqueueWriteBufferRect(t.queue, t.buffer, blocking, t.origin, t.origin, t.region, 0,
                                     0, 0, 0, t.host.data(), w.count, w.list, w.event);
}
template <cl_bool blocking>
cl_int mapBuffer(WaitListTest& t, const WaitArguments& w) {
  cl_int code = 1;
  void* pointer = cl.clEnqueueMapBuffer(t.queue, t.buffer, blocking, CL_MAP_READ, 0, 16, w.count,
                                        w.list, w.event, &code);
  EXPECT_EQ(pointer != nullptr, code == CL_SUCCESS);
  return code;
}
template <cl_bool blocking>
cl_int readImage(WaitListTest& t, const WaitArguments& w) {
  return cl.clEnqueueReadImage(t.queue, t.image, blocking, t.origin, t.region, 0, 0, t.host.data(),
                               w.count, w.list, w.event);
}
template <cl_bool blocking>
cl_int writeImage(WaitListTest& t, const WaitArguments& w) {
  return cl.clEnqueueWriteImage(t.queue, t.image, blocking, t.origin, t.region, 0, 0, t.host.data(),
                                w.count, w.list, w.event);
}
template <cl_bool blocking>
cl_int mapImage(WaitListTest& t, const WaitArguments& w) {
  cl_int code = 1;
  size_t row = 0;
  void* pointer = cl.clEnqueueMapImage(t.queue, t.image, blocking, CL_MAP_READ, t.origin, t.region,
                                       &row, nullptr, w.count, w.list, w.event, &code);
  EXPECT_EQ(pointer != nullptr, code == CL_SUCCESS);
  return code;
}
void CL_CALLBACK nothing(void*) {}

constexpr Command commands[] = {
    {"ReadBuffer", CL_COMMAND_READ_BUFFER, readBuffer<CL_FALSE>, readBuffer<CL_TRUE>},
    {"WriteBuffer", CL_COMMAND_WRITE_BUFFER, writeBuffer<CL_FALSE>, writeBuffer<CL_TRUE>},
    {"ReadBufferRect", CL_COMMAND_READ_BUFFER_RECT, readRect<CL_FALSE>, readRect<CL_TRUE>},
    {"WriteBufferRect", CL_COMMAND_WRITE_BUFFER_RECT, writeRect<CL_FALSE>, writeRect<CL_TRUE>},
    {"CopyBuffer", CL_COMMAND_COPY_BUFFER,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueCopyBuffer(t.queue, t.buffer, t.second, 0, 0, 16, w.count, w.list,
                                     w.event);
     }},
    {"CopyBufferRect", CL_COMMAND_COPY_BUFFER_RECT,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueCopyBufferRect(t.queue, t.buffer, t.second, t.origin, t.origin, t.region,
                                         0, 0, 0, 0, w.count, w.list, w.event);
     }},
    {"FillBuffer", CL_COMMAND_FILL_BUFFER,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueFillBuffer(t.queue, t.buffer, t.host.data(), 4, 0, 16, w.count, w.list,
                                     w.event);
     }},
    {"MapBuffer", CL_COMMAND_MAP_BUFFER, mapBuffer<CL_FALSE>, mapBuffer<CL_TRUE>},
    {"ReadImage", CL_COMMAND_READ_IMAGE, readImage<CL_FALSE>, readImage<CL_TRUE>},
    {"WriteImage", CL_COMMAND_WRITE_IMAGE, writeImage<CL_FALSE>, writeImage<CL_TRUE>},
    {"MapImage", CL_COMMAND_MAP_IMAGE, mapImage<CL_FALSE>, mapImage<CL_TRUE>},
    {"FillImage", CL_COMMAND_FILL_IMAGE,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueFillImage(t.queue, t.image, t.host.data(), t.origin, t.region, w.count,
                                    w.list, w.event);
     }},
    {"CopyImage", CL_COMMAND_COPY_IMAGE,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueCopyImage(t.queue, t.image, t.second_image, t.origin, t.origin, t.region,
                                    w.count, w.list, w.event);
     }},
    {"CopyImageToBuffer", CL_COMMAND_COPY_IMAGE_TO_BUFFER,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueCopyImageToBuffer(t.queue, t.image, t.buffer, t.origin, t.region, 0,
                                            w.count, w.list, w.event);
     }},
    {"CopyBufferToImage", CL_COMMAND_COPY_BUFFER_TO_IMAGE,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueCopyBufferToImage(t.queue, t.buffer, t.image, 0, t.origin, t.region,
                                            w.count, w.list, w.event);
     }},
    {"UnmapMemObject", CL_COMMAND_UNMAP_MEM_OBJECT,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueUnmapMemObject(t.queue, t.buffer, t.mapped, w.count, w.list, w.event);
     }},
    {"MigrateMemObjects", CL_COMMAND_MIGRATE_MEM_OBJECTS,
     [](WaitListTest& t, const WaitArguments& w) {
       const cl_mem object = t.buffer;
       return cl.clEnqueueMigrateMemObjects(t.queue, 1, &object, 0, w.count, w.list, w.event);
     }},
    {"NDRangeKernel", CL_COMMAND_NDRANGE_KERNEL,
     [](WaitListTest& t, const WaitArguments& w) {
       const size_t one = 1;
       return cl.clEnqueueNDRangeKernel(t.queue, t.kernel, 1, nullptr, &one, nullptr, w.count,
                                        w.list, w.event);
     }},
    {"Task", CL_COMMAND_TASK,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueTask(t.queue, t.kernel, w.count, w.list, w.event);
     }},
    {"NativeKernel", CL_COMMAND_NATIVE_KERNEL,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueNativeKernel(t.queue, nothing, nullptr, 0, 0, nullptr, nullptr, w.count,
                                       w.list, w.event);
     }},
    {"Marker", CL_COMMAND_MARKER,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueMarkerWithWaitList(t.queue, w.count, w.list, w.event);
     }},
    {"Barrier", CL_COMMAND_BARRIER,
     [](WaitListTest& t, const WaitArguments& w) {
       return cl.clEnqueueBarrierWithWaitList(t.queue, w.count, w.list, w.event);
     }},
};

TEST_P(WaitListTest, RefusesBadLists) {
  OwnedEvent gate = makeUserEvent();
  const cl_event null[] = {gate, nullptr};
  const cl_event wrong[] = {gate, foreign<cl_event>(cl_mem(buffer))};
  EXPECT_EQ(enqueue({1, nullptr, nullptr}), CL_INVALID_EVENT_WAIT_LIST);
  EXPECT_EQ(enqueue({0, null, nullptr}), CL_INVALID_EVENT_WAIT_LIST);
  EXPECT_EQ(enqueue({2, null, nullptr}), CL_INVALID_EVENT_WAIT_LIST);
  EXPECT_EQ(enqueue({2, wrong, nullptr}), CL_INVALID_EVENT_WAIT_LIST);
}

TEST_P(WaitListTest, RefusesEventsOfOtherContexts) {
  OwnedEvent other(cl.clCreateUserEvent(other_context, nullptr));
  const cl_event list = other;
  EXPECT_EQ(enqueue({1, &list, nullptr}), CL_INVALID_CONTEXT);
}

TEST_P(WaitListTest, GivesAnEventOfItsType) {
  OwnedEvent event;
  ASSERT_EQ(enqueue({0, nullptr, event.out()}), CL_SUCCESS);
  const cl_event e = event;
  EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, e, CL_EVENT_COMMAND_TYPE), GetParam().type);
  ASSERT_EQ(cl.clWaitForEvents(1, &e), CL_SUCCESS);
  EXPECT_EQ(statusOf(e), CL_COMPLETE);
}

TEST_P(WaitListTest, WaitsForEveryEvent) {
  std::vector<OwnedEvent> gates;
  std::vector<cl_event> list;
  for (int i = 0; i < 20; ++i) list.push_back(gates.emplace_back(makeUserEvent()));
  OwnedEvent event;
  ASSERT_EQ(enqueue({static_cast<cl_uint>(list.size()), list.data(), event.out()}), CL_SUCCESS);
  ASSERT_EQ(cl.clFlush(queue), CL_SUCCESS);
  for (const cl_event gate : list) {
    EXPECT_GT(statusOf(event), CL_COMPLETE);
    ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  }
  const cl_event e = event;
  EXPECT_EQ(cl.clWaitForEvents(1, &e), CL_SUCCESS);
}

TEST_P(WaitListTest, FailsWithItsDependency) {
  OwnedEvent gate = makeUserEvent();
  const cl_event list = gate;
  OwnedEvent event;
  ASSERT_EQ(enqueue({1, &list, event.out()}), CL_SUCCESS);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -9), CL_SUCCESS);
  const cl_event e = event;
  EXPECT_EQ(cl.clWaitForEvents(1, &e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(statusOf(e), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

class BlockingTest : public WaitListTest {};

TEST_P(BlockingTest, ReportsTheFailureOfItsWaitList) {
  OwnedEvent gate = makeUserEvent();
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -9), CL_SUCCESS);
  const cl_event list = gate;
  EXPECT_EQ(GetParam().enqueueBlocking(*this, {1, &list, nullptr}),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(GetParam().enqueueBlocking(*this, {}), CL_SUCCESS);
}

std::vector<Command> blockingCommands() {
  std::vector<Command> blocking;
  std::copy_if(std::begin(commands), std::end(commands), std::back_inserter(blocking),
               [](const Command& command) { return command.enqueueBlocking != nullptr; });
  return blocking;
}

std::string nameOf(const testing::TestParamInfo<Command>& command) { return command.param.name; }

INSTANTIATE_TEST_SUITE_P(Every, WaitListTest, testing::ValuesIn(commands), nameOf);
INSTANTIATE_TEST_SUITE_P(Every, BlockingTest, testing::ValuesIn(blockingCommands()), nameOf);

}  // namespace
}  // namespace weft::conformance
