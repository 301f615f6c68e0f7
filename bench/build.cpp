// The time from clBuildProgram to clCreateKernel's return, each time in a new process
// (weft-bench-build), with an empty kernel cache and with a filled one.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "bench/runtime.h"

extern char** environ;

namespace weft::bench {
namespace {

namespace fs = std::filesystem;

// A kernel cache of its own, empty at first, for whatever implementation runs.
class CacheFolder {
 public:
  CacheFolder() {
    std::string path = (fs::temp_directory_path() / "weft-bench-XXXXXX").string();
    if (!mkdtemp(path.data())) throw fs::filesystem_error("mkdtemp", {});
    path_ = path;
    for (Variable& variable : variables_) {
      if (const char* value = std::getenv(variable.name)) variable.before = value;
      setenv(variable.name, path_.c_str(), 1);
    }
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  ~CacheFolder() {
    for (const Variable& variable : variables_) {
      if (variable.before)
        setenv(variable.name, variable.before->c_str(), 1);
      else
        unsetenv(variable.name);
    }
    std::error_code error;
    fs::remove_all(path_, error);
  }

 private:
  struct Variable {
    const char* name;
    std::optional<std::string> before;
  };
  fs::path path_;
  std::array<Variable, 2> variables_{{{"WEFT_CACHE_DIR", {}}, {"POCL_CACHE_DIR", {}}}};
};

struct BuildTimes {
  double build_ms;         // clBuildProgram to clCreateKernel
  double first_result_ms;  // clBuildProgram to the first launch's end
  double from_start_ms;    // the first OpenCL call to clCreateKernel
  int llvm_mapped;         // whether the process has libLLVM
};

// Runs the helper; empty when it fails.
std::optional<BuildTimes> buildInNewProcess(const std::string& program) {
  const std::string helper =
      (fs::read_symlink("/proc/self/exe").parent_path() / "weft-bench-build");
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::string name = helper, argument = program;
  char* arguments[] = {name.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, helper.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 256> part;
  for (ssize_t n; !failed && (n = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  if (failed || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  BuildTimes times{};
  if (std::sscanf(text.c_str(), "%lf %lf %lf %d", &times.build_ms, &times.first_result_ms,
                  &times.from_start_ms, &times.llvm_mapped) != 4)
    return std::nullopt;
  return times;
}

void measure(benchmark::State& state, const char* program, bool warm) {
  std::optional<CacheFolder> cache;
  double first_result = 0, from_start = 0, mapped = 0;
  if (warm) {
    cache.emplace();
    buildInNewProcess(program);
  }
  for (auto _ : state) {
    if (!warm) cache.emplace();
    const auto times = buildInNewProcess(program);
    if (!times) {
      state.SkipWithError("weft-bench-build failed");
      break;
    }
    state.SetIterationTime(times->build_ms / 1e3);
    first_result += times->first_result_ms;
    from_start += times->from_start_ms;
    mapped = std::max<double>(mapped, times->llvm_mapped);
    if (!warm) cache.reset();
  }
  const auto average = benchmark::Counter::kAvgIterations;
  state.counters["first_result_ms"] = benchmark::Counter(first_result, average);
  state.counters["from_start_ms"] = benchmark::Counter(from_start, average);
  state.counters["llvm_mapped"] = mapped;
}

Registered addBuild(const char* name, const char* program, bool warm) {
  const Registered registered = benchmark::RegisterBenchmark(name, measure, program, warm);
  return registered->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(5);
}

[[maybe_unused]] const Registered registered[] = {
    addBuild("build/small/cold", "small", false),
    addBuild("build/small/warm", "small", true),
    addBuild("build/math/cold", "math", false),
    addBuild("build/math/warm", "math", true),
};

}  // namespace
}  // namespace weft::bench
