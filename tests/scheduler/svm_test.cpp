// Shared virtual memory of devices that find it at the host's address: where it is made, and what
// moves its pages.
#include "core/svm.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "scheduler/unified_device.h"
#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

FakeOptions sharing(FakeShares shares) {
  FakeOptions options;
  options.manual = false;
  options.max_delay = std::chrono::microseconds(0);
  options.shares = shares;
  return options;
}

// Also for a unified device: it uses what its members do.
TEST(ManagedSvmTest, IsMadeBesideUnifiedDevices) {
  setenv("WEFT_UNIFIED", "1", 1);
  auto backend = std::make_unique<FakeBackend>(
      std::vector{sharing(FakeShares::everything), sharing(FakeShares::managed)});
  std::vector<std::unique_ptr<port::Backend>> backends;
  backends.push_back(std::move(backend));
  const auto platform = make<Platform>(std::move(backends), std::make_unique<NoCompiler>());
  addUnifiedDevice(*platform);
  unsetenv("WEFT_UNIFIED");
  ASSERT_EQ(platform->devices().size(), 3u);
  const auto context = make<Context>(*platform, platform->devices(),
                                     std::vector<cl_context_properties>{}, nullptr, nullptr);
  context->setState(makeContextState(*context));
  const std::byte* const memory = context->svm().allocate(4096);
  EXPECT_EQ(context->svm().find(memory)->storage().managedBy(), platform->devices().at(1).get());
}

}  // namespace
}  // namespace weft::test
