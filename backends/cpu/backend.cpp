#include "backends/cpu/backend.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

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
std::vector<port::ComputeUnit> usedUnits(const Topology& topology,
                                         std::vector<port::Diagnostic>& diagnostics) {
  std::vector<port::ComputeUnit> units = topology.units();
  if (const auto count = numberSetting("WEFT_CPU_MAX_COMPUTE_UNITS", diagnostics))
    units.resize(std::min(*count, units.size()));
  return units;
}

// The setting's value among those that it may have, or else `otherwise`.
template <class T, size_t n>
T choiceSetting(const char* name, const std::pair<std::string_view, T> (&choices)[n], T otherwise,
                std::vector<port::Diagnostic>& diagnostics) {
  const char* const text = std::getenv(name);
  if (!text || !*text) return otherwise;
  for (const auto& [word, value] : choices)
    if (word == text) return value;
  std::string message = std::string("cpu: ") + name + " is none of";
  for (const auto& choice : choices) message += ' ' + std::string(choice.first);
  diagnostics.push_back({message + ": " + text});
  return otherwise;
}

constexpr std::pair<std::string_view, TrialPolicy> trial_policies[] = {
    {"never", TrialPolicy::never},
    {"auto", TrialPolicy::worthwhile},
    {"always", TrialPolicy::always},
};

constexpr std::pair<std::string_view, port::Placement> placements[] = {
    {"cores", port::Placement::cores},
    {"compact", port::Placement::compact},
    {"scatter", port::Placement::scatter},
};

constexpr std::pair<std::string_view, Spread> spreads[] = {
    {"interleave", Spread::interleave},
    {"blocks", Spread::blocks},
    {"first-touch", Spread::first_touch},
};

constexpr std::pair<std::string_view, Vectors> vector_sizes[] = {
    {"128", Vectors::of_128_bits},
    {"256", Vectors::of_256_bits},
    {"512", Vectors::of_512_bits},
};

constexpr std::pair<std::string_view, bool> bindings[] = {{"pu", true}, {"none", false}};

Settings readSettings(std::vector<port::Diagnostic>& diagnostics) {
  Settings settings;
  const char* const is_private = std::getenv("WEFT_CPU_PRIVATE_MEMORY");
  settings.private_memory = is_private && std::string_view(is_private) == "1";
  if (const auto mebibytes = numberSetting("WEFT_CPU_MEMORY_LIMIT", diagnostics))
    settings.memory_limit = std::min<uint64_t>(*mebibytes, uint64_t(1) << 40) << 20;
  settings.placement =
      choiceSetting("WEFT_CPU_PLACEMENT", placements, settings.placement, diagnostics);
  settings.spread = choiceSetting("WEFT_CPU_NUMA", spreads, settings.spread, diagnostics);
  settings.bind = choiceSetting("WEFT_CPU_BINDING", bindings, settings.bind, diagnostics);
  settings.trials = choiceSetting("WEFT_CPU_TRIALS", trial_policies, settings.trials, diagnostics);
  settings.vectors = choiceSetting("WEFT_CPU_VECTORS", vector_sizes, settings.vectors, diagnostics);
  return settings;
}

class Backend final : public port::Backend {
 public:
  explicit Backend(std::shared_ptr<const port::CodeMaker> code) : code_(std::move(code)) {}
  std::string_view name() const override { return "cpu"; }

  std::vector<std::shared_ptr<port::Device>> discover(
      std::vector<port::Diagnostic>& diagnostics) override {
    try {
      auto topology = Topology::ofThisProcess();
      auto units = usedUnits(*topology, diagnostics);
      Settings settings = readSettings(diagnostics);
      settings.code = code_;
      settings.background = std::make_shared<Background>();
      return {std::make_shared<Device>(std::move(topology), std::move(units), std::move(settings))};
    } catch (const std::exception& error) {
      diagnostics.push_back({std::string("cpu: ") + error.what()});
      return {};
    }
  }

 private:
  const std::shared_ptr<const port::CodeMaker> code_;
};

}  // namespace

std::unique_ptr<port::Backend> makeBackend(std::shared_ptr<const port::CodeMaker> code) {
  return std::make_unique<Backend>(std::move(code));
}

}  // namespace weft::cpu
