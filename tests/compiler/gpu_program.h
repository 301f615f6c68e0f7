// Programs for an NVIDIA GPU, and the PTX that they become.
#pragma once

#include "tests/compiler/fixture.h"

namespace weft::test {

class GpuTest : public CompilerTest {
 protected:
  static port::CompileRequest gpuRequest(const std::string& source,
                                         const std::string& options = {}) {
    port::CompileRequest made = request(source, options);
    made.target = {port::TargetKind::nvptx, "sm_80", ""};
    made.features.fp16 = made.features.images = true;
    for (const char* name : {"cl_khr_extended_async_copies", "cl_khr_integer_dot_product",
                             "cl_ext_float_atomics", "cl_khr_subgroup_ballot"})
      made.features.extensions.emplace_back(name);
    for (const char* name :
         {"generic_address_space", "work_group_collective_functions", "atomic_order_acq_rel",
          "atomic_order_seq_cst", "atomic_scope_device", "3d_image_writes", "read_write_images",
          "subgroups", "integer_dot_product_input_4x8bit",
          "integer_dot_product_input_4x8bit_packed", "ext_fp32_global_atomic_add",
          "ext_fp32_local_atomic_min_max"})
      made.features.feature_macros.push_back(std::string("__opencl_c_") + name);
    return made;
  }
  Image gpuImage(const std::string& source, const std::string& options = {}) {
    const auto result = compiler().build(gpuRequest(source, options));
    EXPECT_TRUE(result.ok) << result.log;
    return readImage(result.image).value_or(Image{});
  }
  std::string ptx(const std::string& source, const std::string& options = {}) {
    const Image image = gpuImage(source, options);
    return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
  }
  std::string complaint(const std::string& source, const std::string& options = {}) {
    const auto result = compiler().build(gpuRequest(source, options));
    EXPECT_FALSE(result.ok);
    return result.log;
  }
};

}  // namespace weft::test
