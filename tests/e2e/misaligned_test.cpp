// Addresses that OpenCL C forbids and other implementations put up with.
#include <numeric>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class Misaligned : public Programs {};

// As programs do that were written for GPUs (OpenCL C, 6.3.5). One element off, in each address
// space, through arguments, helpers and structures.
TEST_F(Misaligned, PointersToVectors) {
  if (!(deviceInfo<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU))
    GTEST_SKIP() << "GPUs have rules of their own";
  const OwnedProgram program = built(
      "typedef struct { float4 a, b; } Pair;\n"
      "float4 sum(global const float4* in, local const float4* l) { return in[0] + l[0]; }\n"
      "kernel void k(global const float* in, global float* out, constant float* c) {\n"
      "  local float here[72]; float mine[12];\n"
      "  size_t i = get_global_id(0);\n"
      "  for (int j = get_local_id(0); j < 72; j += get_local_size(0)) here[j] = in[j];\n"
      "  for (int j = 0; j < 12; ++j) mine[j] = in[j + i];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  Pair pair = *(global const Pair*)(in + 1 + i);\n"
      "  float4 all = sum((global const float4*)(in + 1 + i), (local const float4*)(here + 1 + "
      "i))\n"
      "    + ((constant float4*)(c + 1))[1] + ((float4*)(mine + 1))[1] + pair.b;\n"
      "  *(global float4*)(out + 1 + 4 * i) = all;\n"
      "}");
  const OwnedKernel k = kernel(program, "k");
  std::vector<cl_float> in(80);
  std::iota(in.begin(), in.end(), 0.0f);
  const OwnedMem a = upload(in), out = upload(std::vector<cl_float>(260));
  set(k, a, out, a);
  run(k, {{64}, {16}});
  const auto result = download<cl_float>(out);
  for (size_t i = 0; i < 64; ++i)
    for (size_t e = 0; e < 4; ++e) {
      const auto x = static_cast<float>(i), y = static_cast<float>(e);
      ASSERT_EQ(result[1 + 4 * i + e], 2 * (1 + x + y) + (5 + y) + 2 * (5 + x + y)) << i;
    }
}

}  // namespace
}  // namespace weft::e2e
