/* A program with a mistake: the build fails, and its log says where. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *source =
    "kernel void scale(global float *values, float factor) {\n"
    "  size_t i = get_global_id(0);\n"
    "  values[i] = values[i] * faktor;\n"
    "}\n";

static void check(cl_int status, const char *call) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s failed: %d\n", call, status);
  exit(1);
}

int main(void) {
  cl_int status;
  cl_platform_id platform;
  cl_device_id device;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  check(status, "clCreateProgramWithSource");

  status = clBuildProgram(program, 1, &device, NULL, NULL, NULL);
  if (status != CL_BUILD_PROGRAM_FAILURE) {
    fprintf(stderr, "clBuildProgram gave %d\n", status);
    return 1;
  }

  /* First the size, then the text. */
  size_t size = 0;
  check(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size),
        "clGetProgramBuildInfo");
  char *log = malloc(size);
  if (!log) return 1;
  check(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL),
        "clGetProgramBuildInfo");
  printf("compile_error: the build failed as it should; its log:\n%s\n", log);
  const int named = strstr(log, "faktor") != NULL;

  free(log);
  clReleaseProgram(program);
  clReleaseContext(context);
  return named ? 0 : 1;
}
