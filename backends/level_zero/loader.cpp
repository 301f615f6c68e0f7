#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <map>

#include "backends/level_zero/api.h"
#include "core/dynamic_loader.h"
#include "core/guarded.h"

namespace weft::level_zero {
namespace {

struct Symbol {
  const char* name;
  size_t offset;
};
constexpr Symbol symbols[] = {
#define WEFT_ZE(member, function) {#function, offsetof(Api, member)},
#include "backends/level_zero/entry_points.def"
#undef WEFT_ZE
};

// The name of the first symbol that the library lacks, or nullptr.
const char* resolve(void* library, Api& api) {
  for (const Symbol& symbol : symbols) {
    void* const address = findSymbol(library, symbol.name);
    if (!address) return symbol.name;
    std::memcpy(reinterpret_cast<std::byte*>(&api) + symbol.offset, &address, sizeof address);
  }
  return nullptr;
}

}  // namespace

const Api* openLoader(const std::string& library, std::vector<port::Diagnostic>& diagnostics) {
  const auto fail = [&](const std::string& why) {
    diagnostics.push_back({"level_zero: " + library + ": " + why});
    return nullptr;
  };
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const std::string error = takeLoaderError();
    return fail(error.starts_with(library) ? "not found" : error);
  }
  static Guarded<std::map<std::string, Api>> tables;
  auto locked = tables.lock();
  Api& api = (*locked)[library];
  if (const char* const missing = resolve(handle, api))
    return fail(std::string("lacks ") + missing);
  if (const ze_result_t result = api.init(ZE_INIT_FLAG_GPU_ONLY); result != ZE_RESULT_SUCCESS)
    return fail("zeInit: " + describe(result));
  return &api;
}

}  // namespace weft::level_zero
