// Program-scope objects of C++ for OpenCL on devices whose modules do not construct them when they
// are loaded: kernels of the image do.
#pragma once

#include <memory>

#include "core/device.h"
#include "core/image.h"

namespace weft {

// The same module once its objects, if `image` says that it has any, were constructed; before it is
// unloaded they are destroyed. Waits for the device. Throws Error when it fails.
std::shared_ptr<port::Module> withObjects(const Device& device, const Image& image,
                                          std::unique_ptr<port::Module> module);

}  // namespace weft
