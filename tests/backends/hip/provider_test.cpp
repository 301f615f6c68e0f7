// Missing and broken runtimes: one line each, never more.
#include <gtest/gtest.h>

#include "backends/hip/backend.h"
#include "core/error.h"

namespace weft::test {
namespace {

using namespace hip;

std::string lineOf(const std::vector<port::Diagnostic>& diagnostics) {
  EXPECT_EQ(diagnostics.size(), 1u);
  std::string line = diagnostics.empty() ? "" : diagnostics[0].message;
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  return line;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Provider, AbsentLibrariesAreOneLineEach) {
  const std::string names[] = {"libweft_absent.so.2", "libweft_absent.so.1"};
  std::vector<port::Diagnostic> hip_lines, cuda_lines;
  EXPECT_EQ(openHipRuntime(hip_lines, names), nullptr);
  EXPECT_EQ(openCudaDriver(cuda_lines, names), nullptr);
  EXPECT_TRUE(contains(lineOf(hip_lines), "libweft_absent.so.1")) << lineOf(hip_lines);
  EXPECT_TRUE(contains(lineOf(cuda_lines), "libweft_absent.so.2")) << lineOf(cuda_lines);
}

TEST(Provider, ALibraryThatIsNoneSaysWhy) {
  const std::string names[] = {WEFT_TEST_NO_LIBRARY};
  std::vector<port::Diagnostic> lines;
  EXPECT_EQ(openCudaDriver(lines, names), nullptr);
  EXPECT_TRUE(contains(lineOf(lines), "invalid ELF header")) << lineOf(lines);
}

TEST(Provider, AMissingEntryPointIsNamed) {
  const std::string names[] = {WEFT_TEST_FAKE_EMPTY};
  std::vector<port::Diagnostic> hip_lines, cuda_lines;
  EXPECT_EQ(openHipRuntime(hip_lines, names), nullptr);
  EXPECT_EQ(openCudaDriver(cuda_lines, names), nullptr);
  EXPECT_TRUE(contains(lineOf(hip_lines), "lacks hipInit")) << lineOf(hip_lines);
  EXPECT_TRUE(contains(lineOf(cuda_lines), "lacks cuInit")) << lineOf(cuda_lines);
}

TEST(Provider, AFailingInitSaysSo) {
  const std::string names[] = {WEFT_TEST_FAKE_FAILING};
  std::vector<port::Diagnostic> lines;
  EXPECT_EQ(openHipRuntime(lines, names), nullptr);
  EXPECT_TRUE(contains(lineOf(lines), "hipInit: fake error (101)")) << lineOf(lines);
}

TEST(Provider, ARuntimeWithoutDevicesIsALine) {
  const auto open = [](auto& lines) {
    static const std::string names[] = {WEFT_TEST_FAKE_EMPTY_HANDED};
    return openHipRuntime(lines, names);
  };
  std::vector<port::Diagnostic> lines;
  EXPECT_TRUE(Backend({open}).discover(lines).empty());
  EXPECT_TRUE(contains(lineOf(lines), "(100)")) << lineOf(lines);
}

TEST(Provider, AThrowingProviderIsALine) {
  const auto open = [](auto&) -> std::unique_ptr<Provider> {
    throw Error(CL_OUT_OF_RESOURCES, "no");
  };
  std::vector<port::Diagnostic> lines;
  EXPECT_TRUE(Backend({open}).discover(lines).empty());
  EXPECT_TRUE(contains(lineOf(lines), "no"));
}

// Whatever this machine has: devices, or lines that say why not.
TEST(Provider, ThisMachine) {
  std::vector<port::Diagnostic> lines;
  Backend backend;
  const auto devices = backend.discover(lines);
  for (const auto& line : lines) std::printf("  %s\n", line.message.c_str());
  for (const auto& device : devices)
    std::printf("  %s, %s\n", device->capabilities().name.c_str(), device->target().cpu.c_str());
  EXPECT_GE(devices.size() + lines.size(), 2u);
  EXPECT_EQ(backend.name(), "hip");
}

}  // namespace
}  // namespace weft::test
