// y = a x + y through the C++ wrapper, whose errors are exceptions.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr const char* source = R"(
kernel void saxpy(float a, global const float* x, global float* y) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
)";

int run() {
  constexpr size_t count = 1 << 20;
  constexpr float a = 2.5f;
  std::vector<float> x(count), y(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = static_cast<float>(i % 1000) / 8;
    y[i] = static_cast<float>(i % 77);
  }

  cl::Context context(CL_DEVICE_TYPE_DEFAULT);
  cl::CommandQueue queue(context);
  cl::Program program(context, source, /*build=*/true);
  cl::Buffer x_buffer(context, x.begin(), x.end(), /*readOnly=*/true);
  cl::Buffer y_buffer(context, y.begin(), y.end(), /*readOnly=*/false);

  cl::KernelFunctor<float, cl::Buffer, cl::Buffer> saxpy(program, "saxpy");
  saxpy(cl::EnqueueArgs(queue, cl::NDRange(count)), a, x_buffer, y_buffer);

  std::vector<float> result(count);
  cl::copy(queue, y_buffer, result.begin(), result.end());

  float error = 0;
  for (size_t i = 0; i < count; ++i)
    error = std::max(error, std::abs(result[i] - (a * x[i] + y[i])));
  std::printf("saxpy: %zu elements, largest error %g\n", count, error);
  return error <= 1e-4f ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const cl::BuildError& error) {
    for (const auto& [device, log] : error.getBuildLog()) std::fprintf(stderr, "%s\n", log.c_str());
  } catch (const cl::Error& error) {
    std::fprintf(stderr, "%s failed: %d\n", error.what(), error.err());
  }
  return 1;
}
