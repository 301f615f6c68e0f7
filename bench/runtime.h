// The implementation under test, as the benchmarks use it: the first device of the first platform
// that the ICD loader offers (choose with OCL_ICD_VENDORS).
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <benchmark/benchmark.h>

#include <CL/opencl.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace weft::bench {

inline constexpr size_t mebibyte = 1 << 20;

enum class Order { in_order, out_of_order };

struct Runtime {
  Runtime();
  cl::CommandQueue queue(Order order = Order::in_order) const;
  // Builds the source; throws cl::BuildError.
  cl::Kernel kernel(std::string_view source, const char* name, const char* options = "") const;
  cl::Buffer buffer(size_t bytes) const;

  cl::Device device;
  cl::Context context;
};

// Made on first use and never destroyed: what exit costs is not measured.
const Runtime& runtime();

// The benchmark's own result is wrong: it is reported as an error, not as a time.
void reportWrong(benchmark::State& state);

using Registered = benchmark::internal::Benchmark*;

// Registers a benchmark; what it throws becomes its own error and the others go on. `function`
// takes the state, then `values`.
template <class F, class... T>
Registered add(const char* name, F function, T... values) {
  auto run = [=](benchmark::State& state) {
    try {
      function(state, values...);
    } catch (const cl::Error& error) {
      state.SkipWithError((std::string(error.what()) + " " + std::to_string(error.err())).c_str());
    }
  };
  return benchmark::RegisterBenchmark(name, run)->UseRealTime();
}

// A launch through the C interface, without the wrapper's vectors.
inline void launch(const cl::CommandQueue& queue, const cl::Kernel& kernel, size_t global,
                   size_t local, cl_uint wait_count = 0, const cl_event* waits = nullptr,
                   cl_event* event = nullptr) {
  const cl_int status = clEnqueueNDRangeKernel(queue(), kernel(), 1, nullptr, &global,
                                               local ? &local : nullptr, wait_count, waits, event);
  if (status != CL_SUCCESS) throw cl::Error(status, "clEnqueueNDRangeKernel");
}

inline void setArgument(const cl::Kernel& kernel, cl_uint index, cl_int value) {
  const cl_int status = clSetKernelArg(kernel(), index, sizeof value, &value);
  if (status != CL_SUCCESS) throw cl::Error(status, "clSetKernelArg");
}

}  // namespace weft::bench
