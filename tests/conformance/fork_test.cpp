// Processes that fork: before the first context both work; later, the child's calls fail cleanly.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

// The exit status of `body` run in a forked child, or -1 when it crashed or hung.
template <class Body>
int inChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int no_queue = 2;

// Makes a context and fills a buffer; 0 when that works.
int work() {
  cl_int code = 1;
  const cl_device_id device = testDevice();
  cl_context context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  if (code) return 1;
  cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &code);
  if (code) return no_queue;
  cl_mem buffer = cl.clCreateBuffer(context, 0, 64, nullptr, &code);
  if (code) return 3;
  const char pattern = 6;
  char bytes[64] = {};
  if (cl.clEnqueueFillBuffer(queue, buffer, &pattern, 1, 0, 64, 0, nullptr, nullptr)) return 4;
  if (cl.clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, bytes, 0, nullptr, nullptr)) return 5;
  if (cl.clReleaseMemObject(buffer) || cl.clReleaseCommandQueue(queue) ||
      cl.clReleaseContext(context))
    return 7;
  return bytes[63] == 6 ? 0 : 6;
}

// In this order, and in a program of their own: nothing else may have made a context.
TEST(Fork, BeforeTheFirstContextBothWork) {
  testPlatform();
  const int child = inChild(work);
  // NVIDIA's driver, asked for its devices, takes no commands in a child: no queue can be made.
  if (info<cl_device_type>(cl.clGetDeviceInfo, testDevice(), CL_DEVICE_TYPE) == CL_DEVICE_TYPE_GPU)
    EXPECT_TRUE(child == 0 || child == no_queue) << child;
  else
    EXPECT_EQ(child, 0);
  EXPECT_EQ(work(), 0);
}

TEST(Fork, AfterTheFirstContextTheChildsCallsFail) {
  ASSERT_EQ(work(), 0);
  OwnedContext context = makeContext();
  OwnedQueue queue(cl.clCreateCommandQueue(context, testDevice(), 0, nullptr));
  const int child = inChild([&] {
    if (cl.clFinish(queue) != CL_OUT_OF_RESOURCES) return 1;
    cl_int code = 1;
    if (cl.clCreateBuffer(context, 0, 64, nullptr, &code) || code != CL_OUT_OF_RESOURCES) return 2;
    if (cl.clReleaseCommandQueue(queue) != CL_OUT_OF_RESOURCES) return 3;
    cl_uint count = 0;
    return cl.clGetPlatformIDs(0, nullptr, &count) == CL_OUT_OF_RESOURCES ? 0 : 4;
  });
  EXPECT_EQ(child, 0);
  EXPECT_EQ(work(), 0);
}

}  // namespace
}  // namespace weft::conformance
