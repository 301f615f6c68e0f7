// What most conformance tests start from: a context, a queue and a buffer on the first device.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/conformance/opencl.h"

namespace weft::conformance {

class CommandTest : public testing::Test {
 protected:
  static constexpr size_t buffer_bytes = 4096;

  OwnedQueue makeQueue(cl_context in, cl_command_queue_properties properties = 0) const {
    cl_int code = CL_SUCCESS;
    OwnedQueue made(cl.clCreateCommandQueue(in, testDevice(), properties, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  OwnedMem makeBuffer(cl_mem_flags flags = CL_MEM_READ_WRITE, size_t size = buffer_bytes,
                      void* host = nullptr) const {
    cl_int code = CL_SUCCESS;
    OwnedMem made(cl.clCreateBuffer(context, flags, size, host, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  OwnedMem makeSubBuffer(cl_mem parent, size_t origin, size_t size) const {
    const cl_buffer_region region{origin, size};
    cl_int code = CL_SUCCESS;
    OwnedMem made(cl.clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  OwnedEvent makeUserEvent() const {
    cl_int code = CL_SUCCESS;
    OwnedEvent made(cl.clCreateUserEvent(context, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }

  std::vector<unsigned char> contents(cl_mem memory, size_t size = buffer_bytes) const {
    std::vector<unsigned char> bytes(size);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queueAround(memory), memory, CL_TRUE, 0, size, bytes.data(), 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    return bytes;
  }
  void write(cl_mem memory, const std::vector<unsigned char>& bytes) const {
    ASSERT_EQ(cl.clEnqueueWriteBuffer(queueAround(memory), memory, CL_TRUE, 0, bytes.size(),
                                      bytes.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
  }
  // What the test looks at a buffer through, and fills it: the test's own queue, or in a context of
  // several devices one of another device, each in turn, which the buffer has been moved to. So
  // everything that the test's device reads and writes comes from others and goes to them.
  cl_command_queue queueAround(cl_mem memory) const {
    if (others.empty()) return queue;
    EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
    const cl_command_queue other = others[turn++ % others.size()];
    EXPECT_EQ(cl.clEnqueueMigrateMemObjects(other, 1, &memory, 0, 0, nullptr, nullptr), CL_SUCCESS);
    return other;
  }
  // 0, 1, 2, ...
  static std::vector<unsigned char> counting(size_t size = buffer_bytes) {
    std::vector<unsigned char> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + i / 256);
    return bytes;
  }

  std::vector<OwnedQueue> otherQueues() const {
    std::vector<OwnedQueue> queues;
    cl_int code = CL_SUCCESS;
    for (const cl_device_id device : testDevices()) {
      if (device == testDevice()) continue;
      queues.emplace_back(cl.clCreateCommandQueue(context, device, 0, &code));
      EXPECT_EQ(code, CL_SUCCESS);
    }
    return queues;
  }

  OwnedContext context = makeContext();
  OwnedContext other_context = makeContext();
  OwnedQueue queue = makeQueue(context);
  std::vector<OwnedQueue> others = otherQueues();
  mutable size_t turn = 0;
  OwnedMem buffer = makeBuffer();
  std::vector<unsigned char> host = std::vector<unsigned char>(buffer_bytes);
};

}  // namespace weft::conformance
