// cl_program. Specification 5.8.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/guarded.h"
#include "core/handle.h"
#include "core/image.h"

namespace weft {

// What a program is for one device after its last build, compile or link. Immutable once published;
// kernels keep the one they were created from, so a rebuild never pulls code from under them.
struct DeviceBuild {
  cl_build_status status = CL_BUILD_NONE;
  cl_program_binary_type binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::string options;
  std::string log;
  port::Bytes binary;                    // CL_PROGRAM_BINARIES; empty when there is none
  std::optional<Image> image;            // `binary` decoded
  std::shared_ptr<port::Module> module;  // executables only
};

enum class ProgramSource : uint8_t { source, il, binary, linked };

// Thread-safe. One build runs at a time per program.
class Program final : public HandleObject<_cl_program> {
 public:
  using BuildCallback = void(CL_CALLBACK*)(cl_program program, void* user);

  // From source.
  Program(Ref<Context> context, std::string source);
  // From images already decoded and checked for their device, one per device. `kind` is binary or
  // linked.
  struct DeviceImage {
    Ref<Device> device;
    port::Bytes binary;
    Image image;
  };
  Program(Ref<Context> context, ProgramSource kind, std::vector<DeviceImage> images);
  // A linked program whose link failed or has not run yet: no images, only devices.
  Program(Ref<Context> context, std::vector<Ref<Device>> devices);

  Context& context() const { return *context_; }
  ProgramSource kind() const { return kind_; }
  const std::string& source() const { return source_; }
  const std::vector<Ref<Device>>& devices() const { return devices_; }
  void requireDevice(const Device& device) const;  // throws CL_INVALID_DEVICE

  // The current state for one of devices().
  std::shared_ptr<const DeviceBuild> build(const Device& device) const;

  // clBuildProgram without its argument checks. Throws CL_INVALID_OPERATION while kernels are
  // attached or a build is running, CL_INVALID_BINARY, CL_BUILD_PROGRAM_FAILURE. With a callback it
  // returns at once and the work runs on another thread.
  void buildFor(const std::vector<Ref<Device>>& devices, const std::string& options,
                BuildCallback callback, void* user);
  // clCompileProgram likewise; `headers` pairs include names with programs made from source.
  void compileFor(const std::vector<Ref<Device>>& devices, const std::string& options,
                  std::vector<port::Header> headers, BuildCallback callback, void* user);
  // clLinkProgram: this is the new program (third constructor); inputs hold objects or libraries.
  // Throws CL_LINK_PROGRAM_FAILURE after recording the log.
  void linkFrom(std::vector<Ref<Program>> inputs, const std::string& options,
                BuildCallback callback, void* user);

  // Kernel names of all devices' executables, in order of definition. Throws
  // CL_INVALID_PROGRAM_EXECUTABLE when there is none.
  std::vector<std::string> kernelNames() const;

  void attachKernel() noexcept { kernels_.fetch_add(1, std::memory_order_relaxed); }
  void detachKernel() noexcept { kernels_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  struct Slot {
    std::shared_ptr<const DeviceBuild> build;
  };
  using Work = std::function<DeviceBuild(const Device&)>;

  void run(const std::vector<Ref<Device>>& devices, Work work, cl_int failure,
           BuildCallback callback, void* user);
  void publish(const Device& device, DeviceBuild build);

  Ref<Context> context_;
  ProgramSource kind_;
  std::string source_;
  std::vector<Ref<Device>> devices_;
  Guarded<std::vector<Slot>> slots_;  // parallel to devices_
  std::atomic<uint32_t> kernels_{0};
  std::atomic<bool> building_{false};
};

}  // namespace weft
