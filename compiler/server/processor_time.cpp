#include "compiler/server/processor_time.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace weft::compiler {
namespace {

namespace fs = std::filesystem;

// Of the process and of the children that it has waited for.
std::chrono::milliseconds ownTime(const fs::path& process) {
  std::ifstream file(process / "stat");
  // Its name is in parentheses, and may have some in it.
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  int64_t user = 0, system = 0, children_user = 0, children_system = 0;
  fields >> user >> system >> children_user >> children_system;
  const int64_t ticks = user + system + children_user + children_system;
  return std::chrono::milliseconds(ticks * 1000 / sysconf(_SC_CLK_TCK));
}

}  // namespace

std::chrono::milliseconds processorTime(pid_t pid) {
  const fs::path process = fs::path("/proc") / std::to_string(pid);
  std::chrono::milliseconds time = ownTime(process);
  std::error_code error;
  for (const auto& thread : fs::directory_iterator(process / "task", error)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child; children >> child;)
      time += ownTime(fs::path("/proc") / std::to_string(child));
  }
  return time;
}

}  // namespace weft::compiler
