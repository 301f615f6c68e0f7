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

// The PUs in use: all that the process may use, or the first few.
std::vector<unsigned> usedPus(std::vector<port::Diagnostic>& diagnostics) {
  std::vector<unsigned> pus = Topology::get().pus();
  const char* limit = std::getenv("WEFT_CPU_MAX_COMPUTE_UNITS");
  if (!limit || !*limit) return pus;
  if (const auto count = positiveNumber(limit))
    pus.resize(std::min(*count, pus.size()));
  else
    diagnostics.push_back(
        {std::string("cpu: WEFT_CPU_MAX_COMPUTE_UNITS is no positive number: ") + limit});
  return pus;
}

class Backend final : public port::Backend {
 public:
  std::string_view name() const override { return "cpu"; }

  std::vector<std::shared_ptr<port::Device>> discover(
      std::vector<port::Diagnostic>& diagnostics) override {
    const char* setting = std::getenv("WEFT_CPU_PRIVATE_MEMORY");
    const bool private_memory = setting && std::string_view(setting) == "1";
    try {
      return {std::make_shared<Device>(usedPus(diagnostics), private_memory)};
    } catch (const std::exception& error) {
      diagnostics.push_back({std::string("cpu: ") + error.what()});
      return {};
    }
  }
};

}  // namespace

std::unique_ptr<port::Backend> makeBackend() { return std::make_unique<Backend>(); }

}  // namespace weft::cpu
