// Launches of a unified device whose members can wait for each other: the parts of the next one are
// submitted behind those of the last one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "core/program.h"
#include "scheduler/unified_device.h"
#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t items = 1024, local_size = 16, bytes = items + 2;
constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

// `count` bytes from the work-item's id on, or from `distance` behind it.
ArgumentInfo bytesOfIds(bool writes, uint32_t count, int64_t distance) {
  ArgumentInfo argument = pointerArgument(!writes, writes);
  argument.reads_known = argument.writes_known = true;
  AccessStep id, constant, sum;
  id.code = AccessCode::global_id;
  constant.value = distance;
  sum.code = AccessCode::add;
  sum.a = 0;
  sum.b = 1;
  argument.accesses = {{!writes, writes, writes, 2, count, {id, constant, sum}}};
  return argument;
}

// out[i + shift] = in[i] + 3 * in[i + 1] + 5 * in[i + 2]
void apply(const uint8_t* in, uint8_t* out, size_t begin, size_t end, size_t shift) {
  for (size_t i = begin; i < end; ++i)
    out[i + shift] = uint8_t(in[i] + 3 * in[i + 1] + 5 * in[i + 2]);
}

template <size_t shift>
FakeKernelInfo stencil(const char* name) {
  return {
      name, {bytesOfIds(false, 3, 0), bytesOfIds(true, 1, shift)}, [](const FakeLaunch& launch) {
        apply(launch.pointer<const uint8_t>(0), launch.pointer<uint8_t>(1),
              launch.slice.begin[0] * local_size, launch.slice.end[0] * local_size, shift);
      }};
}

FakeOptions member(bool manual) {
  FakeOptions options;
  options.runs_ahead = options.fences = options.reaches_peers = true;
  options.manual = manual;
  options.max_delay = std::chrono::microseconds(20);
  return options;
}

class SplitLaunchTest : public testing::Test {
 protected:
  // Two members of one unified device, the only one of the context.
  void start(bool manual) {
    for (const char* setting : {"WEFT_UNIFIED=1", "WEFT_UNIFIED_SPLIT=random:5"}) {
      const std::string text = setting;
      const size_t equals = text.find('=');
      setenv(text.substr(0, equals).c_str(), text.substr(equals + 1).c_str(), 1);
    }
    setenv("WEFT_CACHE_DIR", testing::TempDir().c_str(), 1);
    auto backend = std::make_unique<FakeBackend>(std::vector{member(manual), member(manual)});
    fakes = backend.get();
    std::vector<std::unique_ptr<port::Backend>> backends;
    backends.push_back(std::move(backend));
    platform = make<Platform>(std::move(backends), std::make_unique<NoCompiler>());
    addUnifiedDevice(*platform);
    ASSERT_EQ(platform->devices().size(), 3u);
    device = platform->devices().back();
    context = make<Context>(*platform, std::vector{device}, std::vector<cl_context_properties>{},
                            nullptr, nullptr);
    context->setState(makeContextState(*context));
    queue = make<Queue>(context, device, 0, std::vector<cl_queue_properties>{});
    loadKernels();
    for (size_t i = 0; i < bytes; ++i) x[i] = uint8_t(i * 7 + 1), y[i] = uint8_t(i * 5 + 2);
    for (auto [buffer, data] : {std::pair(&a, &x), std::pair(&b, &y)})
      *buffer = make<Buffer>(context, CL_MEM_COPY_HOST_PTR, bytes, data->data(),
                             std::vector<cl_mem_properties>{});
  }
  void TearDown() override {
    events.clear();
    if (queue) queue.detach()->releaseHandle();
    for (const char* name : {"WEFT_UNIFIED", "WEFT_UNIFIED_SPLIT", "WEFT_CACHE_DIR"})
      unsetenv(name);
  }

  // From one to the other in turns; every fifth command is one that is not divided.
  void iterate(int times) {
    for (int i = 0; i < times; ++i) {
      Ref<Buffer>&from = i % 2 ? b : a, &to = i % 2 ? a : b;
      auto &in = i % 2 ? y : x, &out = i % 2 ? x : y;
      if (i % 5 == 4) {
        const auto value = char(i);
        events.push_back(enqueueFill(*queue, *from, &value, 1, size_t(i) * 16, 100, {}));
        std::fill_n(in.begin() + i * 16, 100, uint8_t(value));
      }
      const bool shifted = i % 3 == 0;
      const auto kernel = make<Kernel>(program, shifted ? "shifted" : "straight");
      const cl_mem handles[] = {from->handle(), to->handle()};
      for (const cl_uint argument : {0, 1})
        kernel->setArgument(argument, sizeof handles[0], &handles[argument]);
      NDRange range;
      range.global = &items;
      range.local = &local_size;
      events.push_back(enqueueLaunch(*queue, *kernel, range, {}));
      apply(in.data(), out.data(), 0, items, shifted ? 2 : 0);
    }
  }
  size_t pending() const { return fakes->device(0).pending() + fakes->device(1).pending(); }
  // One operation after the other, on any of the devices.
  void runInAnyOrder(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (;;) {
      const uint64_t choice = random();
      const Reach reach = choice % 3 == 0 ? Reach::run : Reach::finish;
      FakeDevice &first = fakes->device(choice % 2), &second = fakes->device(1 - choice % 2);
      if (!first.finishAny(choice >> 8, 0, reach) && !second.finishAny(choice >> 8, 0, reach) &&
          pending() == 0)
        return;
    }
  }
  cl_int read(Buffer& buffer, std::vector<uint8_t>& data) {
    data.resize(bytes);
    const auto event = enqueueRead(*queue, buffer, 0, bytes, data.data(), {});
    while (fakes->device(0).finishAll() + fakes->device(1).finishAll() > 0) {
    }
    return event->wait();
  }

  FakeBackend* fakes = nullptr;
  Ref<Platform> platform;
  Ref<Device> device;
  Ref<Context> context;
  Ref<Queue> queue;
  Ref<Program> program;
  Ref<Buffer> a, b;
  std::vector<uint8_t> x = std::vector<uint8_t>(bytes), y = x;  // what they have to be
  std::vector<Ref<Event>> events;

 private:
  void loadKernels() {
    auto image = std::make_shared<Image>();
    image->target = device->port().target();
    for (const FakeKernelInfo& kernel : {stencil<0>("straight"), stencil<2>("shifted")}) {
      for (const size_t index : {0, 1})
        fakes->device(index).registerKernel(kernel.name, kernel.function);
      KernelInfo& info = image->kernels.emplace_back();
      info.name = info.symbol = kernel.name;
      info.arguments = kernel.arguments;
      info.split_hazards = no_split_hazard;
    }
    program = make<Program>(context, std::vector<Program::DeviceBinary>{{device, image}});
    program->buildFor({device}, "", {});
  }
};

TEST_F(SplitLaunchTest, PartsAreSubmittedBehindThoseOfTheLaunchBefore) {
  start(true);
  iterate(20);
  for (const auto& event : events) EXPECT_LE(event->status(), CL_SUBMITTED);
  EXPECT_GE(pending(), 2 * 20u);
  runInAnyOrder(1);
  for (const auto& event : events) EXPECT_EQ(event->status(), CL_COMPLETE);
  std::vector<uint8_t> data;
  ASSERT_EQ(read(*a, data), CL_COMPLETE);
  EXPECT_EQ(data, x);
  ASSERT_EQ(read(*b, data), CL_COMPLETE);
  EXPECT_EQ(data, y);
  EXPECT_EQ(fakes->device(0).violations() + fakes->device(1).violations(), 0u);
}

TEST_F(SplitLaunchTest, InAnyOrderTheBytesAreRight) {
  start(true);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    iterate(8);
    runInAnyOrder(seed);
    std::vector<uint8_t> data;
    ASSERT_EQ(read(seed % 2 ? *a : *b, data), CL_COMPLETE);
    ASSERT_EQ(data, seed % 2 ? x : y) << seed;
  }
}

TEST_F(SplitLaunchTest, DevicesThatWorkByThemselves) {
  start(false);
  for (int round = 0; round < 6; ++round) {
    iterate(30);
    std::vector<uint8_t> data;
    ASSERT_EQ(read(*a, data), CL_COMPLETE);
    ASSERT_EQ(data, x) << round;
  }
}

// What reads its bytes, and what reads those, ends with it; nothing hangs, nothing old is read.
TEST_F(SplitLaunchTest, AFailingPartFailsWhatFollows) {
  start(true);
  iterate(1);
  while (fakes->device(0).finishAll() + fakes->device(1).finishAll() > 0) {
  }
  iterate(7);
  const size_t first = fakes->device(0).able() > 0 ? 0 : 1;
  EXPECT_TRUE(fakes->device(first).fail(CL_OUT_OF_RESOURCES));
  runInAnyOrder(3);
  EXPECT_EQ(events[0]->status(), CL_COMPLETE);
  size_t failed = 0;
  for (size_t i = 1; i < events.size(); ++i) failed += events[i]->status() < 0;
  EXPECT_GE(failed, 6u);  // the fill is not one of them
  std::vector<uint8_t> data;
  EXPECT_EQ(read(*b, data), dependent);
  const char value = 1;
  const auto again = enqueueFill(*queue, *b, &value, 1, 0, bytes, {});
  EXPECT_EQ(read(*b, data), CL_COMPLETE);
  EXPECT_EQ(data, std::vector<uint8_t>(bytes, 1));
}

}  // namespace
}  // namespace weft::test
