// One context over devices made of software.
#pragma once

#include <vector>

#include "core/context.h"
#include "core/kernel.h"
#include "core/memory.h"
#include "core/platform.h"
#include "scheduler/context_state.h"
#include "scheduler/enqueue.h"
#include "tests/support/fake_device.h"

namespace weft::test {

// For programs made from binaries, which are loaded and not compiled.
class NoCompiler final : public port::Compiler {
 public:
  std::string checkOptions(const std::string&, port::OptionUse) const override { return {}; }
  port::CompileResult compile(const port::CompileRequest&) override { return {}; }
  port::CompileResult link(const port::LinkRequest&) override { return {}; }
  port::CompileResult build(const port::CompileRequest&) override { return {}; }
};

// A kernel in C++, and what the runtime is told of its arguments.
struct FakeKernelInfo {
  std::string name;
  std::vector<ArgumentInfo> arguments;
  FakeKernel function;
  uint32_t split_hazards = 0;
};

inline ArgumentInfo pointerArgument(bool reads, bool writes) {
  ArgumentInfo info;
  info.kind = ArgumentKind::global_pointer;
  info.address = AddressQualifier::global;
  info.size = info.alignment = 8;
  info.reads = reads;
  info.writes = writes;
  return info;
}

inline ArgumentInfo valueArgument(uint32_t size) {
  ArgumentInfo info;
  info.size = size;
  return info;
}

// Of devices that can wait for each other.
inline FakeOptions fenced() {
  FakeOptions options;
  options.runs_ahead = options.fences = options.reaches_peers = true;
  return options;
}

class FakePlatform {
 public:
  explicit FakePlatform(std::vector<FakeOptions> options, Context::Notify notify = nullptr,
                        void* user = nullptr) {
    auto backend = std::make_unique<FakeBackend>(std::move(options));
    fakes_ = backend.get();
    std::vector<std::unique_ptr<port::Backend>> backends;
    backends.push_back(std::move(backend));
    platform_ = make<Platform>(std::move(backends), std::make_unique<NoCompiler>());
    context_ = make<Context>(*platform_, platform_->devices(), std::vector<cl_context_properties>{},
                             notify, user);
    context_->setState(makeContextState(*context_));
  }

  // What an application does: a queue keeps its newest command until its handle is given up.
  ~FakePlatform() {
    for (auto& queue : queues_)
      if (queue->handleReferences() > 0) Ref<Queue>(queue).detach()->releaseHandle();
  }
  FakePlatform(const FakePlatform&) = delete;
  FakePlatform& operator=(const FakePlatform&) = delete;

  Context& context() { return *context_; }
  FakeDevice& fake(size_t index) { return fakes_->device(index); }
  Device& device(size_t index) { return *platform_->devices().at(index); }
  Ref<Queue> queue(size_t index, cl_command_queue_properties properties = 0) {
    return queues_.emplace_back(make<Queue>(context_, platform_->devices().at(index), properties,
                                            std::vector<cl_queue_properties>{}));
  }
  Ref<Buffer> buffer(size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) {
    return make<Buffer>(context_, flags, size, host, std::vector<cl_mem_properties>{});
  }
  // Built for every device.
  Ref<Program> program(const std::vector<FakeKernelInfo>& kernels) {
    std::vector<Program::DeviceBinary> binaries;
    for (const Ref<Device>& device : platform_->devices()) {
      auto image = std::make_shared<Image>();
      image->target = device->port().target();
      for (const FakeKernelInfo& kernel : kernels) {
        fake(binaries.size()).registerKernel(kernel.name, kernel.function);
        KernelInfo& info = image->kernels.emplace_back();
        info.name = info.symbol = kernel.name;
        info.arguments = kernel.arguments;
      }
      binaries.push_back({device, std::move(image)});
    }
    auto program = make<Program>(context_, std::move(binaries));
    program->buildFor(platform_->devices(), "", {});
    return program;
  }

 private:
  FakeBackend* fakes_ = nullptr;
  Ref<Platform> platform_;
  Ref<Context> context_;
  std::vector<Ref<Queue>> queues_;
};

}  // namespace weft::test
