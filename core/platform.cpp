#include "core/platform.h"

namespace weft {

Platform::Platform(std::vector<std::unique_ptr<port::Backend>> backends,
                   std::unique_ptr<port::Compiler> compiler)
    : backends_(std::move(backends)), compiler_(std::move(compiler)) {
  for (auto& backend : backends_)
    for (auto& device : backend->discover(diagnostics_))
      devices_.push_back(make<Device>(*this, std::move(device)));
}

}  // namespace weft
