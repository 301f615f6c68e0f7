// Software GPUs (docs/software-gpus.md) as a backend.
#pragma once

#include <memory>

#include "core/ports/device.h"
#include "tests/software_gpu/faults.h"

namespace weft::test {

// Two of them.
std::unique_ptr<port::Backend> softwareGpus();
// The same behind Level Zero's interface, without its loader; nullptr where that could not be
// built.
std::unique_ptr<port::Backend> softwareLevelZero();

// What the devices of softwareLevelZero() do wrong; nullptr where there are none.
software::Faults* softwareLevelZeroFaults();

}  // namespace weft::test
