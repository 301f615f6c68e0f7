// Where a command of a unified device ran: CL_EVENT_PARTS_WEFT.
#pragma once

#include <vector>

#include "core/device.h"
#include "core/ports/launch.h"

namespace weft {

struct ExecutedPart {
  Device* device;
  port::GroupBox groups;  // as the program named them
};

// An event of a command that can be divided.
class PartedCommand {
 public:
  // In the order of their work-groups, once the command has ended.
  virtual const std::vector<ExecutedPart>& executedParts() const = 0;

 protected:
  ~PartedCommand() = default;
};

}  // namespace weft
