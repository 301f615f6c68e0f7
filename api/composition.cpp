#include "api/composition.h"

#include "api/dispatch.h"
#include "backends/cpu/backend.h"
#include "compiler/client/client.h"

namespace weft::api {
namespace {

Platform* makePlatform() {
  installDispatch();
  std::vector<std::unique_ptr<port::Backend>> backends;
  backends.push_back(cpu::makeBackend());
  return new Platform(std::move(backends), makeCompiler());
}

}  // namespace

Platform& platform() {
  static Platform* const instance = makePlatform();
  return *instance;
}

}  // namespace weft::api
