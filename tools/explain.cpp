#include "tools/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tools/opencl.h"

namespace weft::tools::explain {
namespace {

struct Remark {
  unsigned line = 0;  // of the source; 0: of the whole kernel
  std::string text;
};

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) throw std::runtime_error("cannot read " + path);
  return text.str();
}

// "file:line:column: remark: kernel: text [-Rweft]"; the rest of the log are Clang's warnings.
std::map<std::string, std::vector<Remark>> readLog(const std::string& log) {
  static const std::regex form(R"((?:.*?:(\d+):\d+: )?remark: (\w+): (.*) \[-Rweft\])");
  std::map<std::string, std::vector<Remark>> kernels;
  std::istringstream lines(log);
  std::smatch parts;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, parts, form)) {
      fmt::print(stderr, "{}\n", line);
      continue;
    }
    const unsigned place = parts[1].matched ? static_cast<unsigned>(std::stoul(parts[1])) : 0;
    kernels[parts[2]].push_back({place, parts[3]});
  }
  return kernels;
}

void show(const std::string& kernel, std::vector<Remark> remarks) {
  fmt::print("{}\n", kernel);
  std::stable_sort(remarks.begin(), remarks.end(),
                   [](const Remark& a, const Remark& b) { return a.line < b.line; });
  for (const Remark& remark : remarks)
    if (remark.line)
      fmt::print("  line {:<5} {}\n", remark.line, remark.text);
    else
      fmt::print("  {}\n", remark.text);
  if (remarks.empty()) fmt::print("  one lane at a time\n");
}

}  // namespace

int run(const Options& options) {
  std::vector<cl::Device> devices;
  choosePlatform().getDevices(CL_DEVICE_TYPE_CPU, &devices);
  const cl::Context context(devices.front());
  const cl::Program program(context, readFile(options.source));
  const std::string folder = std::filesystem::absolute(options.source).parent_path().string();
  program.build(devices.front(), ("-Rweft -I \"" + folder + "\" " + options.options).c_str());
  auto kernels = readLog(program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(devices.front()));
  std::istringstream names(program.getInfo<CL_PROGRAM_KERNEL_NAMES>());
  for (std::string name; std::getline(names, name, ';');) show(name, kernels[name]);
  return 0;
}

}  // namespace weft::tools::explain
