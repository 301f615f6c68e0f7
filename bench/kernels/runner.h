// Builds a case on the device, runs it, compares its result, and says what a run took.
#pragma once

#include <string>
#include <utility>

#include "bench/kernels/case.h"

namespace weft::bench {

// The implementation under test.
struct Target {
  // The first device of the first platform that the ICD loader offers. `profiled`: the device's
  // times are known, which costs some devices time.
  explicit Target(bool profiled = false);
  explicit Target(const cl::Device& device, bool profiled = false);
  cl::Device device;
  cl::Context context;
  bool profiled;
  cl::CommandQueue queue;
  std::string platform;  // its name and version
};

// Seconds by the clock and of all the process's threads on processors: the second says less about
// what else the machine does.
struct Times {
  double wall, cpu;
  double device = 0;  // on a profiled target: its own time in the kernels
};

// A case with its kernels and buffers on the target, for as long as this lives.
class Prepared {
 public:
  // Builds; throws cl::Error, cl::BuildError with the log.
  Prepared(const Target& target, const Case& which, size_t size);
  Prepared(const Target& target, const Case& which, Problem problem);

  // One run, from the first contents if `fresh`, else from what the last one left; the time is from
  // the first enqueue to the end of the last.
  Times run(const Range& local, bool fresh = true);
  // Runs once and compares. Empty if right, else what is wrong.
  std::string check(const Range& local);
  // The same of a result from elsewhere.
  std::string compare(const Values& result);
  std::string compare(const Values& result, const Values& expected) const;
  const Problem& problem() const { return problem_; }
  // The output as the last run left it.
  Values read() const;
  // How the target, a unified device of Weft, could divide the least divisible of the kernels: a
  // cl_split_class_weft, and why.
  std::pair<cl_uint, std::string> split(const Range& local);

 private:
  void create(const Argument& argument);
  void setArguments(size_t items);
  void writeContents();

  const Target& target_;
  const Case& case_;
  Problem problem_;
  Values expected_;                  // from the first check on
  std::vector<cl::Memory> objects_;  // of each argument; empty for values
  std::vector<cl::Kernel> kernels_;  // of each step
};

}  // namespace weft::bench
