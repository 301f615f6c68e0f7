#include "core/dynamic_loader.h"

#include <dlfcn.h>

namespace weft {

void* findSymbol(void* library, const char* name) noexcept {
  void* const symbol = dlsym(library, name);
  if (!symbol && dlerror()) dlerror();
  return symbol;
}

std::string takeLoaderError() {
  const char* const message = dlerror();
  if (!message) return {};
  std::string error = message;
  dlerror();
  return error;
}

}  // namespace weft
