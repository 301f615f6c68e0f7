// A unified device of two members, or more, made of software that can wait for each other, alone in
// its context.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "core/program.h"
#include "scheduler/knowledge.h"
#include "scheduler/unified_device.h"
#include "tests/scheduler/fake_platform.h"

namespace weft::test {

class UnifiedMachine : public testing::Test {
 protected:
  static constexpr size_t items = 1024, local_size = 16;

  // `manual`: the members do nothing before they are told to.
  void start(bool manual, const std::vector<FakeKernelInfo>& kernels) {
    setenv("WEFT_UNIFIED", "1", 1);
    setenv("WEFT_UNIFIED_SPLIT", split, 1);
    setenv("WEFT_CACHE", "0", 1);  // what earlier runs measured would count
    Knowledge::renew();
    std::vector<FakeOptions> each(members, member(manual));
    if (home_waits) each[0].runs_ahead = each[0].fences = false;
    auto backend = std::make_unique<FakeBackend>(std::move(each));
    fakes = backend.get();
    std::vector<std::unique_ptr<port::Backend>> backends;
    backends.push_back(std::move(backend));
    platform = make<Platform>(std::move(backends), std::make_unique<NoCompiler>());
    addUnifiedDevice(*platform);
    ASSERT_EQ(platform->devices().size(), members + 1);
    device = platform->devices().back();
    context = make<Context>(*platform, std::vector{device}, std::vector<cl_context_properties>{},
                            nullptr, nullptr);
    context->setState(makeContextState(*context));
    queue = newQueue(0);
    load(kernels);
  }
  void TearDown() override {
    events.clear();
    queue = nullptr;
    for (Ref<Queue>& each : queues_) each.detach()->releaseHandle();
    queues_.clear();
    for (const char* name : {"WEFT_UNIFIED", "WEFT_UNIFIED_SPLIT", "WEFT_CACHE"}) unsetenv(name);
  }

  Ref<Queue> newQueue(cl_command_queue_properties properties,
                      SplitPolicy policy = SplitPolicy::automatic) const {
    const auto value = static_cast<cl_queue_properties>(policy);
    return queues_.emplace_back(make<Queue>(
        context, device, properties, std::vector<cl_queue_properties>{split_policy, value, 0}));
  }
  Ref<Buffer> buffer(size_t size, void* data) const {
    return make<Buffer>(context, CL_MEM_COPY_HOST_PTR, size, data,
                        std::vector<cl_mem_properties>{});
  }
  void launch(const char* name, std::initializer_list<Buffer*> arguments) {
    events.push_back(launchOn(*queue, name, arguments));
  }
  Ref<Event> launchOn(Queue& on, const char* name, std::initializer_list<Buffer*> arguments,
                      WaitList waits = {}) const {
    const auto kernel = make<Kernel>(program, name);
    cl_uint index = 0;
    for (Buffer* argument : arguments) {
      const cl_mem handle = argument->handle();
      kernel->setArgument(index++, sizeof handle, &handle);
    }
    NDRange range;
    range.global = &items;
    range.local = &local_size;
    return enqueueLaunch(on, *kernel, range, waits);
  }
  size_t pending() const {
    size_t sum = 0;
    for (size_t i = 0; i < members; ++i) sum += fakes->device(i).pending();
    return sum;
  }
  size_t violations() const {
    size_t sum = 0;
    for (size_t i = 0; i < members; ++i) sum += fakes->device(i).violations();
    return sum;
  }
  // Until nothing is left to run.
  void finishAll() const {
    for (size_t finished = 1; finished > 0;) {
      finished = 0;
      for (size_t i = 0; i < members; ++i) finished += fakes->device(i).finishAll();
    }
  }
  // One after the other, each for so long.
  void runAll(std::chrono::nanoseconds length) const {
    while (pending() > 0)
      for (size_t i = 0; i < members; ++i) {
        FakeDevice& fake = fakes->device(i);
        while (fake.start()) {
        }
        fake.clock().advance(static_cast<port::Nanoseconds>(length.count()));
        fake.finishAny(0);
      }
  }
  // One operation after the other, on any of the devices.
  void runInAnyOrder(uint64_t seed) const {
    std::mt19937_64 random(seed);
    for (;;) {
      const uint64_t choice = random();
      const Reach reach = choice % 3 == 0 ? Reach::run : Reach::finish;
      bool went_on = false;
      for (size_t i = 0; i < members && !went_on; ++i)
        went_on = fakes->device((choice / 3 + i) % members).finishAny(choice >> 8, 0, reach);
      if (!went_on && pending() == 0) return;
    }
  }
  // `data` says how many bytes.
  template <class T>
  cl_int read(Buffer& buffer, std::vector<T>& data) const {
    const auto event = enqueueRead(*queue, buffer, 0, data.size() * sizeof(T), data.data(), {});
    finishAll();
    return event->wait();
  }

  size_t members = 2;
  bool home_waits = false;                      // the first one runs nothing ahead, as a CPU
  uint64_t memory_bytes = uint64_t{256} << 20;  // of each member
  uint32_t compute_units = 2;                   // of each member
  const char* split = "random:5";               // every kernel that may be is divided, anyhow
  uint32_t hazards = no_split_hazard;           // of all kernels
  FakeBackend* fakes = nullptr;
  Ref<Platform> platform;
  Ref<Device> device;
  Ref<Context> context;
  Ref<Queue> queue;
  Ref<Program> program;
  std::vector<Ref<Event>> events;

 private:
  mutable std::vector<Ref<Queue>> queues_;  // with the application's reference

  FakeOptions member(bool manual) const {
    FakeOptions options;
    options.memory_bytes = memory_bytes;
    options.compute_units = compute_units;
    options.runs_ahead = options.fences = options.reaches_peers = true;
    options.manual = manual;
    options.max_delay = std::chrono::microseconds(20);
    return options;
  }
  void load(const std::vector<FakeKernelInfo>& kernels) {
    auto image = std::make_shared<Image>();
    image->target = device->port().target();
    for (const FakeKernelInfo& kernel : kernels) {
      for (size_t index = 0; index < members; ++index)
        fakes->device(index).registerKernel(kernel.name, kernel.function);
      KernelInfo& info = image->kernels.emplace_back();
      info.name = info.symbol = kernel.name;
      info.arguments = kernel.arguments;
      info.split_hazards = hazards | kernel.split_hazards;
    }
    program = make<Program>(context, std::vector<Program::DeviceBinary>{{device, image}});
    program->buildFor({device}, "", {});
  }
};

}  // namespace weft::test
