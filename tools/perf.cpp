#include "tools/perf.h"

#include <fmt/core.h>

#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "profiling/store.h"

namespace weft::tools::perf {
namespace {

using profiling::Contents;
using profiling::PerformanceStore;
using profiling::Samples;
using Json = nlohmann::ordered_json;

// The store of this user.
class Store : public PerformanceStore {
 public:
  Store() : PerformanceStore(profiling::storeDirectory()) {
    if (file().empty())
      throw std::runtime_error("there is no performance store: no cache folder that is ours alone");
  }
};

std::string shortened(const std::string& text, size_t length) {
  return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

std::string age(int64_t updated) {
  const int64_t seconds = std::max<int64_t>(std::time(nullptr) - updated, 0);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / (24 * 3600));
}

void showSamples(const Samples& samples, const char* unit, double rate) {
  fmt::print("{:>14.0f} {:>6} {:>12.3f} {} +-{:3.0f} % {:>7}\n", samples.size, samples.count, rate,
             unit, 100 * samples.spread(), age(samples.updated));
}

void fill(Json& row, const Samples& samples) {
  row["size"] = samples.size;
  row["count"] = samples.count;
  row["nanoseconds"] = samples.rate * samples.size;
  row["spread"] = samples.spread();
  row["updated"] = samples.updated;
}

Json toJson(const Contents& contents) {
  Json result{{"kernels", Json::array()}, {"links", Json::array()}};
  for (const auto& [kernel, device, samples] : contents.kernels) {
    Json row{{"code", kernel.code},
             {"options", kernel.options},
             {"local_size", kernel.local},
             {"device", device.uuid},
             {"driver", device.driver}};
    fill(row, samples);
    result["kernels"].push_back(std::move(row));
  }
  for (const auto& [link, samples] : contents.links) {
    Json row{{"source", link.source}, {"target", link.target}, {"driver", link.driver}};
    fill(row, samples);
    result["links"].push_back(std::move(row));
  }
  return result;
}

}  // namespace

int list() {
  Store store;
  const Contents contents = store.contents();
  fmt::print("{}: {} lines\n", store.file(), contents.kernels.size() + contents.links.size());
  if (!contents.kernels.empty())
    fmt::print("{:<34} {:<10} {:<12} {:>14} {:>6} {:>15} {:>7} {:>7}\n", "kernel", "local size",
               "device", "work-items", "count", "ns each", "spread", "age");
  for (const auto& [kernel, device, samples] : contents.kernels) {
    fmt::print("{:<34} {:<10} {:<12} ", shortened(kernel.code, 34), kernel.local,
               shortened(device.uuid, 12));
    showSamples(samples, "ns", samples.rate);
  }
  if (!contents.links.empty())
    fmt::print("{:<45} {:<12} {:>14} {:>6} {:>15} {:>7} {:>7}\n", "from", "to", "bytes", "count",
               "rate", "spread", "age");
  for (const auto& [link, samples] : contents.links) {
    fmt::print("{:<45} {:<12} ", shortened(link.source, 45), shortened(link.target, 12));
    showSamples(samples, "GB/s", 1 / samples.rate);
  }
  return 0;
}

int prune(const PruneOptions& options) {
  Store store;
  const auto seconds = static_cast<int64_t>(options.older_than_days * 24 * 3600);
  const auto removed = store.prune({seconds, options.device});
  if (!removed) throw std::runtime_error("cannot write " + store.file());
  fmt::print("removed {} lines\n", *removed);
  return 0;
}

int exportTo(const std::string& path) {
  const std::string text = toJson(Store().contents()).dump(2) + '\n';
  if (path.empty()) {
    std::cout << text << std::flush;
    return std::cout ? 0 : 1;
  }
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path);
  return 0;
}

}  // namespace weft::tools::perf
