/* The smallest of many numbers: each work-item scans its share, each work-group combines its
 * work-items with atomics in local memory and writes one value, and a second kernel combines the
 * groups with atomics in global memory.
 *   parallel_min [build options]     e.g. -save-temps */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *source =
    "#pragma OPENCL EXTENSION cl_khr_local_int32_extended_atomics : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_global_int32_extended_atomics : enable\n"
    "kernel void minimum(global const uint4 *in, uint items, global uint *group_min,\n"
    "                    local uint *local_min) {\n"
    "  uint smallest = UINT_MAX;\n"
    "  for (uint i = get_global_id(0); i < items; i += get_global_size(0)) {\n"
    "    uint2 two = min(in[i].xy, in[i].zw);\n"
    "    smallest = min(smallest, min(two.x, two.y));\n"
    "  }\n"
    "  if (get_local_id(0) == 0) *local_min = UINT_MAX;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  atom_min(local_min, smallest);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (get_local_id(0) == 0) group_min[get_group_id(0)] = *local_min;\n"
    "}\n"
    "kernel void combine(global const uint *group_min, global uint *result) {\n"
    "  atom_min(result, group_min[get_global_id(0)]);\n"
    "}\n";

static void check(cl_int status, const char *call) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s failed: %d\n", call, status);
  exit(1);
}

static void build(cl_program program, cl_device_id device, const char *options) {
  const cl_int status = clBuildProgram(program, 1, &device, options, NULL, NULL);
  if (status == CL_SUCCESS) return;
  static char log[10000];
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  fprintf(stderr, "%s\n", log);
  check(status, "clBuildProgram");
}

/* A few million numbers from a small generator; returns their minimum. */
static cl_uint make_numbers(cl_uint *numbers, size_t count) {
  cl_uint smallest = CL_UINT_MAX;
  cl_uint state = 12345;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = state | 0x100u;
    if (numbers[i] < smallest) smallest = numbers[i];
  }
  return smallest;
}

struct work {
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_uint compute_units;
};

static cl_uint parallel_min(const struct work *work, cl_uint *numbers, size_t count) {
  const size_t local_size = 64;
  const size_t groups = 7 * (size_t)work->compute_units;
  const size_t global_size = groups * local_size;
  const cl_uint items = (cl_uint)(count / 4);
  cl_uint result = CL_UINT_MAX;
  cl_int status;

  cl_mem in = clCreateBuffer(work->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                             count * sizeof(cl_uint), numbers, &status);
  check(status, "clCreateBuffer");
  cl_mem group_min =
      clCreateBuffer(work->context, CL_MEM_READ_WRITE, groups * sizeof(cl_uint), NULL, &status);
  check(status, "clCreateBuffer");
  cl_mem out = clCreateBuffer(work->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                              sizeof result, &result, &status);
  check(status, "clCreateBuffer");

  cl_kernel minimum = clCreateKernel(work->program, "minimum", &status);
  check(status, "clCreateKernel");
  check(clSetKernelArg(minimum, 0, sizeof in, &in), "clSetKernelArg");
  check(clSetKernelArg(minimum, 1, sizeof items, &items), "clSetKernelArg");
  check(clSetKernelArg(minimum, 2, sizeof group_min, &group_min), "clSetKernelArg");
  check(clSetKernelArg(minimum, 3, sizeof(cl_uint), NULL), "clSetKernelArg");
  cl_kernel combine = clCreateKernel(work->program, "combine", &status);
  check(status, "clCreateKernel");
  check(clSetKernelArg(combine, 0, sizeof group_min, &group_min), "clSetKernelArg");
  check(clSetKernelArg(combine, 1, sizeof out, &out), "clSetKernelArg");

  cl_event scanned;
  check(clEnqueueNDRangeKernel(work->queue, minimum, 1, NULL, &global_size, &local_size, 0, NULL,
                               &scanned),
        "clEnqueueNDRangeKernel");
  check(clEnqueueNDRangeKernel(work->queue, combine, 1, NULL, &groups, NULL, 1, &scanned, NULL),
        "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(work->queue, out, CL_TRUE, 0, sizeof result, &result, 0, NULL, NULL),
        "clEnqueueReadBuffer");

  clReleaseEvent(scanned);
  clReleaseKernel(minimum);
  clReleaseKernel(combine);
  clReleaseMemObject(in);
  clReleaseMemObject(group_min);
  clReleaseMemObject(out);
  return result;
}

int main(int argc, char **argv) {
  const size_t count = 4 * 1024 * 1024;
  cl_int status;
  cl_platform_id platform;
  cl_device_id device;
  struct work work;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  check(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof work.compute_units,
                        &work.compute_units, NULL),
        "clGetDeviceInfo");
  work.context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  work.queue = clCreateCommandQueueWithProperties(work.context, device, NULL, &status);
  check(status, "clCreateCommandQueueWithProperties");
  work.program = clCreateProgramWithSource(work.context, 1, &source, NULL, &status);
  check(status, "clCreateProgramWithSource");
  build(work.program, device, argc > 1 ? argv[1] : "");

  cl_uint *numbers = malloc(count * sizeof(cl_uint));
  if (!numbers) return 1;
  const cl_uint expected = make_numbers(numbers, count);
  const cl_uint result = parallel_min(&work, numbers, count);
  printf("parallel_min: %u among %zu numbers, expected %u\n", result, count, expected);

  free(numbers);
  clReleaseProgram(work.program);
  clReleaseCommandQueue(work.queue);
  clReleaseContext(work.context);
  return result == expected ? 0 : 1;
}
