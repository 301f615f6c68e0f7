// Results that programs rely on to stay within a function's range: the square root of 1 - cos(x)^2,
// or the arc cosine of what a cosine went into, is no number as soon as a cosine is beyond 1.
#include <bit>
#include <string>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class MathRange : public Programs {
 protected:
  // How many of `count` numbers from the bits `first` on, so many steps from each other, have a
  // result beyond one.
  template <class Bits>
  cl_uint beyondOne(const std::string& results, Bits first, Bits count, Bits step) {
    const char* const types = sizeof(Bits) == sizeof(cl_ulong)
                                  ? "-DT=double -DT2=double2 -DB=ulong -DAS=as_double"
                                  : "-DT=float -DT2=float2 -DB=uint -DAS=as_float";
    const OwnedKernel k = kernel(built(R"(
      kernel void k(global uint* beyond, B first, B count, B step) {
        uint found = 0;
        for (B i = get_global_id(0); i < count; i += get_global_size(0)) {
          const T x = AS(first + i * step);
          T c = 0;
          const T2 r = (T2)()" + results + R"();
          found += any(fabs(r) > 1) || fabs(c) > 1;
        }
        if (found) atomic_add(beyond, found);
      })",
                                       types),
                                 "k");
    const OwnedMem beyond = upload(std::vector<cl_uint>(1));
    set(k, beyond, first, count, step);
    run(k, {{4096}});
    return download<cl_uint>(beyond).front();
  }
};

// One number's sine and cosine are not computed as either alone is.
constexpr const char* sines[] = {"sin(x), 0", "cos(x), 0", "sin(x), cos(x)", "sincos(x, &c), 0"};

// Every float of an interval in which a sine, a cosine or both come to 1.
TEST_F(MathRange, SinesAndCosinesAreNotBeyondOne) {
  const std::pair<float, float> intervals[] = {
      {0x1p-14f, 0x1.8p-13f}, {1.5f, 1.65f}, {3.1f, 3.2f}, {6.2f, 6.4f}, {131000.0f, 131072.0f}};
  for (const std::string results :
       {sines[0], sines[1], sines[2], sines[3], "half_sin(x), half_cos(x)"})
    for (const auto& [from, to] : intervals) {
      const auto first = std::bit_cast<cl_uint>(from);
      EXPECT_EQ(beyondOne(results, first, std::bit_cast<cl_uint>(to) - first, 1u), 0u)
          << results << ": " << from << " to " << to;
    }
}

TEST_F(MathRange, NorAreThoseOfDouble) {
  constexpr cl_ulong count = 1 << 18;
  for (const char* results : sines)
    for (const double middle : {0x1p-27, 0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1,
                                0x1.2d97c7f3321d2p+2, 1e8 * 0x1.921fb54442d18p+0})
      for (const cl_ulong step : {cl_ulong(1), cl_ulong(0x3fff1)}) {
        const cl_ulong first = std::bit_cast<cl_ulong>(middle) - count / 2 * step;
        EXPECT_EQ(beyondOne(results, first, count, step), 0u) << results << ": " << middle;
      }
}

}  // namespace
}  // namespace weft::e2e
