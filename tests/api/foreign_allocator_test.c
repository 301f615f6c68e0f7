// A program in C whose plug-in brings the C++ library, and an allocator for it, before Weft does:
// Weft's own objects are Weft's.
//   foreign_allocator_test PLUGIN LIBRARY
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdio.h>

typedef void*(CL_API_CALL* GetAddress)(const char*);
typedef cl_int(CL_API_CALL* GetPlatforms)(cl_uint, cl_platform_id*, cl_uint*);
typedef cl_int(CL_API_CALL* GetDevices)(cl_platform_id, cl_device_type, cl_uint, cl_device_id*,
                                        cl_uint*);

int main(int count, char** arguments) {
  if (count != 3) return 2;
  void* plugin = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
  int (*length)(const char*) = plugin ? (int (*)(const char*))dlsym(plugin, "lengthOfTwo") : NULL;
  if (!length || length("longer than what a string keeps in itself") != 82) return 3;
  void* library = dlopen(arguments[2], RTLD_LAZY | RTLD_LOCAL);
  GetAddress address = library ? (GetAddress)dlsym(library, "clGetExtensionFunctionAddress") : NULL;
  GetPlatforms platforms = address ? (GetPlatforms)address("clIcdGetPlatformIDsKHR") : NULL;
  cl_platform_id platform = NULL;
  if (!platforms || platforms(1, &platform, NULL) != CL_SUCCESS) return 4;
  const cl_icd_dispatch* dispatch = *(const cl_icd_dispatch**)platform;
  cl_uint devices = 0;
  if (((GetDevices)dispatch->clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &devices) !=
      CL_SUCCESS)
    return 5;
  printf("%u devices\n", devices);
  return devices == 0;
}
