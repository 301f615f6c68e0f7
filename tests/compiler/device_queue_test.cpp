// What becomes of kernels that enqueue others where they cannot call the host.
#include "core/ports/launch.h"
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;

class DeviceQueues : public test::CompilerTest, public testing::WithParamInterface<port::Target> {
 protected:
  static port::CompileRequest gpuRequest(const std::string& source, const std::string& options) {
    port::CompileRequest made = request(source, options);
    made.target = GetParam();
    made.features.feature_macros.emplace_back("__opencl_c_generic_address_space");
    return made;
  }
};

const std::string enqueues =
    "void f(global int* a) {\n"
    "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1),\n"
    "                 ^{ a[0] = 1; }); }\n";

// Of a device without them nothing else of version 2.0 is.
TEST_P(DeviceQueues, AreRefused) {
  const char* const of_2_0 = "kernel void f(global int* a) { int* p = a; *p = 1; }";
  EXPECT_TRUE(compiler().build(gpuRequest(of_2_0, "-cl-std=CL2.0")).ok);
  const auto refused = compiler().build(gpuRequest("kernel " + enqueues, "-cl-std=CL2.0"));
  EXPECT_FALSE(refused.ok);
  EXPECT_TRUE(contains(refused.log, "undeclared identifier 'get_default_queue'")) << refused.log;
}

// Linked, too, where there are several of a name: PTX has no names with dots.
TEST_P(DeviceQueues, BlocksAreKernels) {
  port::LinkRequest link;
  for (const std::string name : {"k", "l"}) {
    port::CompileRequest part =
        gpuRequest("static " + enqueues + "kernel void " + name + "(global int* a) { f(a); }",
                   "-cl-std=CL3.0");
    part.features.feature_macros.emplace_back("__opencl_c_device_enqueue");
    const auto compiled = compiler().compile(part);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    link.objects.push_back(compiled.image);
    link.target = part.target;
    link.features = part.features;
  }
  const auto linked = compiler().link(link);
  ASSERT_TRUE(linked.ok) << linked.log;
  int blocks = 0;
  for (const KernelInfo& kernel : readImage(linked.image).value_or(Image{}).kernels) {
    EXPECT_FALSE(contains(kernel.symbol, ".")) << kernel.symbol;
    EXPECT_EQ(kernel.uses_device_queue, !kernel.is_block) << kernel.name;
    blocks += kernel.is_block && kernel.name != port::profile_writer_symbol;
  }
  EXPECT_EQ(blocks, 2);
}

INSTANTIATE_TEST_SUITE_P(Gpus, DeviceQueues,
                         testing::Values(port::Target{port::TargetKind::nvptx, "sm_80", ""},
                                         port::Target{port::TargetKind::amdgcn, "gfx90a", ""},
                                         port::Target{port::TargetKind::amdgcn, "gfx1100", ""}),
                         [](const auto& info) { return info.param.cpu; });

}  // namespace
}  // namespace weft
