// Times a kernel with its events: when it was queued, submitted, started and done.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <cstdio>
#include <vector>

namespace {

constexpr const char* source = R"(
kernel void mandelbrot(global uint* steps, uint width, uint height, uint limit) {
  const uint x = get_global_id(0), y = get_global_id(1);
  const float cr = 3.0f * x / width - 2.0f, ci = 2.0f * y / height - 1.0f;
  float zr = 0, zi = 0;
  uint n = 0;
  while (n < limit && zr * zr + zi * zi < 4.0f) {
    const float t = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = t;
    ++n;
  }
  steps[y * width + x] = n;
}
)";

struct Times {
  cl_ulong queued, submitted, started, ended;
  bool inOrder() const { return queued <= submitted && submitted <= started && started <= ended; }
};

Times timesOf(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_QUEUED>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_SUBMIT>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

int run() {
  constexpr cl_uint width = 768, height = 512;
  cl::Context context(CL_DEVICE_TYPE_DEFAULT);
  cl::CommandQueue queue(context, cl::QueueProperties::Profiling);
  cl::Program program(context, source, /*build=*/true);
  cl::Buffer steps(context, CL_MEM_WRITE_ONLY, sizeof(cl_uint) * width * height);
  cl::KernelFunctor<cl::Buffer, cl_uint, cl_uint, cl_uint> mandelbrot(program, "mandelbrot");

  const auto runLimit = [&](cl_uint limit) {
    cl::Event event =
        mandelbrot(cl::EnqueueArgs(queue, cl::NDRange(width, height)), steps, width, height, limit);
    event.wait();
    return timesOf(event);
  };
  runLimit(1);  // the first launch may carry one-time costs

  bool good = true;
  cl_ulong shortest = 0, longest = 0;
  std::puts("steps   waited (us)   ran (us)");
  for (cl_uint limit : {1u, 32u, 1024u}) {
    const Times t = runLimit(limit);
    good = good && t.inOrder();
    const cl_ulong waited = t.started - t.queued, ran = t.ended - t.started;
    if (limit == 1) shortest = ran;
    longest = ran;
    std::printf("%5u  %12.1f %10.1f\n", limit, static_cast<double>(waited) / 1e3,
                static_cast<double>(ran) / 1e3);
  }
  good = good && longest > shortest;
  std::printf("kernel_profiling: %s\n", good ? "times are in order" : "times are not plausible");
  return good ? 0 : 1;
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
