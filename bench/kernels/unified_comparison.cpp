#include "bench/kernels/unified_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "bench/kernels/runner.h"
#include "bench/unified.h"

namespace weft::bench {
namespace {

// Runs to learn from, for as long as that or so often, and those whose median counts.
constexpr double learning_seconds = 0.3;
constexpr int least_learning = 4, most_learning = 100, runs = 21;
constexpr size_t most_bytes = size_t{1} << 29;  // of a case's arguments, more or less

struct Timing {
  double seconds = 0;
  Values result;
};

Timing timeOf(Prepared& prepared, const Range& local) {
  Timing timing{prepared.run(local).wall, prepared.read()};
  for (int i = 0; i < most_learning && (i < least_learning || timing.seconds < learning_seconds);
       ++i)
    timing.seconds += prepared.run(local, false).wall;
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(prepared.run(local, false).wall);
  std::ranges::sort(times);
  timing.seconds = times[times.size() / 2];
  return timing;
}

size_t bytesOf(const Problem& problem) {
  size_t bytes = 0;
  for (const Argument& argument : problem.arguments) bytes += argument.bytes.size();
  return bytes;
}

// How many times its size the case is to have.
size_t factorFor(const Target& target, const Case& row, double seconds) {
  const Range& local = row.locals.front();
  for (size_t factor = 1;; factor *= 2) {
    Prepared prepared(target, row, row.size * factor);
    prepared.run(local);
    if (2 * bytesOf(prepared.problem()) > most_bytes || prepared.run(local).wall > seconds / 2)
      return factor;
  }
}

bool sameBits(const Values& a, const Values& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(Values::value_type)) == 0;
}

// One of each kind.
std::vector<Target> targetsOf(const std::vector<cl::Device>& members) {
  std::vector<Target> targets;
  std::vector<std::string> seen;
  for (const cl::Device& member : members) {
    const std::string name = member.getInfo<CL_DEVICE_NAME>();
    if (std::ranges::find(seen, name) != seen.end()) continue;
    seen.push_back(name);
    targets.emplace_back(member);
  }
  return targets;
}

}  // namespace

int compareUnified(double seconds, const std::vector<std::string>& names) {
  const UnifiedDevice unified = findUnifiedDevice();
  const Target together(unified.device);
  const std::vector<Target> members = targetsOf(unified.members);
  std::printf(
      "%s\n| kernel | times its size | class | best member, ms | together, ms | times faster | "
      "results |\n|---|--:|---|--:|--:|--:|---|\n",
      unified.name.c_str());
  double logs = 0;
  size_t rows = 0, wrong = 0;
  for (const Case& row : cases()) {
    if (!names.empty() && std::ranges::find(names, row.name) == names.end()) continue;
    const size_t factor = factorFor(members.front(), row, seconds), size = row.size * factor;
    const Problem problem = row.problem(size);
    const Range& local = row.locals.front();
    std::optional<Timing> best;
    for (const Target& member : members) {
      Prepared prepared(member, row, problem);
      if (Timing timing = timeOf(prepared, local); !best || timing.seconds < best->seconds)
        best = std::move(timing);
    }
    constexpr const char* classes[] = {"whole", "exact", "merge"};
    Prepared prepared(together, row, problem);
    const cl_uint split_class = prepared.split(local).first;
    const Timing all = timeOf(prepared, local);
    const bool same = sameBits(best->result, all.result);
    const std::string mistake = same ? "" : prepared.compare(all.result, best->result);
    const std::string verdict = same              ? "same"
                                : mistake.empty() ? "rounded otherwise"
                                                  : "**wrong**: " + mistake;
    std::printf("| `%s` | %zu | %s | %.3f | %.3f | %.2f | %s |\n", row.name, factor,
                classes[split_class], 1e3 * best->seconds, 1e3 * all.seconds,
                best->seconds / all.seconds, verdict.c_str());
    std::fflush(stdout);
    logs += std::log(best->seconds / all.seconds);
    ++rows;
    wrong += !mistake.empty();
  }
  if (rows)
    std::printf("geometric mean of %zu: %.2f\n", rows, std::exp(logs / static_cast<double>(rows)));
  return wrong ? 1 : 0;
}

}  // namespace weft::bench
