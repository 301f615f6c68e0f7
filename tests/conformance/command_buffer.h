// The functions of cl_khr_command_buffer as an application gets them: by name.
#pragma once

#include "api/command_buffer_entry_points.h"
#include "tests/conformance/opencl.h"

namespace weft::conformance {

template <class F>
F extensionFunction(const char* name, F) {
  void* const address = cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), name);
  if (!address) throw std::runtime_error(std::string("there is no ") + name);
  return reinterpret_cast<F>(address);
}

struct CommandBufferFunctions {
  using Create = decltype(&api::clCreateCommandBufferKHR);
  template <class F>
  static F named(const char* name) {
    return extensionFunction(name, F{});
  }

  Create create = named<Create>("clCreateCommandBufferKHR");
  decltype(&api::clFinalizeCommandBufferKHR) finalize =
      named<decltype(finalize)>("clFinalizeCommandBufferKHR");
  decltype(&api::clRetainCommandBufferKHR) retain =
      named<decltype(retain)>("clRetainCommandBufferKHR");
  decltype(&api::clReleaseCommandBufferKHR) release =
      named<decltype(release)>("clReleaseCommandBufferKHR");
  decltype(&api::clEnqueueCommandBufferKHR) enqueue =
      named<decltype(enqueue)>("clEnqueueCommandBufferKHR");
  decltype(&api::clGetCommandBufferInfoKHR) getInfo =
      named<decltype(getInfo)>("clGetCommandBufferInfoKHR");
  decltype(&api::clCommandBarrierWithWaitListKHR) barrier =
      named<decltype(barrier)>("clCommandBarrierWithWaitListKHR");
  decltype(&api::clCommandCopyBufferKHR) copyBuffer =
      named<decltype(copyBuffer)>("clCommandCopyBufferKHR");
  decltype(&api::clCommandCopyBufferRectKHR) copyRect =
      named<decltype(copyRect)>("clCommandCopyBufferRectKHR");
  decltype(&api::clCommandCopyBufferToImageKHR) copyBufferToImage =
      named<decltype(copyBufferToImage)>("clCommandCopyBufferToImageKHR");
  decltype(&api::clCommandCopyImageKHR) copyImage =
      named<decltype(copyImage)>("clCommandCopyImageKHR");
  decltype(&api::clCommandCopyImageToBufferKHR) copyImageToBuffer =
      named<decltype(copyImageToBuffer)>("clCommandCopyImageToBufferKHR");
  decltype(&api::clCommandFillBufferKHR) fillBuffer =
      named<decltype(fillBuffer)>("clCommandFillBufferKHR");
  decltype(&api::clCommandFillImageKHR) fillImage =
      named<decltype(fillImage)>("clCommandFillImageKHR");
  decltype(&api::clCommandSVMMemcpyKHR) svmCopy = named<decltype(svmCopy)>("clCommandSVMMemcpyKHR");
  decltype(&api::clCommandSVMMemFillKHR) svmFill =
      named<decltype(svmFill)>("clCommandSVMMemFillKHR");
  decltype(&api::clCommandNDRangeKernelKHR) launch =
      named<decltype(launch)>("clCommandNDRangeKernelKHR");
  decltype(&api::clUpdateMutableCommandsKHR) update =
      named<decltype(update)>("clUpdateMutableCommandsKHR");
  decltype(&api::clGetMutableCommandInfoKHR) getCommandInfo =
      named<decltype(getCommandInfo)>("clGetMutableCommandInfoKHR");
};

inline const CommandBufferFunctions& buffers() {
  static const CommandBufferFunctions functions;
  return functions;
}

// Released at the end of its scope.
class OwnedCommandBuffer {
 public:
  explicit OwnedCommandBuffer(cl_command_buffer_khr handle = nullptr) : handle_(handle) {}
  OwnedCommandBuffer(OwnedCommandBuffer&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  OwnedCommandBuffer& operator=(OwnedCommandBuffer&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OwnedCommandBuffer() { reset(); }
  operator cl_command_buffer_khr() const { return handle_; }
  void reset() {
    if (handle_) buffers().release(std::exchange(handle_, nullptr));
  }

 private:
  cl_command_buffer_khr handle_;
};

}  // namespace weft::conformance
