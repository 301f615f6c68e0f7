// Software GPUs (docs/software-gpus.md) as a backend.
#pragma once

#include <memory>

#include "core/ports/device.h"

namespace weft::test {

// Two of them.
std::unique_ptr<port::Backend> softwareGpus();

}  // namespace weft::test
