#include "tests/backends/hip/mock_kernels.h"

#include <cstring>

#include "backends/hip/clock.h"
#include "core/ports/launch.h"

namespace weft::test {
namespace {

using Values = MockKernel::Values;
using Dim = MockKernel::Dim;
constexpr size_t hidden = sizeof(port::GpuLaunch);

template <class T>
T as(const std::vector<std::byte>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Calls visit(id) with the id of each work-item relative to the NDRange's offset.
template <class Visit>
void forEachItem(const port::GpuLaunch& launch, Dim grid, Dim block, Visit&& visit) {
  std::array<uint64_t, 3> n{}, from{};
  for (size_t d = 0; d < 3; ++d) n[d] = uint64_t(grid[d]) * block[d];
  for (size_t d = 0; d < 3; ++d) from[d] = launch.box.begin[d] * launch.record.local_size[d];
  for (uint64_t z = 0; z < n[2]; ++z)
    for (uint64_t y = 0; y < n[1]; ++y)
      for (uint64_t x = 0; x < n[0]; ++x)
        visit(std::array<uint64_t, 3>{from[0] + x, from[1] + y, from[2] + z});
}

void empty(const Values&, Dim, Dim, unsigned) {}

void addOne(const Values& v, Dim grid, Dim block, unsigned) {
  const auto launch = as<port::GpuLaunch>(v.back());
  auto* const data = as<uint32_t*>(v[0]);
  forEachItem(launch, grid, block,
              [&](const auto& id) { data[launch.record.global_offset[0] + id[0]] += 1; });
}

void axpy(const Values& v, Dim grid, Dim block, unsigned) {
  const auto launch = as<port::GpuLaunch>(v.back());
  auto* const y = as<float*>(v[0]);
  const auto* const x = as<const float*>(v[1]);
  const auto a = as<float>(v[2]);
  const auto n = as<uint64_t>(v[3]);
  forEachItem(launch, grid, block, [&](const auto& id) {
    const uint64_t i = launch.record.global_offset[0] + id[0];
    if (i < n) y[i] = a * x[i] + y[i];
  });
}

void cover(const Values& v, Dim grid, Dim block, unsigned) {
  const auto launch = as<port::GpuLaunch>(v.back());
  auto* const count = as<uint32_t*>(v[0]);
  auto* const blocks = as<uint32_t*>(v[1]);
  const auto& size = launch.record.global_size;
  forEachItem(launch, grid, block, [&](const auto& id) {
    const uint64_t i = id[0] + size[0] * (id[1] + size[1] * id[2]);
    count[i] += 1;
    blocks[i] = block[0] + 1000 * block[1] + 1000000 * block[2];
  });
}

void reverse(const Values& v, Dim grid, Dim block, unsigned shared) {
  const auto launch = as<port::GpuLaunch>(v.back());
  auto* const out = as<uint64_t*>(v[0]);
  auto* const offsets = as<uint64_t*>(v[1]);
  const auto a = as<uint64_t>(v[2]), b = as<uint64_t>(v[3]);
  std::vector<uint64_t> memory(shared / 8 + 1);
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  auto* const pa = reinterpret_cast<uint32_t*>(bytes + a);
  auto* const pb = reinterpret_cast<uint64_t*>(bytes + b);
  const unsigned n = block[0];
  for (uint64_t g = 0; g < grid[0]; ++g) {
    for (unsigned t = 0; t < n; ++t) pa[t] = t;
    for (unsigned t = 0; t < n; ++t) pb[t] = 1000 + t;
    for (unsigned t = 0; t < n; ++t)
      out[launch.record.global_offset[0] + (launch.box.begin[0] + g) * n + t] =
          pa[n - 1 - t] + 10000 * pb[n - 1 - t];
  }
  offsets[0] = a;
  offsets[1] = b;
}

void spin(const Values& v, Dim, Dim, unsigned) {
  const auto end = hip::hostNow() + as<uint64_t>(v[0]);
  while (hip::hostNow() < end) {
  }
  as<uint32_t*>(v[1])[0] += 1;
}

const MockKernel kernels[] = {
    {"empty", {hidden}, empty},
    {"add_one", {8, hidden}, addOne},
    {"axpy", {8, 8, 4, 8, hidden}, axpy},
    {"cover", {8, 8, hidden}, cover},
    {"reverse", {8, 8, 8, 8, hidden}, reverse},
    {"spin", {8, 8, hidden}, spin},
    {"fault", {8, hidden}, empty},
};

}  // namespace

const MockKernel* findMockKernel(const std::string& name) {
  for (const MockKernel& kernel : kernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace weft::test
