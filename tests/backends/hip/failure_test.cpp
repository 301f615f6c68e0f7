// What fails, fails with a status; nothing hangs.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <thread>

#include "backends/hip/errors.h"
#include "core/error.h"
#include "tests/backends/hip/running_kernel.h"

namespace weft::test {
namespace {

class FailureTest : public HipTest {
 protected:
  void TearDown() override {
    if (GetParam() == Subject::software) {
      softwareGpuFaults().copies.failing = 0;
      softwareGpuFaults().lost = false;
    }
    HipTest::TearDown();
  }
};

// After each of them the driver returns the same for whatever is asked of it.
TEST(ErrorsTest, WhatTheDriverKeepsReturningLosesTheDevice) {
  for (const hip::Status status :
       {4, 214, 220, 226, 700, 702, 714, 715, 716, 717, 718, 719, 721, 810, 911})
    EXPECT_TRUE(hip::losesDevice(status)) << status;
  for (const hip::Status status : {hip::success, hip::out_of_memory, hip::not_ready, 999})
    EXPECT_FALSE(hip::losesDevice(status)) << status;
}

TEST_P(FailureTest, AFailedOperationDoesNotStopTheNext) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "needs a runtime that fails on demand";
  std::vector<uint32_t> values(100, 7), back(100);
  const auto memory = device->allocate(400, 8);
  TestOperation operations[3];
  operations[0].work = copyToDevice(values.data(), *memory, 400);
  operations[1].work = copyToDevice(values.data(), *memory, 400);
  operations[2].work = copyToHost(*memory, back.data(), 400);
  softwareGpuFaults().copies.failing = 1;
  for (auto& operation : operations) stream->submit(operation);
  for (auto& operation : operations) ASSERT_TRUE(operation.wait());
  EXPECT_LT(operations[0].status, 0);
  EXPECT_EQ(operations[1].status, 0);
  EXPECT_EQ(operations[2].status, 0);
  EXPECT_EQ(back, values);
}

// At each of the pieces that a large copy is made of; what the host has begun for the others has to
// have ended before the operation does.
TEST_P(FailureTest, ALargeCopyFailsHalfWay) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "needs a runtime that fails on demand";
  constexpr size_t count = 2 << 20;
  const std::vector<uint32_t> values(count, 7);
  const auto memory = device->allocate(count * 4, 8);
  for (int piece = 0; piece < 8; ++piece)
    for (const bool up : {true, false}) {
      auto back = std::make_unique<std::vector<uint32_t>>(count);
      softwareGpuFaults().copies.spared = piece;
      softwareGpuFaults().copies.failing = 1;
      TestOperation operation(up ? copyToDevice(values.data(), *memory, count * 4)
                                 : copyToHost(*memory, back->data(), count * 4));
      stream->submit(operation);
      ASSERT_TRUE(operation.wait());
      EXPECT_LT(operation.status, 0) << piece;
      EXPECT_EQ(softwareGpuFaults().copies.failing, 0);
      back.reset();
      write(*memory, values.data(), count * 4);
      EXPECT_EQ(contents<uint32_t>(*memory, count), values) << piece;
    }
}

// Without a second stream, and with less pinned memory than it would use.
TEST_P(FailureTest, ALargeCopyDoesWithWhatThereIs) {
  constexpr size_t count = 3 << 20;
  static std::atomic<int> chunks;
  static decltype(hip::Api::hostMalloc) allocate;
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint32_t>(i);
  hip::Api& api = device->context()->runtime->provider->api;
  const hip::Api usual = api;
  allocate = api.hostMalloc;
  const auto memory = device->allocate(count * 4, 8);
  for (const bool has_stream : {true, false}) {
    const auto other = device->createStream(port::Order::in_order);
    if (!has_stream)
      api.streamCreateWithFlags = [](hip::StreamHandle*, unsigned) { return hip::Status(2); };
    chunks = 1;
    api.hostMalloc = [](void** host, size_t bytes, unsigned flags) {
      return chunks.fetch_sub(1) > 0 ? allocate(host, bytes, flags) : hip::Status(2);
    };
    TestOperation operation(copyToDevice(values.data(), *memory, count * 4));
    other->submit(operation);
    const bool ended = operation.wait();
    api.hostMalloc = usual.hostMalloc;
    api.streamCreateWithFlags = usual.streamCreateWithFlags;
    ASSERT_TRUE(ended);
    EXPECT_EQ(operation.status, 0);
    EXPECT_EQ(contents<uint32_t>(*memory, count), values);
  }
}

TEST_P(FailureTest, TheWrongNumberOfArgumentsFails) {
  const GpuLaunchCase launch(*module, "axpy", {1, 1, 1}, {1, 1, 1});
  TestOperation operation(launch.whole());
  stream->submit(operation);
  ASSERT_TRUE(operation.wait());
  EXPECT_LT(operation.status, 0);
}

TEST_P(FailureTest, TooMuchLocalMemoryFails) {
  const auto out = device->allocate(64 * 8, 8);
  GpuLaunchCase launch(*module, "reverse", {64, 1, 1}, {64, 1, 1});
  launch.memory(out.get()).memory(out.get()).local(1 << 20).local(512);
  TestOperation operation(launch.whole()), next;
  stream->submit(operation);
  stream->submit(next);
  ASSERT_TRUE(operation.wait() && next.wait());
  EXPECT_LT(operation.status, 0);
  EXPECT_EQ(next.status, 0);
}

TEST_P(FailureTest, ALostDeviceFailsWhatIsInFlightAndWhatFollows) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "would lose the device for the whole process";
  RunningKernel kernel(*device, *module);
  TestOperation flying(kernel.launch()), next;
  stream->submit(flying);
  kernel.awaitBegin();
  softwareGpuFaults().lost = true;
  stream->submit(next);
  ASSERT_TRUE(flying.wait() && next.wait());
  EXPECT_LT(flying.status, 0);
  EXPECT_LT(next.status, 0);
  softwareGpuFaults().lost = false;
  kernel.end();
  stream = nullptr;  // before the memory: the kernel runs to its end
}

TEST_P(FailureTest, WhatIsAskedOfALostDeviceEndsAtOnce) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "would lose the device for the whole process";
  softwareGpuFaults().lost = true;
  TestOperation first;
  stream->submit(first);
  ASSERT_TRUE(first.wait());
  softwareGpuFaults().lost = false;
  // The backend remembers, whatever the runtime says now.
  TestOperation batch[100], last;
  for (auto& operation : batch) {
    operation.timed = operation.observed = operation.wants_start = false;
    stream->submit(operation);
  }
  stream->submit(last);
  ASSERT_TRUE(last.wait());
  EXPECT_EQ(last.status, CL_DEVICE_NOT_AVAILABLE);
  for (auto& operation : batch) EXPECT_EQ(operation.status, CL_DEVICE_NOT_AVAILABLE);
  EXPECT_THROW(device->allocate(64, 8), Error);
  EXPECT_THROW(device->createStream(port::Order::in_order), Error);
}

// Nor writes the word that tells its end, while no event can be recorded any more.
TEST_P(FailureTest, ALostDevicesWordIsNotAwaited) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "would lose the device for the whole process";
  RunningKernel kernel(*device, *module);
  TestOperation flying(kernel.launch());
  flying.timed = flying.observed = flying.wants_start = false;
  stream->submit(flying);
  int asked = 0;
  stream->assist([&] {
    if (++asked == 3) softwareGpuFaults().lost = true;  // the word is awaited now
    return flying.isFinished();
  });
  ASSERT_TRUE(flying.wait());
  EXPECT_LT(flying.status, 0);
  softwareGpuFaults().lost = false;
  kernel.end();
  stream = nullptr;  // before the memory: the kernel runs to its end
}

// Nor where the word is behind others and more has come behind it, with an event or without.
TEST_P(FailureTest, ALostDevicesOldWordIsNotAwaited) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "would lose the device for the whole process";
  for (const size_t more : {5, 6}) {
    auto other = devices[more % 2]->createInOrderStream({.spin_ns = 20'000'000});
    const auto own = devices[more % 2]->load(gpuImage(device->target()));
    RunningKernel kernel(*devices[more % 2], *own);
    TestOperation batch[70];
    batch[0].work = kernel.launch();
    for (size_t i = 0; i < 64 + more; ++i) {
      batch[i].timed = batch[i].wants_start = false;
      batch[i].observed = i == 69;
      other->submit(batch[i]);
    }
    kernel.awaitBegin();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // nobody looks at it any more
    softwareGpuFaults().lost = true;
    for (size_t i = 0; i < 64 + more; ++i) {
      ASSERT_TRUE(batch[i].wait(std::chrono::seconds(10))) << i;
      EXPECT_LT(batch[i].status, 0);
    }
    softwareGpuFaults().lost = false;
    kernel.end();
    other = nullptr;  // before the memory: the kernel runs to its end
  }
}

// Nothing is left of a stream that could not be made; TearDown() counts.
TEST_P(FailureTest, AStreamNeedsMemoryForItsWord) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "needs a runtime that fails on demand";
  softwareGpuFaults().allocations.failing = 1;
  EXPECT_THROW(device->createInOrderStream({}), Error);
  EXPECT_EQ(softwareGpuFaults().allocations.failing, 0);
  const auto other = device->createInOrderStream({});
  TestOperation operation;
  other->submit(operation);
  EXPECT_TRUE(operation.wait());
}

// What was left to the host there is not done for those behind an operation that could not wait.
TEST_P(FailureTest, AFailedWaitDoesNotHurryAnothersRead) {
  static decltype(hip::Api::streamWaitEvent) wait;
  static std::atomic<bool> fails;
  hip::Api& api = device->context()->runtime->provider->api;
  wait = api.streamWaitEvent;
  api.streamWaitEvent = [](hip::StreamHandle on, hip::EventHandle event, unsigned flags) {
    return fails ? hip::out_of_memory : wait(on, event, flags);
  };
  const auto source = device->allocate(4, 4), other = device->allocate(4, 4);
  const uint32_t seven = 7, nine = 9;
  write(*source, &seven, 4);
  write(*other, &nine, 4);  // through the memory that the read is going to use
  {
    const auto second = device->createInOrderStream({});
    RunningKernel kernel(*device, *module);
    uint32_t seen = 0;
    TestOperation running(kernel.launch()), read(copyToHost(*source, &seen, 4)), behind, next;
    const port::Operation* const ahead[] = {&read};
    behind.behind = ahead;
    next.work = port::HostCall{[](void*) {}, nullptr};
    stream->submit(running);
    stream->submit(read);
    kernel.awaitBegin();
    fails = true;
    second->submit(behind);
    fails = false;
    second->submit(next);
    EXPECT_TRUE(behind.wait() && next.wait());
    EXPECT_LT(behind.status, 0);
    EXPECT_EQ(next.status, 0);
    kernel.end();
    EXPECT_TRUE(running.wait() && read.wait());
    EXPECT_EQ(read.status, 0);
    EXPECT_EQ(seen, 7u);
  }
  api.streamWaitEvent = wait;
}

// A runtime may call what it was given when the operation has long ended.
TEST_P(FailureTest, ALostDeviceCallsTheHostLate) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "would lose the device for the whole process";
  RunningKernel kernel(*device, *module);
  TestOperation running(kernel.launch());
  std::atomic<int> calls{0};
  auto call = std::make_unique<TestOperation>(
      port::HostCall{[](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls});
  stream->submit(running);
  stream->submit(*call);
  kernel.awaitBegin();
  softwareGpuFaults().lost = true;
  ASSERT_TRUE(running.wait() && call->wait());
  EXPECT_LT(call->status, 0);
  call = nullptr;
  softwareGpuFaults().lost = false;
  kernel.end();
  stream = nullptr;
  EXPECT_EQ(calls, 0);
}

// A runtime that has no memory for what tells of ends, for as long as it is asked to.
class WithoutMarks {
 public:
  explicit WithoutMarks(hip::Api& api) : api_(api) {
    real = api;
    events = words = false;
    api.eventCreateWithFlags = [](hip::EventHandle* event, unsigned flags) {
      return events ? hip::out_of_memory : real.eventCreateWithFlags(event, flags);
    };
    api.eventRecord = [](hip::EventHandle event, hip::StreamHandle stream) {
      return events ? hip::out_of_memory : real.eventRecord(event, stream);
    };
    api.streamWriteValue32 = [](hip::StreamHandle stream, void* at, uint32_t value,
                                unsigned flags) {
      return words ? hip::out_of_memory : real.streamWriteValue32(stream, at, value, flags);
    };
  }
  ~WithoutMarks() {
    api_.eventCreateWithFlags = real.eventCreateWithFlags;
    api_.eventRecord = real.eventRecord;
    api_.streamWriteValue32 = real.streamWriteValue32;
  }
  WithoutMarks(const WithoutMarks&) = delete;
  WithoutMarks& operator=(const WithoutMarks&) = delete;

  static inline std::atomic<bool> events, words;  // those that cannot be had

 private:
  static inline hip::Api real{};
  hip::Api& api_;
};

// What it uses would else be given to others.
TEST_P(FailureTest, AnOperationDoesNotEndForWantOfAMark) {
  if (!device->context()->api.streamWriteValue32) GTEST_SKIP() << "marks are events alone";
  const WithoutMarks without(device->context()->runtime->provider->api);
  for (const bool words : {true, false}) {
    auto other = device->createInOrderStream({}), third = device->createInOrderStream({});
    RunningKernel kernel(*device, *module);
    TestOperation running(kernel.launch()), next, dependent;
    running.wants_start = false;
    const port::Operation* const behind[] = {&running};
    dependent.behind = behind;
    WithoutMarks::events = true;
    WithoutMarks::words = !words;
    other->submit(running);
    other->submit(next);
    kernel.awaitBegin();
    third->submit(dependent);
    ASSERT_TRUE(!words || dependent.wait());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(running.isFinished() || next.isFinished());
    WithoutMarks::words = false;
    if (!words) WithoutMarks::events = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(running.isFinished() || next.isFinished());
    kernel.end();
    ASSERT_TRUE(running.wait() && next.wait() && dependent.wait());
    EXPECT_EQ(running.status, 0);
    EXPECT_EQ(next.status, 0);
    EXPECT_LT(dependent.status, 0);  // it could not be told to wait
    other = nullptr;
    third = nullptr;
    WithoutMarks::events = false;
  }
}

// A runtime that refuses for ever is not waited for as long.
TEST_P(FailureTest, ADeviceThatTakesNoMarksIsLostInTheEnd) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "would lose the device for the whole process";
  const WithoutMarks without(device->context()->runtime->provider->api);
  auto other = device->createInOrderStream({});
  RunningKernel kernel(*device, *module);
  TestOperation running(kernel.launch());
  WithoutMarks::events = WithoutMarks::words = true;
  other->submit(running);
  EXPECT_TRUE(running.wait());
  EXPECT_EQ(running.status, CL_DEVICE_NOT_AVAILABLE);
  EXPECT_TRUE(device->context()->lost);
  kernel.end();
  other = nullptr;  // before the memory: the kernel runs to its end
}

// Looks whether memory is pinned whenever the runtime pins or unpins any.
class PinningRuntime {
 public:
  explicit PinningRuntime(hip::Runtime& runtime) : api_(runtime.provider->api) {
    registry = &runtime.registry;
    real = api_;
    looks = 0;
    api_.hostRegister = [](void* address, size_t bytes, unsigned flags) {
      look(address);
      return real.hostRegister(address, bytes, flags);
    };
    api_.hostUnregister = [](void* address) {
      look(address);
      return real.hostUnregister(address);
    };
  }
  ~PinningRuntime() {
    api_.hostRegister = real.hostRegister;
    api_.hostUnregister = real.hostUnregister;
  }
  PinningRuntime(const PinningRuntime&) = delete;
  PinningRuntime& operator=(const PinningRuntime&) = delete;

  static inline int looks;  // that were answered at once: it is not

 private:
  // On a thread of its own, as one who submits.
  static void look(void* address) {
    auto found = std::make_shared<std::promise<bool>>();
    auto pinned = found->get_future();
    std::thread([=] { found->set_value(registry->touches(address, 1)); }).detach();
    const bool answered = pinned.wait_for(std::chrono::seconds(2)) == std::future_status::ready;
    if (answered && !pinned.get()) ++looks;
  }
  static inline const hip::HostRegistry* registry = nullptr;
  static inline hip::Api real{};
  hip::Api& api_;
};

// The runtime may wait for the device there, and who submits must get on meanwhile.
TEST_P(FailureTest, WhoSubmitsDoesNotWaitForPinning) {
  const PinningRuntime runtime(*device->context()->runtime);
  const std::unique_ptr<void, decltype(&std::free)> page(std::aligned_alloc(4096, 4096), std::free);
  auto memory = device->import(page.get(), 4096);
  ASSERT_TRUE(memory);
  memory = nullptr;
  EXPECT_EQ(PinningRuntime::looks, 2);
}

// A kernel's fault ends the context for the process, so this runs only when asked for alone.
TEST_P(FailureTest, AKernelsFaultIsAStatus) {
  if (GetParam() == Subject::software || !std::getenv("WEFT_TEST_LOSE_GPU"))
    GTEST_SKIP() << "runs on a GPU with WEFT_TEST_LOSE_GPU set";
  const auto other = device->createInOrderStream({});
  GpuLaunchCase launch(*module, "fault", {1, 1, 1}, {1, 1, 1});
  TestOperation fault(launch.value(uint64_t(64)).whole());
  TestOperation behind, elsewhere;
  stream->submit(fault);
  stream->submit(behind);
  ASSERT_TRUE(fault.wait() && behind.wait());
  other->submit(elsewhere);
  ASSERT_TRUE(elsewhere.wait());
  EXPECT_LT(fault.status, 0);
  EXPECT_LT(behind.status, 0);
  EXPECT_LT(elsewhere.status, 0);
}

INSTANTIATE_TEST_SUITE_P(Hip, FailureTest, ::testing::Values(Subject::software, Subject::gpu),
                         subjectName);

}  // namespace
}  // namespace weft::test
