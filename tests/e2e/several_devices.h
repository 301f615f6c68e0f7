// One context of sub-devices and the device they are parts of, with a queue for each.
// WEFT_TEST_DEVICES=all: of all devices of the platform.
#pragma once

#include <vector>

#include "tests/e2e/fixture.h"

namespace weft::e2e {

class SeveralDevices : public Programs {
 protected:
  using Partition = std::vector<cl_device_partition_property>;

  // Sub-devices have memories of their own where WEFT_CPU_PRIVATE_MEMORY says so. A device of one
  // unit has none: it is the only one then.
  void useDevices(const Partition& partition = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1,
                                                CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0}) {
    if (all()) {
      devices = testDevices();
    } else {
      if (units() >= 2) divide(partition);
      devices.push_back(testDevice());
    }
    cl_int code = 1;
    context = OwnedContext(cl.clCreateContext(nullptr, static_cast<cl_uint>(devices.size()),
                                              devices.data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    if (all()) others = otherQueues();
    for (const cl_device_id device : devices) {
      queues.emplace_back(cl.clCreateCommandQueue(context, device, 0, &code));
      ASSERT_EQ(code, CL_SUCCESS);
    }
  }
  // What GPUs are divided into are their tiles, whatever is wished.
  void divide(Partition partition) {
    if (const Partition smallest = smallestParts(); smallest[0] != CL_DEVICE_PARTITION_EQUALLY)
      partition = smallest;
    cl_uint count = 0;
    ASSERT_EQ(cl.clCreateSubDevices(testDevice(), partition.data(), 0, nullptr, &count),
              CL_SUCCESS);
    devices.resize(count);
    ASSERT_EQ(cl.clCreateSubDevices(testDevice(), partition.data(), count, devices.data(), nullptr),
              CL_SUCCESS);
  }
  static bool all() { return testDevices().size() > 1; }
  static cl_uint units() { return deviceInfo<cl_uint>(CL_DEVICE_PARTITION_MAX_SUB_DEVICES); }

  void TearDown() override {
    queues.clear();
    for (const cl_device_id device : devices) cl.clReleaseDevice(device);
  }

  std::vector<cl_device_id> devices;
  std::vector<OwnedQueue> queues;
};

}  // namespace weft::e2e
