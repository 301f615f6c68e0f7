// weft-bench-build small|math: builds a program once, in this new process, and prints
//   ms from clBuildProgram to clCreateKernel's return
//   ms from clBuildProgram to the end of the first launch
//   ms from the first OpenCL call to clCreateKernel's return
//   1 if this process has libLLVM mapped, else 0
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace {

constexpr const char* small_source = R"(
kernel void run(global float* y, global const float* x, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
)";

constexpr const char* math_source = R"(
kernel void run(global float* y, global const float* x, float a) {
  size_t i = get_global_id(0);
  y[i] = exp(-a * x[i]) + pow(x[i], 1.5f) + log(1.0f + y[i]);
}
)";

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

bool isMapped(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

void measure(const char* source) {
  const auto start = Clock::now();
  cl::Context context(CL_DEVICE_TYPE_DEFAULT);
  cl::CommandQueue queue(context);
  cl::Program program(context, source);

  const auto build = Clock::now();
  program.build();
  cl::Kernel kernel(program, "run");
  const auto built = Clock::now();

  constexpr size_t count = 1024;
  cl::Buffer x(context, CL_MEM_READ_WRITE, count * sizeof(float));
  cl::Buffer y(context, CL_MEM_READ_WRITE, count * sizeof(float));
  queue.enqueueFillBuffer(x, 1.0f, 0, count * sizeof(float));
  queue.enqueueFillBuffer(y, 1.0f, 0, count * sizeof(float));
  kernel.setArg(0, y);
  kernel.setArg(1, x);
  kernel.setArg(2, 1.0f);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(count), cl::NDRange(64));
  queue.finish();
  std::printf("%.4f %.4f %.4f %d\n", milliseconds(build, built), milliseconds(build, Clock::now()),
              milliseconds(start, built), isMapped("libLLVM"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(argc > 1 && std::strcmp(argv[1], "math") == 0 ? math_source : small_source);
    return 0;
  } catch (const cl::Error& error) {
    std::fprintf(stderr, "weft-bench-build: %s failed: %d\n", error.what(), error.err());
  }
  return 1;
}
