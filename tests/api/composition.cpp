// The platform of these tests: fake devices, and a compiler that compiles nothing.
#include "api/composition.h"

#include "api/dispatch.h"
#include "tests/scheduler/fake_platform.h"

namespace weft::api {

Platform& platform() {
  static Platform* const instance = [] {
    installDispatch();
    test::FakeOptions options;
    options.manual = false;
    options.compute_units = 4;
    std::vector<std::unique_ptr<port::Backend>> backends;
    backends.push_back(
        std::make_unique<test::FakeBackend>(std::vector<test::FakeOptions>{options, options}));
    return new Platform(std::move(backends), std::make_unique<test::NoCompiler>());
  }();
  return *instance;
}

}  // namespace weft::api
