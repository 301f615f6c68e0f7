// How the conformance tests reach the implementation: through its dispatch table, without an ICD
// loader in between, so that what is tested is the implementation's own checks.
// WEFT_TEST_LIBRARY names another implementation's library.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft::conformance {

cl_platform_id testPlatform();
// The first device of the platform. WEFT_TEST_DEVICE=gpu: the first GPU; another text: the first
// device that has it in its name.
cl_device_id testDevice();
// Those of makeContext(): the test device alone, or with WEFT_TEST_DEVICES=all the test device and
// behind it all others of the platform.
const std::vector<cl_device_id>& testDevices();
const cl_icd_dispatch& dispatch();
// A symbol that the library exports, or nullptr.
void* exported(const char* name);

inline const cl_icd_dispatch& cl = dispatch();

// A handle that is released at the end of its scope. One alias per type at the end.
template <class H, auto release>
class Owned {
 public:
  Owned() = default;
  explicit Owned(H handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { reset(); }

  operator H() const { return handle_; }
  // For functions that return a handle through a pointer.
  H* out() {
    reset();
    return &handle_;
  }
  void reset() {
    if (handle_) (cl.*release)(std::exchange(handle_, nullptr));
  }

 private:
  H handle_ = nullptr;
};

using OwnedContext = Owned<cl_context, &cl_icd_dispatch::clReleaseContext>;
using OwnedQueue = Owned<cl_command_queue, &cl_icd_dispatch::clReleaseCommandQueue>;
using OwnedSampler = Owned<cl_sampler, &cl_icd_dispatch::clReleaseSampler>;
using OwnedMem = Owned<cl_mem, &cl_icd_dispatch::clReleaseMemObject>;
using OwnedEvent = Owned<cl_event, &cl_icd_dispatch::clReleaseEvent>;
using OwnedProgram = Owned<cl_program, &cl_icd_dispatch::clReleaseProgram>;
using OwnedKernel = Owned<cl_kernel, &cl_icd_dispatch::clReleaseKernel>;

OwnedContext makeContext();

// A handle that is a valid object of another kind, or nothing.
template <class H>
H foreign(void* handle) {
  return reinterpret_cast<H>(handle);
}

// What a query of one value answers; fails the test when it does not.
template <class T, class Function, class... Arguments>
T info(Function function, Arguments... arguments) {
  T value{};
  const cl_int code = function(arguments..., sizeof value, &value, nullptr);
  if (code != CL_SUCCESS) throw std::runtime_error("query failed: " + std::to_string(code));
  return value;
}

// What a query about `object` answers with a list; fails the test when it does not.
template <class T, class Function, class Object, class Name>
std::vector<T> listInfo(Function function, Object object, Name name) {
  size_t size = 0;
  cl_int code = function(object, name, 0, nullptr, &size);
  std::vector<T> list(size / sizeof(T));
  if (code == CL_SUCCESS) code = function(object, name, size, list.data(), nullptr);
  if (code != CL_SUCCESS) throw std::runtime_error("query failed: " + std::to_string(code));
  return list;
}

// What a query of a device answers with a list; fails the test when it does not.
template <class T>
std::vector<T> listOf(cl_device_id device, cl_device_info name) {
  return listInfo<T>(cl.clGetDeviceInfo, device, name);
}

// The test device's smallest parts: GPUs have no others than those that share something.
std::vector<cl_device_partition_property> smallestParts();

template <class T>
T deviceInfo(cl_device_info name) {
  return info<T>(cl.clGetDeviceInfo, testDevice(), name);
}

inline std::string deviceString(cl_device_info name) {
  return listOf<char>(testDevice(), name).data();
}

// Of the devices of makeContext(): the largest value, or all bits.
template <class T>
T largestInfo(cl_device_info name) {
  T largest = deviceInfo<T>(name);
  for (const cl_device_id device : testDevices())
    largest = std::max(largest, info<T>(cl.clGetDeviceInfo, device, name));
  return largest;
}
template <class T>
T combinedInfo(cl_device_info name) {
  T all{};
  for (const cl_device_id device : testDevices()) all |= info<T>(cl.clGetDeviceInfo, device, name);
  return all;
}

}  // namespace weft::conformance
