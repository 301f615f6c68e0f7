// One kernel on all devices of a platform, on the unified device and on each of its members alone:
//   WEFT_UNIFIED=1 [WEFT_UNIFIED_DEVICES=1,2] weft-bench-balance [SCALE [KERNEL...]] | short
// Prints for each kernel the best member's first and least time, the unified device's, and the part
// of the sum of all members' own speeds that it achieves. Results are compared with the best
// member's, but for those of software GPUs whose kernels take a set time and compute nothing.
//   short: launches of saxpy over few and many floats, waited for one by one and 20 at a time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "bench/unified.h"

namespace {

constexpr const char* source = R"(
kernel void nbody(global const float4* bodies, global float4* forces, uint count) {
  const size_t i = get_global_id(0);
  const float4 me = bodies[i];
  float3 force = (float3)(0);
  for (uint j = 0; j < count; ++j) {
    const float4 other = bodies[j];
    const float3 d = other.xyz - me.xyz;
    const float r = rsqrt(dot(d, d) + 0.01f);
    force += d * (other.w * r * r * r);
  }
  forces[i] = (float4)(force, 0);
}
kernel void matmul(global const float* a, global const float* b, global float* c, uint n) {
  local float ta[16][16], tb[16][16];
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; k += 16) {
    ta[y][x] = a[row * n + k + x];
    tb[y][x] = b[(k + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 16; ++i) sum += ta[y][i] * tb[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
kernel void mandelbrot(global uint* out, uint width, uint height, uint most) {
  const size_t x = get_global_id(0), y = get_global_id(1);
  const float cx = (float)x / width * 3.0f - 2.0f, cy = (float)y / height * 2.0f - 1.0f;
  float zx = 0, zy = 0;
  uint n = 0;
  for (; n < most && zx * zx + zy * zy < 4.0f; ++n) {
    const float t = zx * zx - zy * zy + cx;
    zy = 2.0f * zx * zy + cy;
    zx = t;
  }
  out[y * width + x] = n;
}
kernel void stencil(global const float* in, global float* out, uint width, uint height) {
  const size_t x = get_global_id(0), y = get_global_id(1);
  const size_t i = y * width + x;
  float sum = in[i];
  if (x > 0 && y > 0 && x + 1 < width && y + 1 < height)
    sum = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
  out[i] = sum;
}
kernel void inner_stencil(global const float* in, global float* out, uint width, uint height) {
  const size_t x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= height) return;
  const size_t i = y * width + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}
kernel void image_stencil(read_only image2d_t in, write_only image2d_t out) {
  const sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float4 sum = read_imagef(in, edge, at) + read_imagef(in, edge, at + (int2)(-1, 0)) +
                     read_imagef(in, edge, at + (int2)(1, 0)) +
                     read_imagef(in, edge, at + (int2)(0, -1)) +
                     read_imagef(in, edge, at + (int2)(0, 1));
  write_imagef(out, at, 0.2f * sum);
}
kernel void saxpy(global const float* x, global float* y, float a) {
  const size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
)";

using Clock = std::chrono::steady_clock;

// A device with the program and the kernels' memory.
class Setting {
 public:
  Setting(const cl::Device& device, size_t scale)
      : context(device),
        queue(context, device),
        program(context, std::string(source)),
        scale(scale) {
    program.build(device, "-cl-mad-enable");
  }

  cl::Buffer buffer(size_t floats) {
    std::vector<float> values(floats);
    unsigned state = 1;
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) / (1 << 24);
    }
    const cl::Buffer made(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, floats * sizeof(float),
                          values.data());
    memory.push_back(made);
    return made;
  }
  std::vector<float> read(const cl::Buffer& buffer) {
    std::vector<float> values(buffer.getInfo<CL_MEM_SIZE>() / sizeof(float));
    queue.enqueueReadBuffer(buffer, true, 0, values.size() * sizeof(float), values.data());
    return values;
  }

  cl::Context context;
  cl::CommandQueue queue;
  cl::Program program;
  std::vector<cl::Memory> memory;  // kernels do not keep their arguments
  size_t scale;                    // of the work, more or less
};

// Of one setting: makes memory, and gives what launches and what holds the result.
struct Work {
  std::function<void()> launch;
  cl::Buffer result;
};

template <class... Arguments>
cl::Kernel kernel(const Setting& s, const char* name, const Arguments&... arguments) {
  cl::Kernel made(s.program, name);
  cl_uint index = 0;
  (made.setArg(index++, arguments), ...);
  return made;
}

Work nbody(Setting& s) {
  const size_t n = 16384 * static_cast<size_t>(std::sqrt(s.scale));
  const cl::Buffer bodies = s.buffer(4 * n), forces = s.buffer(4 * n);
  const cl::Kernel k = kernel(s, "nbody", bodies, forces, static_cast<cl_uint>(n));
  return {[&s, k, n] { s.queue.enqueueNDRangeKernel(k, {}, n, 256); }, forces};
}

Work matmul(Setting& s) {
  const size_t n = (static_cast<size_t>(1024 * std::cbrt(s.scale)) + 63) / 64 * 64;
  const cl::Buffer a = s.buffer(n * n), b = s.buffer(n * n), c = s.buffer(n * n);
  const cl::Kernel k = kernel(s, "matmul", a, b, c, static_cast<cl_uint>(n));
  return {[&s, k, n] { s.queue.enqueueNDRangeKernel(k, {}, {n, n}, {16, 16}); }, c};
}

Work mandelbrot(Setting& s) {
  // More pixels rather than more turns: one pixel is one work-item's.
  const size_t side = static_cast<size_t>(std::sqrt(s.scale));
  const size_t width = 1024 * side, height = 768 * side;
  const cl::Buffer out = s.buffer(width * height);
  const cl::Kernel k =
      kernel(s, "mandelbrot", out, cl_uint(width), cl_uint(height), static_cast<cl_uint>(800));
  return {
      [&s, k, width, height] { s.queue.enqueueNDRangeKernel(k, {}, {width, height}, {16, 16}); },
      out};
}

size_t stencilHeight(const Setting& s) { return 1024 * static_cast<size_t>(std::sqrt(s.scale)); }

// From one to the other and back.
Work iterated(Setting& s, const cl::Kernel& there, const cl::Kernel& back, size_t width,
              size_t height, const cl::Buffer& result) {
  return {[&s, there, back, width, height] {
            for (int i = 0; i < 50; ++i)
              for (const cl::Kernel& k : {there, back})
                s.queue.enqueueNDRangeKernel(k, {}, {width, height}, {32, 8});
          },
          result};
}

Work stencilOf(Setting& s, const char* name, size_t width) {
  const size_t height = stencilHeight(s);
  const cl::Buffer one = s.buffer(width * height), two = s.buffer(width * height);
  const auto there = kernel(s, name, one, two, cl_uint(width), static_cast<cl_uint>(height));
  const auto back = kernel(s, name, two, one, cl_uint(width), static_cast<cl_uint>(height));
  return iterated(s, there, back, width, height, one);
}

Work stencil(Setting& s) { return stencilOf(s, "stencil", 2048); }

Work wideStencil(Setting& s) { return stencilOf(s, "stencil", 8192); }

// What it writes has gaps where the edges are.
Work innerStencil(Setting& s) { return stencilOf(s, "inner_stencil", 2048); }

// On images that lie in buffers.
Work imageStencil(Setting& s) {
  // As many pixels; some devices' images are no higher.
  const size_t height = std::min<size_t>(stencilHeight(s), 16384);
  const size_t width = 2048 * stencilHeight(s) / height;
  const cl::Buffer buffers[] = {s.buffer(width * height), s.buffer(width * height)};
  std::vector<cl::Image2D> images;
  for (const cl::Buffer& buffer : buffers)
    images.emplace_back(s.context, cl::ImageFormat(CL_R, CL_FLOAT), buffer, width, height);
  s.memory.insert(s.memory.end(), images.begin(), images.end());
  const auto there = kernel(s, "image_stencil", images[0], images[1]);
  const auto back = kernel(s, "image_stencil", images[1], images[0]);
  return iterated(s, there, back, width, height, buffers[0]);
}

Work saxpy(Setting& s) {
  const size_t n = size_t(1) << 22;
  const cl::Buffer x = s.buffer(n), y = s.buffer(n);
  const cl::Kernel k = kernel(s, "saxpy", x, y, 0.5f);
  return {[&s, k, n] { s.queue.enqueueNDRangeKernel(k, {}, n, 256); }, y};
}

struct Case {
  const char* name;
  Work (*make)(Setting&);
};
constexpr Case cases[] = {{"n-body", nbody},           {"matrix product", matmul},
                          {"Mandelbrot", mandelbrot},  {"stencil, 100 times", stencil},
                          {"wider", wideStencil},      {"without edges", innerStencil},
                          {"of images", imageStencil}, {"saxpy", saxpy}};

struct Measured {
  double first = 0, third = 0, least = 1e300;  // ms
  std::vector<float> result;
};

Measured measure(Setting& setting, const Case& what) {
  constexpr int launches = 12;
  Measured measured;
  const Work work = what.make(setting);
  for (int i = 0; i < launches; ++i) {
    const auto begin = Clock::now();
    work.launch();
    setting.queue.finish();
    const double time = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (i == 0) measured.first = time;
    if (i == 2) measured.third = time;
    if (i > 2) measured.least = std::min(measured.least, time);
  }
  measured.result = setting.read(work.result);
  return measured;
}

bool same(const std::vector<float>& a, const std::vector<float>& b, const char* name) {
  if (std::strcmp(name, "Mandelbrot") == 0)  // integers, of which rounding may move a few
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0 ||
           std::inner_product(a.begin(), a.end(), b.begin(), size_t{0}, std::plus<>(),
                              [](float x, float y) {
                                return size_t(std::memcmp(&x, &y, 4) != 0);
                              }) < a.size() / 100;
  return std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
    return std::abs(x - y) <= 1e-4f * std::max({1.0f, std::abs(x), std::abs(y)});
  });
}

std::vector<std::string> wanted;  // kernels; none: all

int run(size_t scale) {
  const auto [unified, members, name] = weft::bench::findUnifiedDevice();
  std::printf("%s\n\n%-20s %10s %10s %10s %10s %10s %8s %10s\n", name.c_str(), "kernel",
              "its first", "best, ms", "first, ms", "third, ms", "least, ms", "speedup",
              "efficiency");
  const bool computes = !std::getenv("WEFT_SOFTWARE_GPU_GROUP_NS");
  bool right = true;
  for (const Case& what : cases) {
    if (!wanted.empty() && std::ranges::find(wanted, what.name) == wanted.end()) continue;
    double best = 1e300, first = 0, rate = 0;
    std::vector<float> expected;
    for (const cl::Device& member : members) {
      Setting alone(member, scale);
      Measured measured = measure(alone, what);
      rate += 1 / measured.least;
      if (measured.least >= best) continue;
      best = measured.least;
      first = measured.first;
      expected = std::move(measured.result);
    }
    Setting together(unified, scale);
    const Measured measured = measure(together, what);
    const bool equal = !computes || same(expected, measured.result, what.name);
    right = right && equal;
    std::printf("%-20s %10.3f %10.3f %10.3f %10.3f %10.3f %8.2f %10.2f%s\n", what.name, first, best,
                measured.first, measured.third, measured.least, best / measured.least,
                1 / measured.least / rate,
                !computes ? "  not compared"
                : equal   ? ""
                          : "  DIFFERS");
    std::fflush(stdout);
  }
  return right ? 0 : 1;
}

// us a launch of saxpy over so many floats, with so many launches between two waits: the mean of
// 400 rounds after a first launch.
double shortLaunch(const cl::Device& device, size_t floats, int launches) {
  constexpr int rounds = 400;
  Setting setting(device, 1);
  const cl::Buffer x = setting.buffer(floats), y = setting.buffer(floats);
  const cl::Kernel k = kernel(setting, "saxpy", x, y, 0.5f);
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) setting.queue.enqueueNDRangeKernel(k, {}, floats, 256);
    setting.queue.finish();
  };
  run(1);
  const auto begin = Clock::now();
  for (int round = 0; round < rounds; ++round) run(launches);
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() /
         (rounds * launches);
}

int runShort() {
  const auto [unified, members, name] = weft::bench::findUnifiedDevice();
  std::printf("%s\n\n%10s %8s %10s %13s %8s\n", name.c_str(), "floats", "at once", "best, us",
              "together, us", "speedup");
  for (const unsigned power : {18u, 20u, 21u, 22u, 23u, 24u, 25u})
    for (const int launches : {1, 20}) {
      const size_t floats = size_t{1} << power;
      double best = 1e300;
      for (const cl::Device& member : members)
        best = std::min(best, shortLaunch(member, floats, launches));
      const double together = shortLaunch(unified, floats, launches);
      std::printf("%10zu %8d %10.1f %13.1f %8.2f\n", floats, launches, best, together,
                  best / together);
      std::fflush(stdout);
    }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "short") == 0)
    return weft::bench::runScaled(1, argv, [](size_t) { return runShort(); });
  for (int i = 2; i < argc; ++i) wanted.emplace_back(argv[i]);
  return weft::bench::runScaled(argc, argv, run);
}
