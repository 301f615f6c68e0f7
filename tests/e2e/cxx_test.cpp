// C++ for OpenCL.
#include <CL/cl_ext.h>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class Cxx : public Programs {
 protected:
  std::string extensions() const {
    size_t size = 0;
    cl.clGetDeviceInfo(testDevice(), CL_DEVICE_EXTENSIONS, 0, nullptr, &size);
    std::string text(size, '\0');
    cl.clGetDeviceInfo(testDevice(), CL_DEVICE_EXTENSIONS, size, text.data(), nullptr);
    return text;
  }
  void SetUp() override {
    Programs::SetUp();
    if (extensions().find("cl_ext_cxx_for_opencl") == std::string::npos)
      GTEST_SKIP() << "the device has no C++";
  }
};

constexpr char classes[] =
    "struct Base { int x; Base(int v) : x(v * 2) {} };\n"
    "class Counter : public Base { public: Counter(int v) : Base(v), y(x + 1) {}\n"
    "  int sum() const __generic { return x + y; } ~Counter() {} private: int y; };\n"
    "template <typename T> T twice(T t) { return t + t; }\n"
    "void add(int& to, int n) { to += n; }\n"
    "void add(float& to, int) { to = 0; }\n";

TEST_F(Cxx, TemplatesClassesReferencesAndLambdas) {
  const OwnedProgram program = built(std::string(classes) +
                                         "kernel void k(global int* out) {\n"
                                         "  int i = get_global_id(0), r = 0; Counter c(i);\n"
                                         "  auto f = [&](int v) { return v + i; };\n"
                                         "  add(r, twice(f(3)) + c.sum());\n"
                                         "  out[i] = r; }\n",
                                     "-cl-std=CLC++");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(50));
  set(k, out);
  run(k, {{50}});
  const auto values = download<cl_int>(out);
  for (cl_int i = 0; i < 50; ++i) EXPECT_EQ(values[i], 2 * (3 + i) + 4 * i + 1) << i;
}

TEST_F(Cxx, ProgramScopeObjectsAreConstructedBeforeTheFirstKernel) {
  const OwnedProgram program =
      built(std::string(classes) +
                "global Counter first(21); global Counter second(first.sum());\n"
                "kernel void k(global int* out) { out[0] = first.sum(); out[1] = second.sum(); }\n",
            "-cl-std=CLC++2021");
  cl_uint kernels = 0;
  EXPECT_EQ(cl.clCreateKernelsInProgram(program, 0, nullptr, &kernels), CL_SUCCESS);
  EXPECT_EQ(kernels, 1u) << "constructors are no kernels";
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(2));
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{85, 341}));
}

TEST_F(Cxx, TheVersionIsTheMacros) {
  const cl_version version = deviceInfo<cl_version>(CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT);
  const OwnedProgram program =
      built("kernel void k(global int* out) { out[0] = __OPENCL_CPP_VERSION__; }", "-cl-std=CLC++");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(1));
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out)[0],
            cl_int(CL_VERSION_MAJOR(version) * 100 + CL_VERSION_MINOR(version) * 10));
}

}  // namespace
}  // namespace weft::e2e
