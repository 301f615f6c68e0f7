// weft-bench-kernels: runs the kernels on the implementation that the ICD loader finds.
//   weft-bench-kernels list             what there is, as JSON
//   weft-bench-kernels check [NAME...]  each at a small size and every local size, compared
//   weft-bench-kernels serve            lines "NAME LOCAL REPETITIONS" in, a line of JSON each out;
//                                       LOCAL is an index into the case's local sizes
//   weft-bench-kernels splits           whether a unified device could divide each, as a table
//   weft-bench-kernels handwritten      some beside intrinsics on one thread, as a table
//   weft-bench-kernels device FACTOR NAME...
//                                       the device's time in each, at FACTOR times its size
//   weft-bench-kernels unified MS [NAME...]
//                                       each on the unified device and on its members, at a size at
//                                       which the first member takes MS milliseconds, as a table
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "bench/kernels/case.h"
#include "bench/kernels/handwritten.h"
#include "bench/kernels/runner.h"
#include "bench/kernels/unified_comparison.h"

namespace weft::bench {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

std::string readable(const Range& local) {
  std::string result;
  for (size_t extent : local) result += (result.empty() ? "" : "x") + std::to_string(extent);
  return result.empty() ? "NULL" : result;
}

// What went wrong in `action`, or nothing.
template <class F>
std::string errorOf(F action) {
  try {
    return action();
  } catch (const cl::BuildError& error) {
    std::string text = "the build failed:";
    for (const auto& [device, log] : error.getBuildLog()) text += " " + log;
    return text;
  } catch (const cl::Error& error) {
    return std::string(error.what()) + ": " + std::to_string(error.err());
  }
}

int list() {
  const char* separator = "[";
  for (const Case& row : cases()) {
    std::cout << separator << "{\"name\": " << quoted(row.name) << ", \"locals\": [";
    for (size_t i = 0; i < row.locals.size(); ++i)
      std::cout << (i ? ", " : "") << quoted(readable(row.locals[i]));
    std::cout << "]}";
    separator = ",\n ";
  }
  std::cout << "]\n";
  return 0;
}

const Case* find(std::string_view name) {
  for (const Case& row : cases())
    if (name == row.name) return &row;
  return nullptr;
}

int check(const std::vector<std::string>& names) {
  const Target target;
  int failed = 0, ran = 0;
  for (const Case& row : cases()) {
    if (!names.empty() && std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    for (const Range& local : row.locals) {
      const std::string wrong =
          errorOf([&] { return Prepared(target, row, row.small_size).check(local); });
      ++ran;
      if (wrong.empty()) continue;
      ++failed;
      std::printf("%s, local size %s: %s\n", row.name, readable(local).c_str(), wrong.c_str());
    }
  }
  std::printf("%d of %d are right on %s\n", ran - failed, ran, target.platform.c_str());
  return failed || !ran ? 1 : 0;
}

// At sizes that a host would need long to compute, so what is compared is a small one.
int device(size_t factor, const std::vector<std::string>& names) {
  constexpr int warm_ups = 3, runs = 21;
  const Target target(true);
  std::printf("%s: median and least of %d runs\n", target.platform.c_str(), runs);
  for (const std::string& name : names) {
    const Case* const row = find(name);
    if (!row) continue;
    for (const Range& local : row->locals) {
      std::vector<double> times;
      const std::string wrong = errorOf([&] {
        std::string mistake = Prepared(target, *row, row->small_size).check(local);
        Prepared prepared(target, *row, row->size * factor);
        for (int i = 0; i < warm_ups; ++i) prepared.run(local);
        for (int i = 0; i < runs; ++i) times.push_back(1e6 * prepared.run(local).device);
        return mistake;
      });
      std::sort(times.begin(), times.end());
      if (wrong.empty())
        std::printf("%-18s x%zu %-7s %9.1f us %9.1f us\n", row->name, factor,
                    readable(local).c_str(), times[runs / 2], times[0]);
      else
        std::printf("%-18s x%zu %-7s %s\n", row->name, factor, readable(local).c_str(),
                    wrong.c_str());
    }
  }
  return 0;
}

// Needs Weft and WEFT_UNIFIED=default. Of a case with several kernels the least divisible one
// counts.
int splits() {
  constexpr const char* names[] = {"whole", "exact", "merge"};
  const Target target;
  std::map<std::string_view, size_t> counts;
  std::printf("| kernel | class | why |\n|---|---|---|\n");
  for (const Case& row : cases()) {
    Prepared prepared(target, row, row.size);
    const auto [split_class, reason] = prepared.split(row.locals.front());
    ++counts[names[split_class]];
    std::printf("| %s | %s | %s |\n", row.name, names[split_class], reason.c_str());
  }
  for (const auto& [name, count] : counts)
    std::printf("%s: %zu of %zu\n", std::string(name).c_str(), count, cases().size());
  return 10 * counts["whole"] > 4 * cases().size() ? 1 : 0;
}

// Keeps the last case that was asked for: a comparison asks for it several times.
class Server {
 public:
  std::string platform() const { return target_.platform; }

  std::string answer(const std::string& request) {
    std::istringstream words(request);
    std::string name;
    size_t local = 0;
    int repetitions = 0;
    const Case* row = words >> name >> local >> repetitions ? find(name) : nullptr;
    if (!row || local >= row->locals.size()) return "{\"error\": \"no such case\"}";
    std::string samples;
    const std::string wrong = errorOf([&] { return measure(*row, local, repetitions, samples); });
    return wrong.empty() ? "{\"samples\": [" + samples + "]}"
                         : "{\"error\": " + quoted(wrong) + "}";
  }

 private:
  std::string measure(const Case& row, size_t local, int repetitions, std::string& samples) {
    if (row_ != &row) {
      row_ = nullptr;
      prepared_.reset();
      prepared_ = std::make_unique<Prepared>(target_, row, row.size);
      row_ = &row;
      checked_.assign(row.locals.size(), {});
    }
    // The first run at a local size is the one that is compared; some compile again for it.
    if (!checked_[local]) checked_[local] = prepared_->check(row.locals[local]);
    for (int i = 0; checked_[local]->empty() && i < repetitions; ++i) {
      const Times times = prepared_->run(row.locals[local]);
      char text[64];
      std::snprintf(text, sizeof text, "%s[%.9f, %.9f]", i ? ", " : "", times.wall, times.cpu);
      samples += text;
    }
    return *checked_[local];
  }

  Target target_;
  const Case* row_ = nullptr;
  std::unique_ptr<Prepared> prepared_;
  std::vector<std::optional<std::string>> checked_;  // of each local size
};

int serve() {
  Server server;
  std::cout << "{\"platform\": " << quoted(server.platform()) << "}" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << server.answer(line) << std::endl;
  return 0;
}

int run(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words.front();
  if (command == "list") return list();
  if (command == "check") return check({words.begin() + 1, words.end()});
  if (command == "serve") return serve();
  if (command == "splits") return splits();
  if (command == "handwritten") return compareHandwritten();
  if (command == "device" && words.size() > 2)
    return device(std::stoul(words[1]), {words.begin() + 2, words.end()});
  if (command == "unified" && words.size() > 1)
    return compareUnified(1e-3 * std::stod(words[1]), {words.begin() + 2, words.end()});
  std::fprintf(stderr,
               "usage: weft-bench-kernels list | check [NAME...] | serve | splits | handwritten | "
               "device FACTOR NAME... | unified MS [NAME...]\n");
  return 2;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  try {
    return weft::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft-bench-kernels: %s\n", error.what());
    return 1;
  }
}
