#include "api/composition.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "api/dispatch.h"
#include "backends/cpu/backend.h"
#include "backends/hip/backend.h"
#include "backends/level_zero/backend.h"
#include "compiler/client/binaries.h"
#include "compiler/client/client.h"
#include "profiling/trace_writer.h"
#include "scheduler/unified_device.h"

namespace weft::api {
namespace {

// Programs that know one device take the first one, which is also the default: WEFT_GPU=first.
bool gpusFirst() {
  const char* const setting = std::getenv("WEFT_GPU");
  return setting && std::string_view(setting) == "first";
}

Platform* makePlatform() {
  profiling::TraceWriter::startFromEnvironment();
  installDispatch();
  DeferringCompiler compiler = makeDeferringCompiler();
  std::vector<std::unique_ptr<port::Backend>> backends;
  backends.push_back(cpu::makeBackend(compiler.code));
  backends.push_back(std::make_unique<hip::Backend>());
  backends.push_back(level_zero::makeBackend(makeBinaryCache()));
  if (gpusFirst()) std::ranges::rotate(backends, backends.begin() + 1);
  auto platform = std::make_unique<Platform>(std::move(backends), std::move(compiler.compiler),
                                             std::move(compiler.code));
  addUnifiedDevice(*platform);
  return platform.release();
}

}  // namespace

Platform& platform() {
  static Platform* const instance = makePlatform();
  return *instance;
}

}  // namespace weft::api
