// Which kernels can tell how their work-items are grouped, out of real compiles.
#include <map>

#include "tests/compiler/fixture.h"

namespace weft::test {
namespace {

class GroupObserversTest : public CompilerTest {
 protected:
  // By the name of the kernel.
  std::map<std::string, bool> observersOf(const std::string& source) {
    port::CompileRequest asked = request(source, "-cl-std=CL3.0");
    asked.features.feature_macros = {"__opencl_c_work_group_collective_functions"};
    const port::CompileResult result = compiler().build(asked);
    EXPECT_TRUE(result.ok) << result.log;
    const auto image = readImage(result.image);
    std::map<std::string, bool> observers;
    if (image)
      for (const KernelInfo& kernel : image->kernels)
        observers[kernel.name] = kernel.observes_groups;
    return observers;
  }
};

TEST_F(GroupObserversTest, AreThoseThatAskOrMeet) {
  const auto observers = observersOf(R"(
    size_t place(void) { return get_local_id(0); }
    kernel void local_id(global int* out) { out[get_global_id(0)] = place(); }
    kernel void group_id(global int* out) { out[get_global_id(0)] = get_group_id(0); }
    kernel void groups(global int* out) { out[get_global_id(0)] = get_num_groups(0); }
    kernel void size(global int* out) { out[get_global_id(0)] = get_local_size(0); }
    kernel void enqueued(global int* out) { out[get_global_id(0)] = get_enqueued_local_size(0); }
    kernel void linear(global int* out) { out[get_global_id(0)] = get_local_linear_id(); }
    kernel void meets(global int* out) {
      out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); out[get_global_id(0) ^ 1] += 1; }
    kernel void shares(global int* out) {
      local int sum; sum = 1; out[get_global_id(0)] = sum; }
    kernel void borrows(global int* out, local int* own) { out[get_global_id(0)] = 1; }
    kernel void votes(global int* out) { out[get_global_id(0)] = work_group_all(out[0]); }
    kernel void copies(global int* out, local int* own) {
      wait_group_events(0, 0); async_work_group_copy(own, out, 4, 0); }
  )");
  EXPECT_EQ(observers.size(), 11u);
  for (const auto& [name, observes] : observers) EXPECT_TRUE(observes) << name;
}

TEST_F(GroupObserversTest, AreNotThoseThatKnowTheRange) {
  const auto observers = observersOf(R"(
    constant float table[4] = {1, 2, 3, 4};
    kernel void ids(global int* out) {
      out[get_global_id(0)] =
          get_global_linear_id() + get_global_size(1) - get_global_offset(0) + get_work_dim(); }
    kernel void loops(global float* out, int n) {
      for (int k = 0; k < n; ++k) out[get_global_id(0)] *= table[k & 3]; }
    kernel void sine(global float* out) { out[get_global_id(0)] = sin(out[1]); }
    kernel void power(global float* out) { out[get_global_id(0)] = pow(out[1], 1.5f); }
    kernel void fused(global float* out) {
      out[get_global_id(0)] = fma(out[3], out[4], sqrt(out[5])) + exp(out[6]); }
    kernel void vectors(global float4* out) {
      out[get_global_id(0)] = normalize(vload4(0, (global float*)out)) + convert_float4(as_int4(out[1])); }
    kernel void counts(global int* out) { atomic_inc(out + get_global_id(0) % 7); }
    kernel void unused(global int* out) { size_t l = get_local_id(0); out[get_global_id(0)] = 1; }
  )");
  EXPECT_EQ(observers.size(), 8u);
  for (const auto& [name, observes] : observers) EXPECT_FALSE(observes) << name;
}

}  // namespace
}  // namespace weft::test
