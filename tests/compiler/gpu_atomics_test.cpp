// What GPUs' code has for atomic operations, and around them.
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;
using test::count;

class GpuAtomicsTest : public test::CompilerTest {
 protected:
  std::string ptx(const std::string& source) {
    port::CompileRequest made = request(source, "-cl-std=CL3.0");
    made.target = {port::TargetKind::nvptx, "sm_80", ""};
    for (const char* name : {"generic_address_space", "atomic_order_acq_rel",
                             "atomic_order_seq_cst", "atomic_scope_device"})
      made.features.feature_macros.push_back(std::string("__opencl_c_") + name);
    const auto result = compiler().build(made);
    EXPECT_TRUE(result.ok) << result.log;
    const Image image = readImage(result.image).value_or(Image{});
    return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
  }
};

// Clang's atomic functions take pointers to volatile.
TEST_F(GpuAtomicsTest, KnowLocalMemory) {
  const std::string text = ptx("kernel void f(local atomic_int* a) { atomic_fetch_add(a, 2); }");
  EXPECT_TRUE(contains(text, "atom.shared.add")) << text;
}

TEST_F(GpuAtomicsTest, ArePlainOnWhatAWorkItemOwns) {
  const std::string text =
      ptx("kernel void f(global int* out) {\n"
          "  int own = out[1], old = 3;\n"
          "  atomic_fetch_add((volatile atomic_int*)&own, 2);\n"
          "  atomic_compare_exchange_strong((volatile atomic_int*)&own, &old, 4);\n"
          "  out[0] = own;\n"
          "}");
  EXPECT_FALSE(contains(text, "atom.")) << text;
}

// The first work-item's sum is known not to change, which LLVM makes something of.
TEST_F(GpuAtomicsTest, TakeNoBarriersAlong) {
  const std::string text =
      ptx("kernel void f(global int* out) {\n"
          "  local int sum;\n"
          "  const int id = get_local_id(0);\n"
          "  if (id == 0) sum = 0;\n"
          "  barrier(CLK_LOCAL_MEM_FENCE);\n"
          "  atomic_fetch_add((volatile local atomic_int*)&sum, id);\n"
          "  barrier(CLK_LOCAL_MEM_FENCE);\n"
          "  out[get_global_id(0)] = sum;\n"
          "}");
  EXPECT_EQ(count(text, "bar.sync"), 2u) << text;
}

}  // namespace
}  // namespace weft
