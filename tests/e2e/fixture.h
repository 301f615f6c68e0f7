// End to end: OpenCL C through the compiler's process, the scheduler and a device.
#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/conformance/program_fixture.h"

namespace weft::e2e {

using namespace weft::conformance;

// The size of a local argument.
struct Local {
  size_t bytes;
};

struct Range {
  std::vector<size_t> global;
  std::vector<size_t> local{};
  std::vector<size_t> offset{};
};

class Programs : public ProgramFixture {
 protected:
  template <class T>
  OwnedMem upload(std::vector<T> values) const {
    return makeBuffer(CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T), values.data());
  }
  template <class T>
  std::vector<T> download(cl_mem memory) const {
    std::vector<T> values(info<size_t>(cl.clGetMemObjectInfo, memory, CL_MEM_SIZE) / sizeof(T));
    EXPECT_EQ(cl.clEnqueueReadBuffer(queueAround(memory), memory, CL_TRUE, 0,
                                     values.size() * sizeof(T), values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }

  template <class... A>
  void set(cl_kernel kernel, const A&... arguments) const {
    cl_uint index = 0;
    (setOne(kernel, index++, arguments), ...);
  }
  cl_int enqueue(cl_kernel kernel, const Range& range) const {
    const auto pointer = [](const std::vector<size_t>& v) {
      return v.empty() ? nullptr : v.data();
    };
    return cl.clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(range.global.size()),
                                     pointer(range.offset), range.global.data(),
                                     pointer(range.local), 0, nullptr, nullptr);
  }
  void run(cl_kernel kernel, const Range& range) const {
    ASSERT_EQ(enqueue(kernel, range), CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  }

 private:
  template <class T>
  void setOne(cl_kernel kernel, cl_uint index, const T& value) const {
    cl_int code = CL_SUCCESS;
    if constexpr (std::is_same_v<T, Local>) {
      code = cl.clSetKernelArg(kernel, index, value.bytes, nullptr);
    } else if constexpr (std::is_same_v<T, OwnedMem>) {
      const cl_mem handle = value;
      code = cl.clSetKernelArg(kernel, index, sizeof handle, &handle);
    } else {
      code = cl.clSetKernelArg(kernel, index, sizeof value, &value);
    }
    EXPECT_EQ(code, CL_SUCCESS) << "argument " << index;
  }
};

}  // namespace weft::e2e
