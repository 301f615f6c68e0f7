#include "tools/trace/trace.h"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "profiling/trace_reader.h"
#include "tools/trace/chrome.h"
#include "tools/trace/report.h"
#include "tools/trace/summary.h"

namespace weft::tools::trace {
namespace {

namespace fs = std::filesystem;
using profiling::TracedProcess;

// A folder that goes when this does, unless the user named one.
class Folder {
 public:
  explicit Folder(const std::string& kept) : path_(kept), goes_(kept.empty()) {
    if (!goes_) {
      fs::create_directories(path_);
      return;
    }
    path_ = (fs::temp_directory_path() / "weft-trace-XXXXXX").string();
    if (!mkdtemp(path_.data())) throw std::system_error(errno, std::generic_category(), path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    if (goes_) fs::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool goes_;
};

// What the terminal sends goes to the program, too, which is the one to decide.
class SignalsIgnored {
 public:
  SignalsIgnored()
      : interrupt_(std::signal(SIGINT, SIG_IGN)), quit_(std::signal(SIGQUIT, SIG_IGN)) {}
  SignalsIgnored(const SignalsIgnored&) = delete;
  SignalsIgnored& operator=(const SignalsIgnored&) = delete;
  ~SignalsIgnored() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGQUIT, quit_);
  }

 private:
  using Handler = void (*)(int);
  Handler interrupt_, quit_;
};

pid_t spawn(const std::vector<std::string>& program) {
  std::vector<char*> arguments;
  arguments.reserve(program.size() + 1);
  for (const std::string& argument : program)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), program[0]);
  return process;
}

int runProgram(const Options& options, const std::string& folder) {
  setenv("WEFT_TRACE", folder.c_str(), 1);
  if (options.limit_mib > 0)
    setenv("WEFT_TRACE_LIMIT", std::to_string(options.limit_mib).c_str(), 1);
  const SignalsIgnored ignored;
  const pid_t process = spawn(options.program);
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Those that did anything.
std::vector<TracedProcess> load(const std::string& folder) {
  std::vector<TracedProcess> processes = profiling::readTraces(folder);
  std::erase_if(processes, [](const TracedProcess& process) { return process.commands.empty(); });
  return processes;
}

template <class Write>
void writeFile(const std::string& path, const std::vector<TracedProcess>& processes, Write write) {
  if (path.empty()) return;
  std::ofstream file(path);
  write(file, processes);
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  fmt::print("{} written\n", path);
}

}  // namespace

int run(const Options& options) {
  if (options.program.empty() == options.read.empty())
    throw std::runtime_error("trace: a program to run, or --read a folder: one of the two");
  int status = 0;
  const auto show = [&](const std::string& folder) {
    const std::vector<TracedProcess> processes = load(folder);
    if (processes.empty()) fmt::print("weft: no command of Weft's was recorded\n");
    for (const TracedProcess& process : processes) printSummary(process);
    writeFile(options.json, processes, writeChromeTrace);
    writeFile(options.report, processes, writeReport);
  };
  if (!options.read.empty()) return show(options.read), status;
  const Folder folder(options.keep);
  status = runProgram(options, folder.path());
  if (status >= 126) fmt::print(stderr, "weft: the program ended with {}\n", status);
  show(folder.path());
  return status;
}

}  // namespace weft::tools::trace
