// Software GPUs (docs/software-gpus.md) as a backend.
#pragma once

#include <memory>

#include "core/ports/device.h"

namespace weft::test {

// Two of them.
std::unique_ptr<port::Backend> softwareGpus();
// The same behind Level Zero's interface, without its loader; nullptr where that could not be
// built.
std::unique_ptr<port::Backend> softwareLevelZero();

}  // namespace weft::test
