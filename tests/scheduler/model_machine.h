// What plans (model.h) run on: devices made of software, the CPU and its sub-devices, the CPU and
// software GPUs, of one vendor or of two, or the CPU and the machine's GPUs.
#pragma once

#include <memory>

#include "core/program.h"
#include "tests/scheduler/model.h"
#include "tests/support/fake_device.h"

namespace weft::test::model {

// One context. Its program has the kernel of a plan as "update", which reads what it writes, and as
// "combine", which does not.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual Context& context() = 0;
  virtual Device& device(size_t index) = 0;
  virtual Ref<Program> program() = 0;
  virtual FakeDevice* fake(size_t) { return nullptr; }  // null: things happen by themselves
};

std::unique_ptr<Machine> makeMachine(const Plan& plan);

// Devices that there are of a kind.
int deviceCount(MachineKind kind);

}  // namespace weft::test::model
