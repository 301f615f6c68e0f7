/* The smallest whole program: a kernel writes each work-item's number into a buffer. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *source =
    "kernel void fill(global uint *out, uint base) {\n"
    "  out[get_global_id(0)] = base + (uint)get_global_id(0);\n"
    "}\n";

static void check(cl_int status, const char *call) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s failed: %d\n", call, status);
  exit(1);
}

int main(void) {
  enum { count = 1000 };
  cl_int status;
  cl_platform_id platform;
  cl_device_id device;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");

  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
  check(status, "clCreateCommandQueueWithProperties");

  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "fill", &status);
  check(status, "clCreateKernel");

  cl_mem buffer =
      clCreateBuffer(context, CL_MEM_WRITE_ONLY, count * sizeof(cl_uint), NULL, &status);
  check(status, "clCreateBuffer");
  const cl_uint base = 7;
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof base, &base), "clSetKernelArg");

  /* No local size: the implementation chooses. */
  const size_t size = count;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");

  cl_uint result[count];
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  for (cl_uint i = 0; i < count; ++i) {
    if (result[i] != base + i) {
      fprintf(stderr, "element %u is %u\n", i, result[i]);
      return 1;
    }
  }
  printf("fill: %d elements are right, the last is %u\n", count, result[count - 1]);

  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
