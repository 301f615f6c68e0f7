// A first set of kernels. Each is run and compared with the host once before it is measured.
#include <cmath>
#include <vector>

#include "bench/kernels/source.h"
#include "bench/runtime.h"

namespace weft::bench {
namespace {

std::vector<float> numbers(size_t count, cl_uint seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / (1 << 24);
  }
  return values;
}

bool near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

// A kernel with its buffers, ready to launch.
class Case {
 public:
  explicit Case(const char* name) : kernel_(runtime().kernel(kernel_source, name)) {}

  cl::Buffer& input(std::vector<float> host) {
    buffers_.push_back(runtime().buffer(host.size() * sizeof(float)));
    queue_.enqueueWriteBuffer(buffers_.back(), CL_TRUE, 0, host.size() * sizeof(float),
                              host.data());
    kernel_.setArg(arguments_++, buffers_.back());
    return buffers_.back();
  }
  void output(size_t count) { input(std::vector<float>(count, 0.0f)); }
  template <class T>
  void value(const T& value) {
    kernel_.setArg(arguments_++, value);
  }

  void range(cl::NDRange global, cl::NDRange local = cl::NullRange) {
    global_ = global;
    local_ = local;
  }
  void run() {
    queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, global_, local_);
    queue_.finish();
  }
  std::vector<float> contents(size_t argument, size_t count) {
    std::vector<float> host(count);
    queue_.enqueueReadBuffer(buffers_[argument], CL_TRUE, 0, count * sizeof(float), host.data());
    return host;
  }

  // Measures when the first run was right.
  void measure(benchmark::State& state, bool right) {
    if (!right) {
      reportWrong(state);
      return;
    }
    for (auto _ : state) run();
  }

 private:
  cl::CommandQueue queue_ = runtime().queue();
  cl::Kernel kernel_;
  std::vector<cl::Buffer> buffers_;
  cl_uint arguments_ = 0;
  cl::NDRange global_, local_;
};

void triad(benchmark::State& state) {
  constexpr size_t count = 8 << 20;
  const auto b = numbers(count, 1), c = numbers(count, 2);
  Case test("triad");
  test.output(count);
  test.input(b);
  test.input(c);
  test.value(3.0f);
  test.range({count});
  test.run();
  const auto a = test.contents(0, count);
  bool right = true;
  for (size_t i = 0; i < count; ++i) right = right && near(a[i], b[i] + 3.0f * c[i], 1e-6);
  test.measure(state, right);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * count * 3 * sizeof(float)));
}

void nbody(benchmark::State& state) {
  constexpr int count = 2048, group = 64;
  const auto position = numbers(4 * count, 3);
  Case test("nbody");
  test.input(position);
  test.output(4 * count);
  test.value(cl::Local(group * 4 * sizeof(float)));
  test.value(count);
  test.range({count}, {group});
  test.run();
  const auto acceleration = test.contents(1, 4 * count);
  bool right = true;
  for (int i = 0; i < count; i += 97) {
    double x = 0;
    for (int k = 0; k < count; ++k) {
      double square = 0.01;
      for (int j = 0; j < 3; ++j) square += std::pow(position[4 * k + j] - position[4 * i + j], 2);
      x += (position[4 * k] - position[4 * i]) * position[4 * k + 3] / (square * std::sqrt(square));
    }
    right = right && near(acceleration[4 * i], x, 1e-3);
  }
  test.measure(state, right);
  state.SetItemsProcessed(state.iterations() * count * count);
}

void matmul(benchmark::State& state, const char* name, int n) {
  const auto a = numbers(n * n, 4), b = numbers(n * n, 5);
  Case test(name);
  test.input(a);
  test.input(b);
  test.output(n * n);
  test.value(n);
  test.range({static_cast<size_t>(n), static_cast<size_t>(n)}, {16, 16});
  test.run();
  const auto c = test.contents(2, n * n);
  bool right = true;
  for (int i = 0; i < n * n; i += 101) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += static_cast<double>(a[i / n * n + k]) * b[k * n + i % n];
    right = right && near(c[i], sum, 1e-4);
  }
  test.measure(state, right);
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}

void reduction(benchmark::State& state) {
  constexpr size_t count = 16 << 20, groups = 64, group = 256;
  const auto in = numbers(count, 6);
  Case test("reduction");
  test.input(in);
  test.output(groups);
  test.value(cl::Local(group * sizeof(float)));
  test.value(static_cast<int>(count));
  test.range({groups * group}, {group});
  test.run();
  double expected = 0, sum = 0;
  for (float v : in) expected += v;
  for (float v : test.contents(1, groups)) sum += v;
  test.measure(state, near(sum, expected, 1e-5));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * count * sizeof(float)));
}

void stencil(benchmark::State& state) {
  constexpr int width = 2048, height = 2048;
  const auto in = numbers(width * height, 7);
  Case test("stencil");
  test.input(in);
  test.output(width * height);
  test.value(width);
  test.value(height);
  test.range({width, height});
  test.run();
  const auto out = test.contents(1, width * height);
  bool right = out[5] == 0;
  for (int i = width + 1; i < width * (height - 1) - 1; ++i) {
    if (i % width == 0 || i % width == width - 1) continue;
    right =
        right &&
        near(out[i],
             0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]), 1e-6);
  }
  test.measure(state, right);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * 2 * width * height *
                          static_cast<int64_t>(sizeof(float)));
}

void nearlyEmpty(benchmark::State& state) {
  constexpr size_t groups = 20000, group = 64;
  Case test("nearly_empty");
  test.output(1);
  test.range({groups * group}, {group});
  test.run();
  // The kernel counts in an integer: one is the smallest denormal as a float.
  const float counted = test.contents(0, 1)[0];
  test.measure(state, counted == std::nextafter(0.0f, 1.0f));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * groups));
}

[[maybe_unused]] const Registered registered[] = {
    add("kernel/triad", triad)->Unit(benchmark::kMillisecond),
    add("kernel/nbody", nbody)->Unit(benchmark::kMillisecond),
    add("kernel/matmul_tiled", matmul, "matmul_tiled", 512)->Unit(benchmark::kMillisecond),
    add("kernel/matmul_naive", matmul, "matmul_naive", 512)->Unit(benchmark::kMillisecond),
    add("kernel/reduction", reduction)->Unit(benchmark::kMillisecond),
    add("kernel/stencil", stencil)->Unit(benchmark::kMillisecond),
    add("kernel/nearly_empty_20k_groups", nearlyEmpty)->Unit(benchmark::kMillisecond),
};

}  // namespace
}  // namespace weft::bench
