// A kernel's launch as a command: all of its work-groups, or a part of them.
#pragma once

#include <memory>

#include "core/kernel.h"
#include "scheduler/command.h"

namespace weft {

class LaunchCommand : public Command {
 public:
  LaunchCommand(Queue& queue, cl_command_type type, std::shared_ptr<const DeviceBuild> build,
                uint32_t kernel, Ref<ArgumentSet> arguments, const port::LaunchRecord& record);

 protected:
  const KernelInfo& info() const { return build_->image->kernels[index_]; }
  const ArgumentSet& arguments() const { return *set_; }
  void finalize(cl_int status) noexcept override;

  // Which work-groups.
  virtual port::GroupBox box() const;
  // The kernel's code on the command's device.
  struct Code {
    port::Module& module;
    uint32_t kernel;
  };
  virtual Code code() const { return {*build_->module, index_}; }

  void accesses(AccessList& list) override;

 private:
  void prepare() override;

  std::shared_ptr<const DeviceBuild> build_;
  uint32_t index_;
  Ref<ArgumentSet> set_;
  port::LaunchRecord record_;
  pool::Vector<port::LaunchArgument> arguments_;
};

// May the kernel write what is behind the argument?
bool mayWrite(const ArgumentInfo& argument);

}  // namespace weft
