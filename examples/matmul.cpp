// C = A B with tiles of both matrices in local memory: every element is fetched from global memory
// once a tile instead of once a product.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

// TILE comes from the build options. The sizes need not be multiples of it.
constexpr const char* source = R"(
kernel void matmul(int rows, int columns, int depth, global const float* a, global const float* b,
                   global float* c) {
  local float a_tile[TILE][TILE];
  local float b_tile[TILE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int first = 0; first < depth; first += TILE) {
    a_tile[y][x] = row < rows && first + x < depth ? a[row * depth + first + x] : 0;
    b_tile[y][x] = column < columns && first + y < depth ? b[(first + y) * columns + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += a_tile[y][k] * b_tile[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}
)";

constexpr int tile = 16;
constexpr int rows = 250, columns = 190, depth = 333;

std::vector<float> makeMatrix(size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / (1 << 24) - 0.5f;
  }
  return values;
}

double largestError(const std::vector<float>& a, const std::vector<float>& b,
                    const std::vector<float>& c) {
  double error = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += static_cast<double>(a[row * depth + k]) * b[k * columns + column];
      error = std::max(error, std::abs(sum - c[row * columns + column]));
    }
  return error;
}

int run() {
  cl::Context context(CL_DEVICE_TYPE_DEFAULT);
  cl::CommandQueue queue(context);
  cl::Program program(context, source);
  program.build("-DTILE=16 -cl-mad-enable");

  std::vector<float> a = makeMatrix(size_t{rows} * depth, 1);
  std::vector<float> b = makeMatrix(size_t{depth} * columns, 2);
  std::vector<float> c(size_t{rows} * columns);
  cl::Buffer a_buffer(context, a.begin(), a.end(), /*readOnly=*/true);
  cl::Buffer b_buffer(context, b.begin(), b.end(), /*readOnly=*/true);
  cl::Buffer c_buffer(context, CL_MEM_WRITE_ONLY, c.size() * sizeof(float));

  const auto roundUp = [](int n) { return static_cast<size_t>(n + tile - 1) / tile * tile; };
  cl::KernelFunctor<int, int, int, cl::Buffer, cl::Buffer, cl::Buffer> matmul(program, "matmul");
  matmul(
      cl::EnqueueArgs(queue, cl::NDRange(roundUp(columns), roundUp(rows)), cl::NDRange(tile, tile)),
      rows, columns, depth, a_buffer, b_buffer, c_buffer);
  cl::copy(queue, c_buffer, c.begin(), c.end());

  const double error = largestError(a, b, c);
  std::printf("matmul: %d x %d x %d, largest error %.1e\n", rows, depth, columns, error);
  return error < 1e-4 ? 0 : 1;
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
