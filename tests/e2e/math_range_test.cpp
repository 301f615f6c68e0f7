// Results that programs rely on to stay within a function's range: the square root of 1 - cos(x)^2,
// or the arc cosine of what a cosine went into, is no number as soon as a cosine is beyond 1.
#include <bit>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

using MathRange = Programs;

// Every float of an interval in which a sine, a cosine or both come to 1.
TEST_F(MathRange, SinesAndCosinesAreNotBeyondOne) {
  const OwnedKernel k = kernel(built(R"(
    kernel void k(global uint* beyond, uint first, uint count) {
      uint found = 0;
      for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        const float x = as_float(first + i);
        float c;
        const float s = sincos(x, &c);
        const float4 both = fabs((float4)(sin(x), cos(x), s, c));
        const float2 rough = fabs((float2)(half_sin(x), half_cos(x)));
        found += any(both > 1.0f) || any(rough > 1.0f);
      }
      if (found) atomic_add(beyond, found);
    })"),
                               "k");
  const std::pair<float, float> intervals[] = {
      {0x1p-14f, 0x1.8p-13f}, {1.5f, 1.65f}, {3.1f, 3.2f}, {6.2f, 6.4f}, {131000.0f, 131072.0f}};
  for (const auto& [from, to] : intervals) {
    const OwnedMem beyond = upload(std::vector<cl_uint>(1));
    const auto first = std::bit_cast<cl_uint>(from);
    set(k, beyond, first, std::bit_cast<cl_uint>(to) - first);
    run(k, {{4096}});
    EXPECT_EQ(download<cl_uint>(beyond), std::vector<cl_uint>{0}) << from << " to " << to;
  }
}

}  // namespace
}  // namespace weft::e2e
