#include "tools/demo/demo.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "tools/demo/picture.h"
#include "tools/demo/pipeline.h"
#include "tools/demo/reference.h"
#include "tools/demo/scene.h"
#include "tools/environment.h"
#include "tools/opencl.h"

namespace weft::tools::demo {
namespace {

// Progress is seen as it happens, also through a pipe.
template <class... T>
void say(fmt::format_string<T...> format, T&&... values) {
  fmt::print(format, std::forward<T>(values)...);
  std::fflush(stdout);
}

class Timer {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// All devices of the platform; where there is only one, a CPU, its two halves, each with memory of
// its own so that data has to move.
std::vector<cl::Device> chooseDevices(const cl::Platform& platform, char** argv) {
  std::vector<cl::Device> devices;
  platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  if (devices.size() != 1) return devices;
  restartWith("WEFT_CPU_PRIVATE_MEMORY", "1", argv);
  const auto units = devices[0].getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  if (units < 2 || devices[0].getInfo<CL_DEVICE_PARTITION_MAX_SUB_DEVICES>() < 2) return devices;
  const cl_device_partition_property halves[] = {
      CL_DEVICE_PARTITION_EQUALLY, static_cast<cl_device_partition_property>(units / 2), 0};
  std::vector<cl::Device> parts;
  devices[0].createSubDevices(halves, &parts);
  say("One device: the demo runs on {} sub-devices of it, each with its own memory.\n",
      parts.size());
  return parts;
}

std::string mebibytes(uint64_t bytes) { return fmt::format("{:.2f}", bytes / (1024.0 * 1024.0)); }

void printReports(const std::vector<DeviceReport>& reports) {
  say("\n{:<34} {:>8} {:>8} {:>9} {:>19} {:>19}\n", "", "", "", "", "MiB in", "MiB out");
  say("{:<34} {:>8} {:>8} {:>9} {:>19} {:>19}\n", "device", "commands", "busy ms", "transfers",
      "moved / needed", "moved / needed");
  for (size_t i = 0; i < reports.size(); ++i) {
    const DeviceReport& r = reports[i];
    const auto moved = [&r](uint64_t bytes, uint64_t needed) {
      return fmt::format("{} / {}", r.has_bytes ? mebibytes(bytes) : "n/a", mebibytes(needed));
    };
    say("{:<34.34} {:>8} {:>8.1f} {:>9} {:>19} {:>19}\n", fmt::format("{} {}", i, r.name),
        r.commands, r.busy_ms, r.has_bytes ? std::to_string(r.transfers) : "n/a",
        moved(r.bytes_in, r.needed_in), moved(r.bytes_out, r.needed_out));
  }
}

// Compares each stage with the reference, given the same input; prints a line for each.
bool checkStages(const Planes& planes, int width, int height) {
  bool good = true;
  say("\n{:<10} {:>13} {:>13}\n", "stage", "allowed diff", "largest diff");
  for (size_t i = 0; i < stages().size(); ++i) {
    const Stage& stage = stages()[i];
    Planes expected;
    referenceStage(i, planes, expected, width, height);
    int largest = 0;
    for (const Plane plane : stage.writes) {
      const auto& a = planes[static_cast<size_t>(plane)];
      const auto& b = expected[static_cast<size_t>(plane)];
      for (size_t k = 0; k < b.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
    }
    const bool fits = largest <= stage.tolerance;
    good = good && fits;
    say("{:<10} {:>13} {:>13}   {}\n", stage.name, stage.tolerance, largest,
        fits ? "right" : "WRONG");
  }
  return good;
}

}  // namespace

int run(const Options& options, char** argv) {
  const cl::Platform platform = choosePlatform();
  const std::vector<cl::Device> devices = chooseDevices(platform, argv);
  say("Platform: {}, {} device{} in one context\n", platform.getInfo<CL_PLATFORM_NAME>(),
      devices.size(), devices.size() == 1 ? "" : "s");

  const Timer picture_timer;
  Picture picture = options.photo.empty() ? paintScene(options.size.first, options.size.second)
                                          : readPicture(options.photo);
  say("Picture:  {} x {} ({:.1f} megapixels), {} in {:.0f} ms\n", picture.width, picture.height,
      picture.count() / 1e6, options.photo.empty() ? "painted" : "read",
      picture_timer.milliseconds());

  const Timer build_timer;
  Pipeline pipeline(platform, devices);
  say("Kernels:  built in {:.0f} ms\n", build_timer.milliseconds());
  const double taken = pipeline.run(picture);
  say("Pipeline: {} stages in {:.0f} ms\n", stages().size(), taken);
  printReports(pipeline.reports());

  const Planes planes = pipeline.readPlanes();
  const bool good = checkStages(planes, picture.width, picture.height);

  const auto& result = planes[static_cast<size_t>(Plane::result)];
  std::memcpy(picture.pixels.data(), result.data(), result.size());
  writePng(options.output, picture);
  say("\nWrote {}\n", options.output);
  say("{}\n", good ? "demo: OK, every stage matches the reference"
                   : "demo: FAILED, a stage differs from the reference");
  return good ? 0 : 1;
}

}  // namespace weft::tools::demo
