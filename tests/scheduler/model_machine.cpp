#include "tests/scheduler/model_machine.h"

#include <array>
#include <cstdlib>

#include "backends/cpu/backend.h"
#include "backends/hip/backend.h"
#include "tests/scheduler/fake_platform.h"
#include "tests/support/software_gpus.h"
#include "tests/support/test_image.h"
#include "tests/support/unit_sets.h"

namespace weft::test::model {
namespace {

void runKernel(const FakeLaunch& launch) {
  uint64_t v[7];
  for (size_t i = 0; i < 7; ++i) v[i] = launch.value<uint64_t>(2 + i);
  auto* const to = launch.pointer<uint8_t>(0) + v[0];
  const auto* const from = launch.pointer<const uint8_t>(1) + v[2];
  for (uint64_t i = 0; i < v[4]; ++i) to[i * v[1]] = uint8_t(from[i * v[3]] * v[5] + v[6]);
}

std::vector<ArgumentInfo> kernelArguments(bool in_place) {
  std::vector<ArgumentInfo> list(9, valueArgument(8));
  list[0] = pointerArgument(in_place, true);
  list[1] = pointerArgument(true, false);
  return list;
}

class FakeMachine final : public Machine {
 public:
  explicit FakeMachine(const Plan& plan) : platform_(options(plan)) {}
  Context& context() override { return platform_.context(); }
  Device& device(size_t index) override { return platform_.device(index); }
  FakeDevice* fake(size_t index) override { return &platform_.fake(index); }
  Ref<Program> program() override {
    return platform_.program({{"update", kernelArguments(true), runKernel},
                              {"combine", kernelArguments(false), runKernel}});
  }

 private:
  static std::vector<FakeOptions> options(const Plan& plan) {
    std::vector<FakeOptions> list;
    std::vector<port::MemorySpace> spaces;
    for (size_t d = 0; d < plan.devices.size(); ++d) {
      FakeOptions options;
      options.name = "fake " + std::to_string(d);
      options.reaches_peers = plan.devices[d].peers;
      options.runs_ahead = runsAhead(int(d));
      options.fences = plan.devices[d].fences;
      options.memory_bytes = plan.devices[d].memory;
      options.base_address_alignment_bytes = uint32_t(plan.options.alignment);
      while (spaces.size() <= size_t(plan.devices[d].space)) spaces.push_back(newFakeSpace());
      options.memory_space = spaces[size_t(plan.devices[d].space)];
      list.push_back(std::move(options));
    }
    return list;
  }

  FakePlatform platform_;
};

// Devices that do things by themselves, made once: each has threads. The CPU and its compute units,
// or the CPU and software GPUs, of one vendor or of two, or the CPU and the machine's GPUs.
struct RealDevices {
  explicit RealDevices(MachineKind kind) {
    const bool unlike = kind == MachineKind::unlike_gpus;
    const bool software = kind == MachineKind::software_gpus || unlike;
    const bool gpus = software || kind == MachineKind::gpus;
    if (kind == MachineKind::cpu_private) setenv("WEFT_CPU_PRIVATE_MEMORY", "1", 1);
    std::vector<std::unique_ptr<port::Backend>> backends;
    backends.push_back(cpu::makeBackend());
    if (software) backends.push_back(softwareGpus());
    if (kind == MachineKind::gpus) backends.push_back(std::make_unique<hip::Backend>());
    if (auto others = unlike ? softwareLevelZero() : nullptr) backends.push_back(std::move(others));
    platform = new Platform(std::move(backends), std::make_unique<NoCompiler>());
    unsetenv("WEFT_CPU_PRIVATE_MEMORY");
    for (const Ref<Device>& device : platform->devices())
      if (hasTestImage(device->port().target())) list.push_back(device);
    const uint32_t units = list[0]->capabilities().compute_units;
    if (gpus || units < 2) return;
    for (auto& part : list[0]->port().partition(singles(2)))
      list.push_back(
          make<Device>(list[0], std::move(part), std::vector<cl_device_partition_property>{}));
  }

  static RealDevices& of(MachineKind kind) {
    static std::array<RealDevices*, 6> made{};
    RealDevices*& devices = made.at(static_cast<size_t>(kind));
    if (!devices) devices = new RealDevices(kind);
    return *devices;
  }

  Platform* platform;  // as long as the process
  std::vector<Ref<Device>> list;
};

class RealMachine final : public Machine {
 public:
  explicit RealMachine(const Plan& plan) : real_(RealDevices::of(plan.options.machine)) {
    for (size_t d = 0; d < plan.devices.size(); ++d) devices_.push_back(real_.list.at(d));
    context_ = make<Context>(*real_.platform, devices_, std::vector<cl_context_properties>{},
                             nullptr, nullptr);
    context_->setState(makeContextState(*context_));
  }
  Context& context() override { return *context_; }
  Device& device(size_t index) override { return *devices_.at(index); }
  Ref<Program> program() override {
    std::vector<Program::DeviceBinary> binaries;
    for (const Ref<Device>& device : devices_) {
      auto image = std::make_shared<Image>(testImage(device->port().target()));
      const KernelInfo move = image->kernels[kernelIndex("move_bytes")];
      image->kernels.clear();
      for (const bool in_place : {true, false}) {
        KernelInfo& info = image->kernels.emplace_back(move);
        info.name = in_place ? "update" : "combine";
        info.arguments = kernelArguments(in_place);
      }
      binaries.push_back({device, std::move(image)});
    }
    auto program = make<Program>(context_, std::move(binaries));
    program->buildFor(devices_, "", {});
    return program;
  }

 private:
  RealDevices& real_;
  std::vector<Ref<Device>> devices_;
  Ref<Context> context_;
};

}  // namespace

std::unique_ptr<Machine> makeMachine(const Plan& plan) {
  if (plan.options.machine == MachineKind::fake) return std::make_unique<FakeMachine>(plan);
  return std::make_unique<RealMachine>(plan);
}

int deviceCount(MachineKind kind) {
  return kind == MachineKind::fake ? 3 : int(RealDevices::of(kind).list.size());
}

}  // namespace weft::test::model
