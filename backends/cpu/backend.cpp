#include "backends/cpu/backend.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "backends/cpu/device.h"
#include "backends/cpu/topology.h"
#include "core/error.h"

namespace weft::cpu {
namespace {

std::optional<size_t> positiveNumber(const char* text) {
  size_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value == 0) return std::nullopt;
  return value;
}

// The value of an environment variable that is set to a positive number.
std::optional<size_t> numberSetting(const char* name, std::vector<port::Diagnostic>& diagnostics) {
  const char* const text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  const auto value = positiveNumber(text);
  if (!value)
    diagnostics.push_back({std::string("cpu: ") + name + " is no positive number: " + text});
  return value;
}

// The PUs in use: all that the process may use, or the first few.
std::vector<unsigned> usedPus(std::vector<port::Diagnostic>& diagnostics) {
  std::vector<unsigned> pus = Topology::get().pus();
  if (const auto count = numberSetting("WEFT_CPU_MAX_COMPUTE_UNITS", diagnostics))
    pus.resize(std::min(*count, pus.size()));
  return pus;
}

MemorySettings memorySettings(std::vector<port::Diagnostic>& diagnostics) {
  MemorySettings settings;
  const char* const is_private = std::getenv("WEFT_CPU_PRIVATE_MEMORY");
  settings.is_private = is_private && std::string_view(is_private) == "1";
  if (const auto mebibytes = numberSetting("WEFT_CPU_MEMORY_LIMIT", diagnostics))
    settings.limit = std::min<uint64_t>(*mebibytes, uint64_t(1) << 40) << 20;
  return settings;
}

class Backend final : public port::Backend {
 public:
  std::string_view name() const override { return "cpu"; }

  std::vector<std::shared_ptr<port::Device>> discover(
      std::vector<port::Diagnostic>& diagnostics) override {
    try {
      return {std::make_shared<Device>(usedPus(diagnostics), memorySettings(diagnostics))};
    } catch (const std::exception& error) {
      diagnostics.push_back({std::string("cpu: ") + error.what()});
      return {};
    }
  }
};

}  // namespace

std::unique_ptr<port::Backend> makeBackend() { return std::make_unique<Backend>(); }

}  // namespace weft::cpu
