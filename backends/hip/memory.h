// Memory on the device, and host memory that the device reaches in place.
#pragma once

#include <memory>

#include "backends/hip/context.h"
#include "core/ports/device.h"

namespace weft::hip {

class Textures;

// Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
std::unique_ptr<port::Memory> allocateMemory(std::shared_ptr<DeviceContext> context, size_t bytes);
// Of memory that allocateMemory() made.
int deviceOf(const port::Memory& memory) noexcept;
// Pages that move between the host and the runtime's devices. Throws
// CL_MEM_OBJECT_ALLOCATION_FAILURE.
std::unique_ptr<port::Memory> allocateManaged(std::shared_ptr<Runtime> runtime, int device,
                                              size_t bytes);
// Pins memory of the caller's, or shares what allocateManaged() made; nullptr where the runtime
// cannot.
std::unique_ptr<port::Memory> importMemory(std::shared_ptr<Runtime> runtime, int device, void* host,
                                           size_t bytes);

// Those over memory of the device; nullptr where there are none.
Textures* texturesOf(const port::Memory* memory);

}  // namespace weft::hip
