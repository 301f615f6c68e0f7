// Minimal doubles of the ports: a device that only loads, and a compiler of a language of words.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/platform.h"
#include "core/program.h"

namespace weft::test {

// Loads anything but an image with the option "unloadable". Its streams end what they are given at
// once, with a status that the test chooses.
class DoubleDevice final : public port::Device {
 public:
  explicit DoubleDevice(std::string cpu);

  const port::Capabilities& capabilities() const override { return capabilities_; }
  const port::Target& target() const override { return target_; }
  bool reaches(port::MemorySpace) const override { return true; }
  uint64_t freeMemory() const override { return 1 << 30; }
  port::ClockPair clocks() const override { return {}; }
  std::vector<std::shared_ptr<port::Device>> partition(
      std::span<const port::UnitSet> parts) override;
  std::unique_ptr<port::Stream> createStream(port::Order) override;
  std::unique_ptr<port::Memory> allocate(size_t bytes, size_t alignment) override;
  std::unique_ptr<port::Memory> import(void*, size_t) override { return nullptr; }
  std::unique_ptr<port::Module> load(const Image& image) override;

  std::atomic<int> loads{0};
  std::atomic<int> modules{0};  // loaded and not yet unloaded
  std::atomic<port::OperationStatus> launch_status{0};

  // The kernels that were launched, by their indices.
  std::vector<uint32_t> launched();
  // From hold() to letGo(), by the same thread, nothing is launched.
  void hold() { launching_.lock(); }
  void letGo() { launching_.unlock(); }

 private:
  class EagerStream;

  std::mutex launching_;
  std::vector<uint32_t> launched_;
  port::Target target_;
  port::Capabilities capabilities_;
};

// A program is a list of words. "error" fails with that word in the log, "throw" makes the compiler
// throw, "junk" makes it return damage; "<name>/<kinds>" is a kernel with an argument for each
// letter: v(alue, 4 bytes), g(lobal), c(onstant), l(ocal, aligned to 16), i(mage), s(ampler),
// q(ueue); "@name" includes a header. Options: "-bad" is unknown; others go into the image.
class DoubleCompiler final : public port::Compiler {
 public:
  std::string checkOptions(const std::string& options, port::OptionUse) const override;
  port::CompileResult compile(const port::CompileRequest& request) override;
  port::CompileResult link(const port::LinkRequest& request) override;
  port::CompileResult build(const port::CompileRequest& request) override;

  // While closed, calls wait.
  void close();
  void open();

  std::atomic<int> compiles{0}, links{0}, builds{0};

 private:
  void pass();
  port::CompileResult run(const port::CompileRequest& request, ImageKind kind);

  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = true;
};

// A platform with two devices of one target and one of another.
class Machine {
 public:
  Machine();
  ~Machine();

  DoubleDevice& device(size_t index) { return *devices_[index]; }
  DoubleCompiler& compiler() { return *compiler_; }
  Platform& platform() { return *platform_; }
  Ref<Context> context() { return context(platform_->devices()); }
  Ref<Context> context(std::vector<Ref<Device>> devices);
  // A built program of a new context of all devices.
  Ref<Program> built(const std::string& source, const std::string& options = {});

 private:
  std::vector<std::shared_ptr<DoubleDevice>> devices_;
  DoubleCompiler* compiler_;
  Ref<Platform> platform_;
};

// The code of the Error that `function` throws; CL_SUCCESS when it throws none.
template <class F>
cl_int codeOf(F&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  return CL_SUCCESS;
}

}  // namespace weft::test
