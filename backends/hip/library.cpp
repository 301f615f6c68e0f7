#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "backends/hip/provider.h"
#include "core/dynamic_loader.h"

namespace weft::hip {

Library Library::open(std::span<const std::string> names) {
  Library library;
  for (const std::string& name : names) {
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_) {
      library.name_ = name;
      return library;
    }
    // The first message that is about more than absence is the one worth telling.
    std::string error = takeLoaderError();
    const bool absent = error.starts_with(name + ": cannot open");
    if (library.error_.empty() && !absent) library.error_ = std::move(error);
  }
  if (library.error_.empty()) {
    library.error_ = "not found:";
    for (const std::string& name : names) library.error_ += " " + name;
  }
  return library;
}

void* Library::find(const char* symbol) const { return findSymbol(handle_, symbol); }

const char* Library::resolve(std::span<const Symbol> symbols, void* table) const {
  for (const Symbol& symbol : symbols) {
    void* const address = find(symbol.name);
    if (!address && symbol.required) return symbol.name;
    std::memcpy(static_cast<std::byte*>(table) + symbol.offset, &address, sizeof address);
  }
  return nullptr;
}

const char* wishedHipRuntime() {
  const char* const path = secure_getenv("WEFT_HIP_RUNTIME");
  return path && *path ? path : nullptr;
}

std::string describe(const Api& api, Status status) {
  const char* const text = api.getErrorString ? api.getErrorString(status) : nullptr;
  return std::string(text ? text : "unknown error") + " (" + std::to_string(status) + ")";
}

}  // namespace weft::hip
