// weft-bench: measures the OpenCL implementation that the ICD loader finds.
#include <cstdio>

#include "bench/runtime.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    const cl::Device& device = weft::bench::runtime().device;
    const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
    benchmark::AddCustomContext("platform", platform.getInfo<CL_PLATFORM_NAME>());
    benchmark::AddCustomContext("platform_version", platform.getInfo<CL_PLATFORM_VERSION>());
    benchmark::AddCustomContext("device", device.getInfo<CL_DEVICE_NAME>());
    benchmark::RunSpecifiedBenchmarks();
  } catch (const cl::BuildError& error) {
    for (const auto& [device, log] : error.getBuildLog()) std::fprintf(stderr, "%s\n", log.c_str());
    return 1;
  } catch (const cl::Error& error) {
    std::fprintf(stderr, "weft-bench: %s failed: %d\n", error.what(), error.err());
    return 1;
  }
  return 0;
}
