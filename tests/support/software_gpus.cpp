#include "tests/support/software_gpus.h"

#include <dlfcn.h>

#include "backends/hip/backend.h"
#include "backends/level_zero/backend.h"

namespace weft::test {

std::unique_ptr<port::Backend> softwareGpus() {
  static const std::string library[] = {WEFT_SOFTWARE_GPU_RUNTIME};
  return std::make_unique<hip::Backend>(std::vector<hip::Backend::Open>{
      [](auto& diagnostics) { return hip::openHipRuntime(diagnostics, library); }});
}

std::unique_ptr<port::Backend> softwareLevelZero() {
  const std::string library = WEFT_SOFTWARE_LEVEL_ZERO;
  return library.empty() ? nullptr : level_zero::makeBackend(library, nullptr);
}

software::Faults* softwareLevelZeroFaults() {
  void* const driver = dlopen(WEFT_SOFTWARE_LEVEL_ZERO, RTLD_NOW | RTLD_LOCAL);
  void* const get = driver ? dlsym(driver, "weftSoftwareGpuFaults") : nullptr;
  return get ? reinterpret_cast<software::GetFaults>(get)() : nullptr;
}

}  // namespace weft::test
