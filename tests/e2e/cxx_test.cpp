// C++ for OpenCL.
#include <CL/cl_ext.h>

#include <algorithm>
#include <cstring>

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

// Objects note their destruction in shared virtual memory.
class Destruction : public Cxx {
 protected:
  static constexpr size_t places = 16;

  void SetUp() override {
    Cxx::SetUp();
    if (IsSkipped()) return;
    if (!deviceInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES))
      GTEST_SKIP() << "no shared virtual memory";
    notes =
        static_cast<cl_int*>(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, places * sizeof(cl_int), 0));
    ASSERT_NE(notes, nullptr);
    std::fill_n(notes, places, 0);
  }
  void TearDown() override {
    if (notes) cl.clSVMFree(context, notes);
    Cxx::TearDown();
  }
  void tellWhere(const OwnedProgram& program) {
    const OwnedKernel k = kernel(program, "k");
    ASSERT_EQ(cl.clSetKernelArgSVMPointer(k, 0, notes), CL_SUCCESS);
    run(k, {{1}});
  }
  std::vector<cl_int> noted() const { return {notes + 1, notes + 1 + notes[0]}; }

  cl_int* notes = nullptr;  // how many, and then which
};

constexpr char noting[] =
    "global int* notes;\n"
    "struct Noting { int x; Noting(int v) : x(v) {}\n"
    "  ~Noting() { if (notes) notes[++notes[0]] = x; } };\n"
    "struct Fixed { int x; constexpr Fixed(int v) : x(v) {}\n"
    "  ~Fixed() { if (notes) notes[++notes[0]] = -x; } };\n";

TEST_F(Destruction, LastOneFirstWhenTheProgramIsReleased) {
  OwnedProgram program = built(
      std::string(noting) +
          "Noting first(1); Fixed fixed(2); static Noting third(3); Noting several[] = {4, 5};\n"
          "template <int n> struct Numbered { Noting inner; Numbered() : inner(n) {} };\n"
          "namespace inside { Numbered<6> sixth; } Fixed last(7);\n"
          "kernel void k(global int* p) { notes = p; first.x += 10; third.x += 10; }\n",
      "-cl-std=CLC++2021");
  tellWhere(program);
  EXPECT_EQ(noted(), std::vector<cl_int>());
  cl.clRetainProgram(program);
  cl.clReleaseProgram(program);
  EXPECT_EQ(noted(), std::vector<cl_int>()) << "somebody has it";
  program.reset();
  EXPECT_EQ(noted(), (std::vector<cl_int>{-7, 6, 5, 4, 13, -2, 11}));
}

TEST_F(Destruction, OfLinkedObjects) {
  const auto compiled = [&](const std::string& source) {
    const char* text = source.c_str();
    cl_int code = 1;
    OwnedProgram made(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    EXPECT_EQ(cl.clCompileProgram(made, 0, nullptr, "-cl-std=CLC++2021", 0, nullptr, nullptr,
                                  nullptr, nullptr),
              CL_SUCCESS)
        << log(made);
    return made;
  };
  const std::string shared_part(noting + std::strlen("global int* notes;\n"));
  const OwnedProgram one = compiled(
      noting +
      std::string("Noting a(1); Noting b(2); kernel void k(global int* p) { notes = p; }\n"));
  const OwnedProgram two = compiled("extern global int* notes;\n" + shared_part + "Noting c(3);\n");
  const cl_program parts[] = {one, two};
  cl_int code = 1;
  OwnedProgram program(
      cl.clLinkProgram(context, 0, nullptr, nullptr, 2, parts, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  tellWhere(program);
  program.reset();
  EXPECT_EQ(noted(), (std::vector<cl_int>{3, 2, 1}));
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

TEST_F(Cxx, GroupsMayBeRagged) {
  const char* const source =
      "kernel void k(global int* out) { out[get_global_id(0)] = get_local_size(0); }";
  const OwnedMem out = upload(std::vector<cl_int>(100));
  for (const char* version : {"-cl-std=CLC++", "-cl-std=CLC++2021"}) {
    const OwnedKernel k = kernel(built(source, version), "k");
    set(k, out);
    run(k, {{100}, {33}});
    const std::vector<cl_int> sizes = download<cl_int>(out);
    EXPECT_EQ(sizes.front(), 33);
    EXPECT_EQ(sizes.back(), 1);
  }
  const std::string uniform = "-cl-std=CLC++2021 -cl-uniform-work-group-size";
  const OwnedKernel k = kernel(built(source, uniform.c_str()), "k");
  set(k, out);
  const size_t global = 100, local = 33;
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, k, 1, nullptr, &global, &local, 0, nullptr, nullptr),
            CL_INVALID_WORK_GROUP_SIZE);
}

}  // namespace
}  // namespace weft::e2e
