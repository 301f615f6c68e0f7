// clCompileProgram, clLinkProgram.
#include "tests/conformance/program_fixture.h"

namespace weft::conformance {
namespace {

class CompileLinkTest : public ProgramFixture {
 protected:
  cl_int compileWith(cl_program program, cl_uint count, const cl_program* headers,
                     const char** names) {
    return cl.clCompileProgram(program, 0, nullptr, nullptr, count, headers, names, nullptr,
                               nullptr);
  }
};

TEST_F(CompileLinkTest, CompileChecksItsArguments) {
  const OwnedProgram program = fromSource(scale_source);
  const cl_device_id device = testDevice();
  const auto wrong = foreign<cl_device_id>(cl_context(context));
  int user = 0;
  const auto code = [&](cl_program p, cl_uint count, const cl_device_id* devices,
                        const char* options, void* data) {
    return cl.clCompileProgram(p, count, devices, options, 0, nullptr, nullptr, nullptr, data);
  };
  EXPECT_EQ(code(program, 1, &device, "", nullptr), CL_SUCCESS);
  EXPECT_EQ(code(nullptr, 1, &device, "", nullptr), CL_INVALID_PROGRAM);
  EXPECT_EQ(code(program, 1, nullptr, "", nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(program, 0, &device, "", nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(program, 1, &wrong, "", nullptr), CL_INVALID_DEVICE);
  EXPECT_EQ(code(program, 1, &device, "", &user), CL_INVALID_VALUE);
  EXPECT_EQ(code(program, 1, &device, "-no-such-option", nullptr), CL_INVALID_COMPILER_OPTIONS);
}

TEST_F(CompileLinkTest, Headers) {
  const OwnedProgram program = fromSource(
      "#include <one.h>\n#include \"deep/two.h\"\n"
      "kernel void scale(global int* data, int factor) { data[get_global_id(0)] *= ONE * two(); }");
  const OwnedProgram one = fromSource("#define ONE 1\n");
  const OwnedProgram two = fromSource("inline int two() { return 2; }\n");
  const cl_program headers[] = {one, two};
  const char* names[] = {"one.h", "deep/two.h"};
  EXPECT_EQ(compileWith(program, 0, headers, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(compileWith(program, 0, nullptr, names), CL_INVALID_VALUE);
  EXPECT_EQ(compileWith(program, 2, nullptr, names), CL_INVALID_VALUE);
  EXPECT_EQ(compileWith(program, 2, headers, nullptr), CL_INVALID_VALUE);
  const char* null_name[] = {"one.h", nullptr};
  EXPECT_EQ(compileWith(program, 2, headers, null_name), CL_INVALID_VALUE);
  const cl_program null_header[] = {one, nullptr};
  EXPECT_EQ(compileWith(program, 2, null_header, names), CL_INVALID_PROGRAM);
  EXPECT_EQ(compileWith(program, 1, headers, names), CL_COMPILE_PROGRAM_FAILURE);
  EXPECT_NE(log(program).find("deep/two.h"), std::string::npos) << log(program);
  ASSERT_EQ(compileWith(program, 2, headers, names), CL_SUCCESS) << log(program);
  cl_int code = 1;
  const OwnedProgram linked = link({program}, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(runScale(kernel(linked, "scale"), 9), (std::vector<cl_int>{2, 4, 6, 8}));
}

TEST_F(CompileLinkTest, AHeaderMustHaveSource) {
  cl_int code = 1;
  const OwnedProgram program = fromSource(scale_source);
  const OwnedProgram header = fromBinary(binary(built(scale_source)), &code);
  const cl_program headers[] = {header};
  const char* names[] = {"h"};
  EXPECT_EQ(compileWith(program, 1, headers, names), CL_INVALID_OPERATION);
}

TEST_F(CompileLinkTest, LinkTwoObjects) {
  const OwnedProgram helper = compiled("int twice(int x) { return 2 * x; }");
  const OwnedProgram main = compiled(
      "int twice(int x);"
      "kernel void scale(global int* data, int factor) {"
      "  data[get_global_id(0)] = twice(data[get_global_id(0)]) * factor; }");
  cl_int code = 1;
  const OwnedProgram linked = link({main, helper}, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS) << log(linked);
  EXPECT_EQ(binaryType(linked), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(runScale(kernel(linked, "scale"), 10), (std::vector<cl_int>{20, 40, 60, 80}));
  EXPECT_EQ(build(linked), CL_INVALID_OPERATION);
}

TEST_F(CompileLinkTest, LinkALibrary) {
  cl_int code = 1;
  const OwnedProgram library =
      link({compiled("int twice(int x) { return 2 * x; }")}, "-create-library", &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(binaryType(library), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_LIBRARY});
  EXPECT_EQ(cl.clCreateKernel(library, "scale", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PROGRAM_EXECUTABLE);
  const OwnedProgram linked = link({compiled("int twice(int x);"
                                             "kernel void scale(global int* data, int factor) {"
                                             "  data[get_global_id(0)] = twice(factor); }"),
                                    library},
                                   nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS) << log(linked);
  EXPECT_EQ(runScale(kernel(linked, "scale"), 4), (std::vector<cl_int>{8, 8, 8, 8}));
}

TEST_F(CompileLinkTest, FailedLinkGivesAProgramWithALog) {
  cl_int code = 1;
  const OwnedProgram linked =
      link({compiled("int absent(int x);"
                     "kernel void k(global int* data) { data[0] = absent(1); }")},
           nullptr, &code);
  EXPECT_EQ(code, CL_LINK_PROGRAM_FAILURE);
  ASSERT_NE(linked, nullptr);
  EXPECT_EQ(status(linked), CL_BUILD_ERROR);
  EXPECT_NE(log(linked).find("absent"), std::string::npos) << log(linked);
  const OwnedProgram doubled =
      link({compiled(scale_source), compiled(scale_source)}, nullptr, &code);
  EXPECT_EQ(code, CL_LINK_PROGRAM_FAILURE);
  EXPECT_NE(log(doubled).find("scale"), std::string::npos) << log(doubled);
}

TEST_F(CompileLinkTest, LinkChecksItsArguments) {
  const OwnedProgram object = compiled(scale_source);
  const cl_program inputs[] = {object};
  const cl_program bad_inputs[] = {foreign<cl_program>(cl_context(context))};
  const cl_device_id device = testDevice();
  const auto wrong = foreign<cl_device_id>(cl_context(context));
  int user = 0;
  const auto code = [&](cl_context c, cl_uint count, const cl_device_id* devices,
                        const char* options, cl_uint programs, const cl_program* list, void* data) {
    cl_int result = 1;
    const OwnedProgram made(
        cl.clLinkProgram(c, count, devices, options, programs, list, nullptr, data, &result));
    EXPECT_EQ(made != nullptr, result == CL_SUCCESS);
    return result;
  };
  EXPECT_EQ(code(context, 1, &device, "", 1, inputs, nullptr), CL_SUCCESS);
  EXPECT_EQ(code(nullptr, 1, &device, "", 1, inputs, nullptr), CL_INVALID_CONTEXT);
  EXPECT_EQ(code(context, 1, nullptr, "", 1, inputs, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 0, &device, "", 1, inputs, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &wrong, "", 1, inputs, nullptr), CL_INVALID_DEVICE);
  EXPECT_EQ(code(context, 1, &device, "", 0, inputs, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, "", 1, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, "", 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, "", 1, bad_inputs, nullptr), CL_INVALID_PROGRAM);
  EXPECT_EQ(code(context, 1, &device, "", 1, inputs, &user), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, "-no-such-option", 1, inputs, nullptr),
            CL_INVALID_LINKER_OPTIONS);
  EXPECT_EQ(code(other_context, 1, &device, "", 1, inputs, nullptr), CL_INVALID_CONTEXT);
}

TEST_F(CompileLinkTest, InputsMustBeCompiled) {
  cl_int code = 1;
  const OwnedProgram never = fromSource(scale_source);
  EXPECT_EQ(link({never}, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION);
  EXPECT_EQ(link({compiled(two_kernels_source), never}, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION);
  EXPECT_EQ(link({built(scale_source)}, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION) << "an executable is neither object nor library";
}

TEST_F(CompileLinkTest, CallbacksOfCompileAndLink) {
  BuildDone compile_done, link_done;
  const OwnedProgram object = fromSource(scale_source);
  ASSERT_EQ(cl.clCompileProgram(object, 0, nullptr, nullptr, 0, nullptr, nullptr, BuildDone::notify,
                                compile_done.user()),
            CL_SUCCESS);
  EXPECT_EQ(compile_done.wait(), cl_program(object));
  const cl_program input = object;
  cl_int code = 1;
  const OwnedProgram linked(cl.clLinkProgram(context, 0, nullptr, nullptr, 1, &input,
                                             BuildDone::notify, link_done.user(), &code));
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(link_done.wait(), cl_program(linked));
  EXPECT_EQ(status(linked), CL_BUILD_SUCCESS);
}

}  // namespace
}  // namespace weft::conformance
