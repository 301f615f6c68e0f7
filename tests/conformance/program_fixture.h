// What the tests of programs and kernels start from.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/fixture.h"

namespace weft::conformance {

inline constexpr char scale_source[] =
    "kernel void scale(global int* data, int factor) { data[get_global_id(0)] *= factor; }\n";
inline constexpr char two_kernels_source[] =
    "kernel void first(global int* data) { data[get_global_id(0)] = 1; }\n"
    "kernel void second(global int* data) { data[get_global_id(0)] = 2; }\n";
inline constexpr char bad_source[] = "kernel void bad(global int* data) { data[0] = nothing; }\n";

// The callback of one build: pass `notify` and user(), then wait().
class BuildDone {
 public:
  // The promise belongs to the callback, which may still be inside it when wait() returns.
  void* user() { return promise_; }
  static void CL_CALLBACK notify(cl_program program, void* user) {
    const std::unique_ptr<Promise> promise(static_cast<Promise*>(user));
    promise->set_value(program);
  }
  cl_program wait() { return future_.get(); }

 private:
  using Promise = std::promise<cl_program>;
  Promise* promise_ = new Promise;
  std::future<cl_program> future_ = promise_->get_future();
};

class ProgramFixture : public CommandTest {
 protected:
  OwnedProgram fromSource(const std::string& text) const {
    const char* string = text.c_str();
    cl_int code = 1;
    OwnedProgram program(cl.clCreateProgramWithSource(context, 1, &string, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return program;
  }
  // For all devices of the context, of which some may lack what the program uses.
  cl_int build(cl_program program, const char* options = nullptr) const {
    const cl_int code = cl.clBuildProgram(program, 0, nullptr, options, nullptr, nullptr);
    const bool others_failed =
        code == CL_BUILD_PROGRAM_FAILURE && status(program) == CL_BUILD_SUCCESS;
    return others_failed && testDevices().size() > 1 ? CL_SUCCESS : code;
  }
  cl_int compile(cl_program program, const char* options = nullptr) const {
    return cl.clCompileProgram(program, 0, nullptr, options, 0, nullptr, nullptr, nullptr, nullptr);
  }
  OwnedProgram link(const std::vector<cl_program>& inputs, const char* options,
                    cl_int* code) const {
    return OwnedProgram(cl.clLinkProgram(context, 0, nullptr, options,
                                         static_cast<cl_uint>(inputs.size()), inputs.data(),
                                         nullptr, nullptr, code));
  }
  OwnedProgram built(const std::string& text, const char* options = nullptr) const {
    OwnedProgram program = fromSource(text);
    EXPECT_EQ(build(program, options), CL_SUCCESS) << log(program);
    return program;
  }
  OwnedProgram compiled(const std::string& text) const {
    OwnedProgram program = fromSource(text);
    EXPECT_EQ(compile(program), CL_SUCCESS) << log(program);
    return program;
  }
  OwnedProgram fromBinary(const std::vector<unsigned char>& binary, cl_int* code,
                          cl_int* status = nullptr) const {
    const cl_device_id device = testDevice();
    const size_t size = binary.size();
    const unsigned char* bytes = binary.data();
    return OwnedProgram(
        cl.clCreateProgramWithBinary(context, 1, &device, &size, &bytes, status, code));
  }
  OwnedKernel kernel(cl_program program, const char* name) const {
    cl_int code = 1;
    OwnedKernel made(cl.clCreateKernel(program, name, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }

  std::string buildText(cl_program program, cl_program_build_info name) const {
    size_t size = 0;
    EXPECT_EQ(cl.clGetProgramBuildInfo(program, testDevice(), name, 0, nullptr, &size), CL_SUCCESS);
    std::string text(size, 'x');
    EXPECT_EQ(cl.clGetProgramBuildInfo(program, testDevice(), name, size, text.data(), nullptr),
              CL_SUCCESS);
    EXPECT_TRUE(size > 0 && text.back() == '\0');
    text.pop_back();
    return text;
  }
  std::string log(cl_program program) const { return buildText(program, CL_PROGRAM_BUILD_LOG); }
  cl_build_status status(cl_program program) const {
    return info<cl_build_status>(cl.clGetProgramBuildInfo, program, testDevice(),
                                 CL_PROGRAM_BUILD_STATUS);
  }
  cl_program_binary_type binaryType(cl_program program) const {
    return info<cl_program_binary_type>(cl.clGetProgramBuildInfo, program, testDevice(),
                                        CL_PROGRAM_BINARY_TYPE);
  }
  std::vector<unsigned char> binary(cl_program program) const {
    // The test device is the first of the context, and nobody wants those of others.
    const auto sizes = listInfo<size_t>(cl.clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES);
    std::vector<unsigned char> bytes(sizes.at(0));
    std::vector<unsigned char*> pointers(sizes.size(), nullptr);
    pointers[0] = bytes.data();
    EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES,
                                  pointers.size() * sizeof pointers[0], pointers.data(), nullptr),
              CL_SUCCESS);
    return bytes;
  }
  // Runs `scale` on {1, 2, 3, 4} and returns what it made of them.
  std::vector<cl_int> runScale(cl_kernel scale, cl_int factor) const {
    std::vector<cl_int> values{1, 2, 3, 4};
    const size_t bytes = values.size() * sizeof(cl_int), global = values.size();
    const OwnedMem memory = makeBuffer(CL_MEM_COPY_HOST_PTR, bytes, values.data());
    const cl_mem handle = memory;
    EXPECT_EQ(cl.clSetKernelArg(scale, 0, sizeof handle, &handle), CL_SUCCESS);
    EXPECT_EQ(cl.clSetKernelArg(scale, 1, sizeof factor, &factor), CL_SUCCESS);
    EXPECT_EQ(
        cl.clEnqueueNDRangeKernel(queue, scale, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queueAround(memory), memory, CL_TRUE, 0, bytes, values.data(),
                                     0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
};

}  // namespace weft::conformance
