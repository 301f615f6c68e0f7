#include "api/dispatch.h"

#include <CL/cl_egl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "api/cl_weft_ext.h"
#include "api/command_buffer_entry_points.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/trace.h"
#include "core/handle.h"

namespace weft::api {
namespace {

// The Direct3D entries stay empty: no loader outside Windows has functions for them.
template <bool traced>
constexpr cl_icd_dispatch table_of_3_0 = {
    // OpenCL 1.0
    .clGetPlatformIDs = entry<traced, clGetPlatformIDs>(),
    .clGetPlatformInfo = entry<traced, clGetPlatformInfo>(),
    .clGetDeviceIDs = entry<traced, clGetDeviceIDs>(),
    .clGetDeviceInfo = entry<traced, clGetDeviceInfo>(),
    .clCreateContext = entry<traced, clCreateContext>(),
    .clCreateContextFromType = entry<traced, clCreateContextFromType>(),
    .clRetainContext = entry<traced, clRetainContext>(),
    .clReleaseContext = entry<traced, clReleaseContext>(),
    .clGetContextInfo = entry<traced, clGetContextInfo>(),
    .clCreateCommandQueue = entry<traced, clCreateCommandQueue>(),
    .clRetainCommandQueue = entry<traced, clRetainCommandQueue>(),
    .clReleaseCommandQueue = entry<traced, clReleaseCommandQueue>(),
    .clGetCommandQueueInfo = entry<traced, clGetCommandQueueInfo>(),
    .clSetCommandQueueProperty = entry<traced, clSetCommandQueueProperty>(),
    .clCreateBuffer = entry<traced, clCreateBuffer>(),
    .clCreateImage2D = entry<traced, clCreateImage2D>(),
    .clCreateImage3D = entry<traced, clCreateImage3D>(),
    .clRetainMemObject = entry<traced, clRetainMemObject>(),
    .clReleaseMemObject = entry<traced, clReleaseMemObject>(),
    .clGetSupportedImageFormats = entry<traced, clGetSupportedImageFormats>(),
    .clGetMemObjectInfo = entry<traced, clGetMemObjectInfo>(),
    .clGetImageInfo = entry<traced, clGetImageInfo>(),
    .clCreateSampler = entry<traced, clCreateSampler>(),
    .clRetainSampler = entry<traced, clRetainSampler>(),
    .clReleaseSampler = entry<traced, clReleaseSampler>(),
    .clGetSamplerInfo = entry<traced, clGetSamplerInfo>(),
    .clCreateProgramWithSource = entry<traced, clCreateProgramWithSource>(),
    .clCreateProgramWithBinary = entry<traced, clCreateProgramWithBinary>(),
    .clRetainProgram = entry<traced, clRetainProgram>(),
    .clReleaseProgram = entry<traced, clReleaseProgram>(),
    .clBuildProgram = entry<traced, clBuildProgram>(),
    .clUnloadCompiler = entry<traced, clUnloadCompiler>(),
    .clGetProgramInfo = entry<traced, clGetProgramInfo>(),
    .clGetProgramBuildInfo = entry<traced, clGetProgramBuildInfo>(),
    .clCreateKernel = entry<traced, clCreateKernel>(),
    .clCreateKernelsInProgram = entry<traced, clCreateKernelsInProgram>(),
    .clRetainKernel = entry<traced, clRetainKernel>(),
    .clReleaseKernel = entry<traced, clReleaseKernel>(),
    .clSetKernelArg = entry<traced, clSetKernelArg>(),
    .clGetKernelInfo = entry<traced, clGetKernelInfo>(),
    .clGetKernelWorkGroupInfo = entry<traced, clGetKernelWorkGroupInfo>(),
    .clWaitForEvents = entry<traced, clWaitForEvents>(),
    .clGetEventInfo = entry<traced, clGetEventInfo>(),
    .clRetainEvent = entry<traced, clRetainEvent>(),
    .clReleaseEvent = entry<traced, clReleaseEvent>(),
    .clGetEventProfilingInfo = entry<traced, clGetEventProfilingInfo>(),
    .clFlush = entry<traced, clFlush>(),
    .clFinish = entry<traced, clFinish>(),
    .clEnqueueReadBuffer = entry<traced, clEnqueueReadBuffer>(),
    .clEnqueueWriteBuffer = entry<traced, clEnqueueWriteBuffer>(),
    .clEnqueueCopyBuffer = entry<traced, clEnqueueCopyBuffer>(),
    .clEnqueueReadImage = entry<traced, clEnqueueReadImage>(),
    .clEnqueueWriteImage = entry<traced, clEnqueueWriteImage>(),
    .clEnqueueCopyImage = entry<traced, clEnqueueCopyImage>(),
    .clEnqueueCopyImageToBuffer = entry<traced, clEnqueueCopyImageToBuffer>(),
    .clEnqueueCopyBufferToImage = entry<traced, clEnqueueCopyBufferToImage>(),
    .clEnqueueMapBuffer = entry<traced, clEnqueueMapBuffer>(),
    .clEnqueueMapImage = entry<traced, clEnqueueMapImage>(),
    .clEnqueueUnmapMemObject = entry<traced, clEnqueueUnmapMemObject>(),
    .clEnqueueNDRangeKernel = entry<traced, clEnqueueNDRangeKernel>(),
    .clEnqueueTask = entry<traced, clEnqueueTask>(),
    .clEnqueueNativeKernel = entry<traced, clEnqueueNativeKernel>(),
    .clEnqueueMarker = entry<traced, clEnqueueMarker>(),
    .clEnqueueWaitForEvents = entry<traced, clEnqueueWaitForEvents>(),
    .clEnqueueBarrier = entry<traced, clEnqueueBarrier>(),
    .clGetExtensionFunctionAddress = entry<traced, clGetExtensionFunctionAddress>(),
    .clCreateFromGLBuffer = entry<traced, clCreateFromGLBuffer>(),
    .clCreateFromGLTexture2D = entry<traced, clCreateFromGLTexture2D>(),
    .clCreateFromGLTexture3D = entry<traced, clCreateFromGLTexture3D>(),
    .clCreateFromGLRenderbuffer = entry<traced, clCreateFromGLRenderbuffer>(),
    .clGetGLObjectInfo = entry<traced, clGetGLObjectInfo>(),
    .clGetGLTextureInfo = entry<traced, clGetGLTextureInfo>(),
    .clEnqueueAcquireGLObjects = entry<traced, clEnqueueAcquireGLObjects>(),
    .clEnqueueReleaseGLObjects = entry<traced, clEnqueueReleaseGLObjects>(),
    .clGetGLContextInfoKHR = entry<traced, clGetGLContextInfoKHR>(),
    // cl_khr_d3d10_sharing
    .clGetDeviceIDsFromD3D10KHR = nullptr,
    .clCreateFromD3D10BufferKHR = nullptr,
    .clCreateFromD3D10Texture2DKHR = nullptr,
    .clCreateFromD3D10Texture3DKHR = nullptr,
    .clEnqueueAcquireD3D10ObjectsKHR = nullptr,
    .clEnqueueReleaseD3D10ObjectsKHR = nullptr,
    // OpenCL 1.1
    .clSetEventCallback = entry<traced, clSetEventCallback>(),
    .clCreateSubBuffer = entry<traced, clCreateSubBuffer>(),
    .clSetMemObjectDestructorCallback = entry<traced, clSetMemObjectDestructorCallback>(),
    .clCreateUserEvent = entry<traced, clCreateUserEvent>(),
    .clSetUserEventStatus = entry<traced, clSetUserEventStatus>(),
    .clEnqueueReadBufferRect = entry<traced, clEnqueueReadBufferRect>(),
    .clEnqueueWriteBufferRect = entry<traced, clEnqueueWriteBufferRect>(),
    .clEnqueueCopyBufferRect = entry<traced, clEnqueueCopyBufferRect>(),
    // cl_ext_device_fission
    .clCreateSubDevicesEXT = entry<traced, clCreateSubDevicesEXT>(),
    .clRetainDeviceEXT = entry<traced, clRetainDeviceEXT>(),
    .clReleaseDeviceEXT = entry<traced, clReleaseDeviceEXT>(),
    // cl_khr_gl_event
    .clCreateEventFromGLsyncKHR = entry<traced, clCreateEventFromGLsyncKHR>(),
    // OpenCL 1.2
    .clCreateSubDevices = entry<traced, clCreateSubDevices>(),
    .clRetainDevice = entry<traced, clRetainDevice>(),
    .clReleaseDevice = entry<traced, clReleaseDevice>(),
    .clCreateImage = entry<traced, clCreateImage>(),
    .clCreateProgramWithBuiltInKernels = entry<traced, clCreateProgramWithBuiltInKernels>(),
    .clCompileProgram = entry<traced, clCompileProgram>(),
    .clLinkProgram = entry<traced, clLinkProgram>(),
    .clUnloadPlatformCompiler = entry<traced, clUnloadPlatformCompiler>(),
    .clGetKernelArgInfo = entry<traced, clGetKernelArgInfo>(),
    .clEnqueueFillBuffer = entry<traced, clEnqueueFillBuffer>(),
    .clEnqueueFillImage = entry<traced, clEnqueueFillImage>(),
    .clEnqueueMigrateMemObjects = entry<traced, clEnqueueMigrateMemObjects>(),
    .clEnqueueMarkerWithWaitList = entry<traced, clEnqueueMarkerWithWaitList>(),
    .clEnqueueBarrierWithWaitList = entry<traced, clEnqueueBarrierWithWaitList>(),
    .clGetExtensionFunctionAddressForPlatform =
        entry<traced, clGetExtensionFunctionAddressForPlatform>(),
    .clCreateFromGLTexture = entry<traced, clCreateFromGLTexture>(),
    // cl_khr_d3d11_sharing
    .clGetDeviceIDsFromD3D11KHR = nullptr,
    .clCreateFromD3D11BufferKHR = nullptr,
    .clCreateFromD3D11Texture2DKHR = nullptr,
    .clCreateFromD3D11Texture3DKHR = nullptr,
    .clCreateFromDX9MediaSurfaceKHR = nullptr,
    .clEnqueueAcquireD3D11ObjectsKHR = nullptr,
    .clEnqueueReleaseD3D11ObjectsKHR = nullptr,
    // cl_khr_dx9_media_sharing
    .clGetDeviceIDsFromDX9MediaAdapterKHR = nullptr,
    .clEnqueueAcquireDX9MediaSurfacesKHR = nullptr,
    .clEnqueueReleaseDX9MediaSurfacesKHR = nullptr,
    // cl_khr_egl_image
    .clCreateFromEGLImageKHR = entry<traced, clCreateFromEGLImageKHR>(),
    .clEnqueueAcquireEGLObjectsKHR = entry<traced, clEnqueueAcquireEGLObjectsKHR>(),
    .clEnqueueReleaseEGLObjectsKHR = entry<traced, clEnqueueReleaseEGLObjectsKHR>(),
    // cl_khr_egl_event
    .clCreateEventFromEGLSyncKHR = entry<traced, clCreateEventFromEGLSyncKHR>(),
    // OpenCL 2.0
    .clCreateCommandQueueWithProperties = entry<traced, clCreateCommandQueueWithProperties>(),
    .clCreatePipe = entry<traced, clCreatePipe>(),
    .clGetPipeInfo = entry<traced, clGetPipeInfo>(),
    .clSVMAlloc = entry<traced, clSVMAlloc>(),
    .clSVMFree = entry<traced, clSVMFree>(),
    .clEnqueueSVMFree = entry<traced, clEnqueueSVMFree>(),
    .clEnqueueSVMMemcpy = entry<traced, clEnqueueSVMMemcpy>(),
    .clEnqueueSVMMemFill = entry<traced, clEnqueueSVMMemFill>(),
    .clEnqueueSVMMap = entry<traced, clEnqueueSVMMap>(),
    .clEnqueueSVMUnmap = entry<traced, clEnqueueSVMUnmap>(),
    .clCreateSamplerWithProperties = entry<traced, clCreateSamplerWithProperties>(),
    .clSetKernelArgSVMPointer = entry<traced, clSetKernelArgSVMPointer>(),
    .clSetKernelExecInfo = entry<traced, clSetKernelExecInfo>(),
    // cl_khr_sub_groups
    .clGetKernelSubGroupInfoKHR = entry<traced, clGetKernelSubGroupInfoKHR>(),
    // OpenCL 2.1
    .clCloneKernel = entry<traced, clCloneKernel>(),
    .clCreateProgramWithIL = entry<traced, clCreateProgramWithIL>(),
    .clEnqueueSVMMigrateMem = entry<traced, clEnqueueSVMMigrateMem>(),
    .clGetDeviceAndHostTimer = entry<traced, clGetDeviceAndHostTimer>(),
    .clGetHostTimer = entry<traced, clGetHostTimer>(),
    .clGetKernelSubGroupInfo = entry<traced, clGetKernelSubGroupInfo>(),
    .clSetDefaultDeviceCommandQueue = entry<traced, clSetDefaultDeviceCommandQueue>(),
    // OpenCL 2.2
    .clSetProgramReleaseCallback = entry<traced, clSetProgramReleaseCallback>(),
    .clSetProgramSpecializationConstant = entry<traced, clSetProgramSpecializationConstant>(),
    // OpenCL 3.0
    .clCreateBufferWithProperties = entry<traced, clCreateBufferWithProperties>(),
    .clCreateImageWithProperties = entry<traced, clCreateImageWithProperties>(),
    .clSetContextDestructorCallback = entry<traced, clSetContextDestructorCallback>(),
};

// What OpenCL 3.1 adds behind the table that the header of 3.0 has.
struct Table {
  cl_icd_dispatch of_3_0;
  decltype(&clGetKernelSuggestedLocalWorkSizeKHR) clGetKernelSuggestedLocalWorkSize;
};

template <bool traced>
constexpr Table table = {table_of_3_0<traced>,
                         entry<traced, clGetKernelSuggestedLocalWorkSizeKHR>()};

// A newer header's table would have the function itself.
static_assert(offsetof(cl_icd_dispatch, clSetContextDestructorCallback) + sizeof(void*) ==
              sizeof(cl_icd_dispatch));

struct NamedFunction {
  std::string_view name;
  void* address;
};

template <auto function>
NamedFunction named(std::string_view name) {
  const auto address = trace_enabled ? entry<true, function>() : entry<false, function>();
  return {name, reinterpret_cast<void*>(address)};
}

}  // namespace

void installDispatch() noexcept { icd_dispatch = trace_enabled ? &table<true> : &table<false>; }

void* extensionFunction(const char* name) noexcept {
  static const NamedFunction functions[] = {
      named<clIcdGetPlatformIDsKHR>("clIcdGetPlatformIDsKHR"),
      named<clCreateCommandQueueWithPropertiesKHR>("clCreateCommandQueueWithPropertiesKHR"),
      named<clGetKernelSuggestedLocalWorkSizeKHR>("clGetKernelSuggestedLocalWorkSizeKHR"),
      named<clGetContextStatisticsWEFT>("clGetContextStatisticsWEFT"),
      named<clGetPlatformReportWEFT>("clGetPlatformReportWEFT"),
      named<clHostMemAllocINTEL>("clHostMemAllocINTEL"),
      named<clDeviceMemAllocINTEL>("clDeviceMemAllocINTEL"),
      named<clSharedMemAllocINTEL>("clSharedMemAllocINTEL"),
      named<clMemFreeINTEL>("clMemFreeINTEL"),
      named<clMemBlockingFreeINTEL>("clMemBlockingFreeINTEL"),
      named<clGetMemAllocInfoINTEL>("clGetMemAllocInfoINTEL"),
      named<clSetKernelArgMemPointerINTEL>("clSetKernelArgMemPointerINTEL"),
      named<clEnqueueMemsetINTEL>("clEnqueueMemsetINTEL"),
      named<clEnqueueMemFillINTEL>("clEnqueueMemFillINTEL"),
      named<clEnqueueMemcpyINTEL>("clEnqueueMemcpyINTEL"),
      named<clEnqueueMigrateMemINTEL>("clEnqueueMigrateMemINTEL"),
      named<clEnqueueMemAdviseINTEL>("clEnqueueMemAdviseINTEL"),
      named<clGetKernelSplitInfoWEFT>("clGetKernelSplitInfoWEFT"),
      named<api::clCreateCommandBufferKHR>("clCreateCommandBufferKHR"),
      named<api::clFinalizeCommandBufferKHR>("clFinalizeCommandBufferKHR"),
      named<api::clRetainCommandBufferKHR>("clRetainCommandBufferKHR"),
      named<api::clReleaseCommandBufferKHR>("clReleaseCommandBufferKHR"),
      named<api::clEnqueueCommandBufferKHR>("clEnqueueCommandBufferKHR"),
      named<api::clGetCommandBufferInfoKHR>("clGetCommandBufferInfoKHR"),
      named<api::clCommandBarrierWithWaitListKHR>("clCommandBarrierWithWaitListKHR"),
      named<api::clCommandCopyBufferKHR>("clCommandCopyBufferKHR"),
      named<api::clCommandCopyBufferRectKHR>("clCommandCopyBufferRectKHR"),
      named<api::clCommandCopyBufferToImageKHR>("clCommandCopyBufferToImageKHR"),
      named<api::clCommandCopyImageKHR>("clCommandCopyImageKHR"),
      named<api::clCommandCopyImageToBufferKHR>("clCommandCopyImageToBufferKHR"),
      named<api::clCommandFillBufferKHR>("clCommandFillBufferKHR"),
      named<api::clCommandFillImageKHR>("clCommandFillImageKHR"),
      named<api::clCommandSVMMemcpyKHR>("clCommandSVMMemcpyKHR"),
      named<api::clCommandSVMMemFillKHR>("clCommandSVMMemFillKHR"),
      named<api::clCommandNDRangeKernelKHR>("clCommandNDRangeKernelKHR"),
      named<api::clUpdateMutableCommandsKHR>("clUpdateMutableCommandsKHR"),
      named<api::clGetMutableCommandInfoKHR>("clGetMutableCommandInfoKHR"),
  };
  const auto found = std::find_if(std::begin(functions), std::end(functions),
                                  [&](const NamedFunction& f) { return f.name == name; });
  return found == std::end(functions) ? nullptr : found->address;
}

}  // namespace weft::api
