// What only some devices have beside core/ports/device.h to share the host's memory.
#pragma once

#include <memory>

#include "core/ports/device.h"

namespace weft::port {

// A device with shared memory whose driver takes no memory of others: its import() takes only what
// comes from here, or from another device of the same driver.
class SharedMemorySource {
 public:
  virtual ~SharedMemorySource() = default;
  // Host memory in whole pages, which other devices may import. nullptr for a device that shares
  // nothing, or can import any after all. Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
  virtual std::unique_ptr<Memory> allocateShared(size_t bytes) = 0;
};

// A device of a Capabilities::managed_group.
class ManagedMemorySource {
 public:
  virtual ~ManagedMemorySource() = default;
  // Whole pages at one address for the host and the devices of the group, which move to whom uses
  // them. The others of the group import it. Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
  virtual std::unique_ptr<Memory> allocateManaged(size_t bytes) = 0;
};

}  // namespace weft::port
