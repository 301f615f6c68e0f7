#include "tools/simulate.h"

#include <fmt/core.h>

#include <toml++/toml.h>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "partition/simulator.h"

namespace weft::tools::simulate {
namespace {

using namespace partition::simulator;
using Json = nlohmann::json;

constexpr uint64_t most_units = 1 << 20;
constexpr int64_t most_members = 1024;
constexpr unsigned most_launches = 100'000;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw std::runtime_error(file + ": " + why);
}

// The keys of one table or object, each of which has to be asked for.
class Keys {
 public:
  explicit Keys(std::string file) : file_(std::move(file)) {}
  void known(const std::string& key) { known_.insert(key); }
  void check(const std::string& key) const {
    if (!known_.contains(key)) refuse(file_, "what is '" + key + "'?");
  }
  double inRange(const std::string& key, double value, double least, double most) const {
    if (!(value >= least && value <= most))
      refuse(file_, fmt::format("'{}' is {}; from {} to {} is possible", key, value, least, most));
    return value;
  }

 private:
  std::string file_;
  std::set<std::string> known_;
};

class MachineReader {
 public:
  MachineReader(const std::string& file, const toml::table& table)
      : file_(file), table_(table), keys_(file) {}

  void appendTo(Machine& machine) {
    Member member;
    keys_.known("name");
    member.name = table_["name"].value_or(std::string("member"));
    const auto count = static_cast<int64_t>(number("count", 1, 1, most_members));
    member.speed = number("speed", 1, 1e-9, 1e9);
    member.slice_ns = 1000 * number("slice_us", 1, 0, 1e9);
    member.host_ns = 1000 * number("host_us", 0, 0, 1e9);
    member.width = static_cast<uint64_t>(number("width", 1, 1, 1e9));
    member.link_bytes_per_ns = number("link_gb_s", 0, 0, 1e6);
    member.link_ns = 1000 * number("link_us", 0, 0, 1e9);
    member.noise = number("noise", 0, 0, 100);
    for (const auto& [key, value] : table_) keys_.check(std::string(key.str()));
    for (int64_t i = 0; i < count; ++i) {
      machine.members.push_back(member);
      if (count > 1) machine.members.back().name += std::to_string(i);
    }
  }

 private:
  double number(const char* key, double otherwise, double least, double most) {
    keys_.known(key);
    const auto node = table_[key];
    if (!node) return otherwise;
    const auto value = node.value<double>();
    if (!value) refuse(file_, fmt::format("'{}' is no number", key));
    return keys_.inRange(key, *value, least, most);
  }

  const std::string& file_;
  const toml::table& table_;
  Keys keys_;
};

Machine readMachine(const std::string& file) {
  toml::table table;
  try {
    table = toml::parse_file(file);
  } catch (const toml::parse_error& error) {
    refuse(file, fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
  Machine machine;
  machine.name = table["name"].value_or(file);
  const toml::array* members = table["member"].as_array();
  if (!members) refuse(file, "has no [[member]]");
  for (const toml::node& node : *members) {
    if (!node.is_table()) refuse(file, "'member' is no list of tables");
    MachineReader(file, *node.as_table()).appendTo(machine);
  }
  if (machine.members.empty() || machine.members.size() > most_members)
    refuse(file, fmt::format("has {} members", machine.members.size()));
  return machine;
}

class KernelReader {
 public:
  KernelReader(const std::string& file, const Json& object)
      : file_(file), object_(object), keys_(file) {}

  Kernel read() {
    if (!object_.is_object()) refuse(file_, "a kernel is no object");
    Kernel kernel;
    keys_.known("name");
    kernel.name = object_.value("name", std::string("kernel"));
    kernel.units = static_cast<uint64_t>(number("units", 1024, 1, double{most_units}));
    kernel.work = 1000 * number("work_us", 1, 1e-6, 1e9);
    kernel.profile = profile();
    kernel.read_bytes = number("read_bytes", 0, 0, 1e15);
    kernel.written_bytes = number("written_bytes", 0, 0, 1e15);
    kernel.shared_bytes = number("shared_bytes", 0, 0, 1e15);
    kernel.halo_units = static_cast<uint64_t>(number("halo_units", 0, 0, double{most_units}));
    kernel.launches = static_cast<unsigned>(number("launches", 5, 1, double{most_launches}));
    keys_.known("iterated");
    kernel.iterated = object_.value("iterated", false);
    keys_.known("speeds");
    const Json speeds = object_.value("speeds", Json::object());
    for (const auto& [name, speed] : speeds.items())
      kernel.speeds.emplace_back(name, keys_.inRange(name, speed.get<double>(), 1e-9, 1e9));
    for (const auto& [key, value] : object_.items()) keys_.check(key);
    return kernel;
  }

 private:
  double number(const char* key, double otherwise, double least, double most) {
    keys_.known(key);
    return keys_.inRange(key, object_.value(key, otherwise), least, most);
  }

  Profile profile() {
    constexpr const char* names[] = {"flat", "ramp", "hump", "random"};
    keys_.known("profile");
    const std::string name = object_.value("profile", std::string("flat"));
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) refuse(file_, "there is no profile '" + name + "'");
    return static_cast<Profile>(found - std::begin(names));
  }

  const std::string& file_;
  const Json& object_;
  Keys keys_;
};

std::vector<Kernel> readTrace(const std::string& file) {
  std::ifstream in(file);
  if (!in) refuse(file, "cannot be read");
  try {
    std::vector<Kernel> kernels;
    const Json trace = Json::parse(in);
    for (const Json& object : trace.at("kernels"))
      kernels.push_back(KernelReader(file, object).read());
    return kernels;
  } catch (const Json::exception& error) {
    refuse(file, error.what());
  }
}

std::string timeText(double ns) {
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.2f} ms", ns / 1e6);
}

constexpr Choice choices[] = {Choice::best_single, Choice::even, Choice::ratio, Choice::dynamic,
                              Choice::guided};

void show(const Machine& machine, const Kernel& kernel, const Settings& settings) {
  fmt::print("| {} |", kernel.name);
  double best = 0;
  for (const Choice choice : choices) {
    const Outcome outcome = partition::simulator::simulate(machine, kernel, choice, settings);
    const double each = outcome.total_ns / kernel.launches;
    if (choice == Choice::best_single) {
      best = each;
      fmt::print(" {} |", timeText(each));
      continue;
    }
    fmt::print(" {:.2f} |", best / each);
    if (choice == Choice::guided)
      fmt::print(" {:.2f} | {} | {:.2f} | {:.2f} | {:.1f} |", best / outcome.first_ns,
                 outcome.members, outcome.efficiency, outcome.balance,
                 static_cast<double>(outcome.slices) / kernel.launches);
  }
  fmt::print("\n");
}

}  // namespace

int run(const Options& options) {
  const std::vector<Kernel> kernels = readTrace(options.trace);
  std::vector<Machine> machines;
  for (const std::string& file : options.machines) machines.push_back(readMachine(file));
  Settings settings;
  settings.known = !options.unknown;
  settings.misjudged = options.misjudged;
  for (const Machine& machine : machines) {
    fmt::print("\n{}\n\n| kernel | best single |", machine.name);
    for (const Choice choice : choices)
      if (choice != Choice::best_single) fmt::print(" {} |", nameOf(choice));
    fmt::print(" guided, first launch | members | efficiency | balance | slices |\n|---|");
    for (int column = 0; column < 10; ++column) fmt::print("--:|");
    fmt::print("\n");
    for (const Kernel& kernel : kernels) show(machine, kernel, settings);
  }
  return 0;
}

}  // namespace weft::tools::simulate
