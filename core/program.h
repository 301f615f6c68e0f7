// cl_program. Specification 5.8.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
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
  std::string options;
  std::string log;
  std::shared_ptr<const Image> image;    // null when there is none
  std::shared_ptr<port::Module> module;  // of a built executable only
  // Of a unified device, parallel to its members; the first one has `image` and `module`. Who has
  // no code, for a reason that is in the log, takes no part.
  struct MemberCode {
    std::shared_ptr<const Image> image;
    std::shared_ptr<port::Module> module;
  };
  std::vector<MemberCode> members = {};
  std::string code_id = {};  // and the same number for the same code, in every process

  bool executable() const { return status == CL_BUILD_SUCCESS && module; }
  cl_program_binary_type binaryType() const;
};

enum class ProgramSource : uint8_t { source, intermediate, binary, linked };

// Thread-safe. One build, compile or link runs at a time per program.
class Program final : public HandleObject<_cl_program> {
 public:
  using Devices = std::vector<Ref<Device>>;
  using Builds = std::vector<std::shared_ptr<const DeviceBuild>>;

  // Tells the application that a build is done.
  struct Notify {
    void(CL_CALLBACK* callback)(cl_program program, void* user) = nullptr;
    void* user = nullptr;
  };

  struct DeviceBinary {
    Ref<Device> device;
    std::shared_ptr<const Image> image;
  };
  // Null unless `bytes` is an undamaged image of ours for the device's target.
  static std::shared_ptr<const Image> decode(const Device& device,
                                             std::span<const std::byte> bytes);

  // From source, for all devices of the context.
  Program(Ref<Context> context, std::string source);
  // From SPIR-V, for all devices of the context; throws CL_INVALID_VALUE when it is no module.
  struct Intermediate {
    std::string bytes;
  };
  Program(Ref<Context> context, Intermediate language);
  // From binaries, for their devices.
  Program(Ref<Context> context, std::vector<DeviceBinary> binaries);
  // To be filled by linkFrom().
  Program(Ref<Context> context, Devices devices);

  Context& context() const { return *context_; }
  ProgramSource kind() const { return kind_; }
  // Empty unless it was made from OpenCL C, or from SPIR-V, as it was given.
  std::string source() const { return kind_ == ProgramSource::source ? source_ : std::string(); }
  std::string intermediate() const;
  const Devices& devices() const { return devices_; }

  // The current state for a device; throws CL_INVALID_DEVICE unless it is one of devices().
  std::shared_ptr<const DeviceBuild> build(const Device& device) const;
  // The current states, parallel to devices().
  Builds builds() const;

  // The three functions below throw CL_INVALID_DEVICE for a device that is not one of devices(),
  // CL_INVALID_OPERATION while kernels are attached or another build runs, and what is named with
  // each. With a callback they return true at once and the work runs on another thread; otherwise
  // they return whether it succeeded for every device. A device that was lost is not asked for as
  // long as there is another: what fails there is the device, and its build's log says so.

  // clBuildProgram. CL_INVALID_BUILD_OPTIONS, CL_INVALID_OPERATION.
  bool buildFor(const Devices& devices, const std::string& options, Notify notify);
  // clCompileProgram. CL_INVALID_COMPILER_OPTIONS, CL_INVALID_OPERATION.
  bool compileFor(const Devices& devices, const std::string& options,
                  const std::vector<port::Header>& headers, Notify notify);
  // clLinkProgram: this is the new program, `inputs` hold objects and libraries.
  // CL_INVALID_LINKER_OPTIONS, CL_INVALID_OPERATION.
  bool linkFrom(const std::vector<Ref<Program>>& inputs, const std::string& options, Notify notify);

  // clSetProgramSpecializationConstant, for later builds. CL_INVALID_OPERATION, CL_INVALID_SPEC_ID,
  // CL_INVALID_VALUE.
  void specialize(uint32_t id, std::string_view value);

  // Kernel names of all devices' executables, in order of definition. Throws
  // CL_INVALID_PROGRAM_EXECUTABLE when there is no executable.
  std::vector<std::string> kernelNames() const;

  // A kernel's hold on its program, which cannot be built again meanwhile.
  class Attachment {
   public:
    explicit Attachment(Ref<Program> program);
    Attachment(const Attachment& other) : Attachment(other.program_) {}
    Attachment& operator=(const Attachment&) = delete;
    ~Attachment();
    Program& operator*() const { return *program_; }

   private:
    Ref<Program> program_;
  };

 private:
  struct State {
    Builds builds;  // parallel to devices_
    uint32_t kernels = 0;
    bool building = false;
    std::map<uint32_t, std::string> specialization;
  };
  // A call of the compiler for each target of some devices, which share its results.
  using Make = std::function<port::CompileResult()>;
  struct Job {
    Devices devices;
    std::vector<Make> make;              // by Device::targets(); empty: load `image`
    std::shared_ptr<const Image> image;  // of programs from binaries: what the devices have anyway
  };
  using Jobs = std::vector<Job>;

  port::Compiler& compiler() const { return context_->platform().compiler(); }
  size_t indexOf(const Device& device) const;
  void checkOptions(const Devices& devices, const std::string& options, port::OptionUse use,
                    cl_int error);
  port::CompileRequest requestFor(const Device& device, const port::Target& target,
                                  const std::string& options) const;
  Make linkCall(const Device& device, const port::Target& target,
                const std::vector<std::shared_ptr<const Image>>& images,
                const std::string& options) const;
  Jobs loadJobs(const Devices& devices) const;

  bool start(Jobs jobs, const std::string& options, Notify notify);
  void begin(const Devices& devices, const std::string& options);
  bool run(const Jobs& jobs, const std::string& options) noexcept;
  // Gives those devices for which it failed.
  Devices runJob(const Job& job, const std::string& options);
  void publish(const Device& device, DeviceBuild build);
  void end() noexcept;

  Ref<Context> context_;
  ProgramSource kind_;
  std::string source_;  // or the intermediate language
  Devices devices_;
  std::vector<DeviceBinary> binaries_;  // parallel to devices_ when kind_ is binary
  Guarded<State> state_;
};

}  // namespace weft
