#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <span>

#include "bench/kernels/handwritten.h"
#include "bench/kernels/runner.h"

namespace weft::bench {
namespace {

constexpr size_t vector_bytes = 64;
constexpr int rounds = 20;

double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The arguments' contents in memory of their own.
class Contents {
 public:
  explicit Contents(const Problem& problem) {
    for (const Argument& argument : problem.arguments) {
      const size_t size = std::max<size_t>(argument.bytes.size(), 1);
      const size_t whole = (size + vector_bytes - 1) / vector_bytes * vector_bytes;
      owned_.emplace_back(std::aligned_alloc(vector_bytes, whole), &std::free);
      std::memcpy(owned_.back().get(), argument.bytes.data(), argument.bytes.size());
      pointers_.push_back(owned_.back().get());
    }
  }
  const std::vector<void*>& pointers() const { return pointers_; }

 private:
  std::vector<std::unique_ptr<void, decltype(&std::free)>> owned_;
  std::vector<void*> pointers_;
};

// In turns, because a machine is not always as fast. Empty if both are right.
std::string compare(const Target& target, const Case& row, const Handwritten& hand) {
  Prepared prepared(target, row, row.size);
  const Range& local = row.locals.front();
  if (std::string wrong = prepared.check(local); !wrong.empty()) return wrong;
  const Problem& problem = prepared.problem();
  const Contents contents(problem);
  double ours = std::numeric_limits<double>::max(), theirs = ours;
  for (int i = 0; i < rounds; ++i) {
    ours = std::min(ours, prepared.run(local).cpu);
    const double start = threadSeconds();
    hand.run(contents.pointers().data(), problem.global[0]);
    theirs = std::min(theirs, threadSeconds() - start);
  }
  const Argument& output = problem.arguments[problem.output];
  const auto* result = static_cast<const std::byte*>(contents.pointers()[problem.output]);
  std::printf("| `%s` | %s | %.2f ms | %.2f ms | %.0f %% |\n", row.name, hand.how, 1e3 * ours,
              1e3 * theirs, 100 * theirs / ours);
  return prepared.compare(output.decode(bytesOf(result, output.bytes.size())));
}

bool canRun() {
#ifdef __x86_64__
  return handwritten_count > 0 && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

}  // namespace

int compareHandwritten() {
  if (!canRun()) {
    std::puts("this processor has no AVX-512");
    return 0;
  }
  const Target target;
  std::printf("%s, processor time, least of %d runs\n\n", target.platform.c_str(), rounds);
  std::puts("| kernel | by hand | OpenCL | by hand | share |\n|---|---|---|---|---|");
  int failed = 0;
  for (const Handwritten& hand : std::span(handwritten, handwritten_count))
    for (const Case& row : cases()) {
      if (row.name != std::string_view(hand.name)) continue;
      const std::string wrong = compare(target, row, hand);
      if (wrong.empty()) continue;
      ++failed;
      std::printf("%s, %s: %s\n", row.name, hand.how, wrong.c_str());
    }
  return failed ? 1 : 0;
}

}  // namespace weft::bench
