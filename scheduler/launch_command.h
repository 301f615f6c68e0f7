// A kernel's launch as a command: all of its work-groups, or a part of them.
#pragma once

#include "scheduler/work.h"

namespace weft {

class LaunchCommand : public Command {
 public:
  LaunchCommand(Queue& queue, cl_command_type type, LaunchWork&& work);

 protected:
  const LaunchWork& launch() const { return launch_; }
  void finalize(cl_int status) noexcept override;
  bool ranDespite(cl_int status) const override;
  std::string what() const override { return "kernel " + launch_.info().name; }

  // Which work-groups.
  virtual port::GroupBox box() const { return launch_.wholeBox(); }
  // The kernel's code on the command's device.
  using Code = LaunchWork::Code;
  virtual Code code() const { return launch_.code(); }
  // Puts other memory behind arguments, which then need none of their objects'.
  virtual void relocate(LaunchArguments&) const {}

  void accesses(AccessList& list) override { launch_.accesses(list); }
  bool isDeviceWork() const override { return true; }
  void prepare() override;

 private:
  LaunchWork launch_;
  LaunchArguments arguments_;
  std::unique_ptr<std::vector<port::MemoryPart>> moved_;  // of managed memory, if any
};

}  // namespace weft
