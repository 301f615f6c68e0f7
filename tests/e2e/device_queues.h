// What tests of device-side enqueue share.
#pragma once

#include <string>
#include <vector>

#include "tests/e2e/fixture.h"

namespace weft::e2e {

inline constexpr cl_queue_properties on_device =
    CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

class DeviceEnqueue : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (!deviceInfo<cl_device_device_enqueue_capabilities>(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES))
      GTEST_SKIP() << "the device has no device queues";
    standard = makeDeviceQueue(on_device | CL_QUEUE_ON_DEVICE_DEFAULT, 0);
  }
  OwnedQueue makeDeviceQueue(cl_queue_properties flags, cl_uint bytes) const {
    const cl_queue_properties sized[] = {CL_QUEUE_PROPERTIES, flags, CL_QUEUE_SIZE, bytes, 0};
    const cl_queue_properties usual[] = {CL_QUEUE_PROPERTIES, flags, 0};
    cl_int code = 1;
    OwnedQueue made(
        cl.clCreateCommandQueueWithProperties(context, testDevice(), bytes ? sized : usual, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  OwnedProgram builtFor(const std::string& source, const std::string& more = "") {
    return built(source, ("-cl-std=CL3.0 " + more).c_str());
  }
  // What kernel "k" leaves in `n` numbers, which were 0.
  std::vector<cl_int> outcome(const std::string& source, size_t n, const Range& range = {{1}},
                              const std::string& options = "") {
    const OwnedProgram program = builtFor(source, options);
    const OwnedKernel k = kernel(program, "k");
    const OwnedMem out = upload(std::vector<cl_int>(n));
    set(k, out);
    run(k, range);
    return download<cl_int>(out);
  }
  // The status that a launch of "k" ends with.
  cl_int failure(const std::string& source, size_t n, std::vector<cl_int>* left = nullptr) {
    const OwnedProgram program = builtFor(source);
    const OwnedKernel k = kernel(program, "k");
    const OwnedMem out = upload(std::vector<cl_int>(n));
    set(k, out);
    const cl_int status = statusOf(k);
    if (left) *left = download<cl_int>(out);
    return status;
  }
  // The same of a kernel whose arguments are set.
  cl_int statusOf(const OwnedKernel& k) {
    const size_t one = 1;
    OwnedEvent event;
    EXPECT_EQ(
        cl.clEnqueueNDRangeKernel(queue, k, 1, nullptr, &one, nullptr, 0, nullptr, event.out()),
        CL_SUCCESS);
    const cl_event waited = event;
    cl.clWaitForEvents(1, &waited);
    return info<cl_int>(cl.clGetEventInfo, waited, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }

  OwnedQueue standard;
};

}  // namespace weft::e2e
