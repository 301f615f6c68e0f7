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
#include "api/entry_points.h"
#include "api/trace.h"
#include "core/handle.h"

namespace weft::api {
namespace {

// The Direct3D entries stay empty: no loader outside Windows has functions for them.
template <CallTrace trace>
constexpr cl_icd_dispatch table_of_3_0 = {
    // OpenCL 1.0
    .clGetPlatformIDs = entry<trace, clGetPlatformIDs>(),
    .clGetPlatformInfo = entry<trace, clGetPlatformInfo>(),
    .clGetDeviceIDs = entry<trace, clGetDeviceIDs>(),
    .clGetDeviceInfo = entry<trace, clGetDeviceInfo>(),
    .clCreateContext = entry<trace, clCreateContext>(),
    .clCreateContextFromType = entry<trace, clCreateContextFromType>(),
    .clRetainContext = entry<trace, clRetainContext>(),
    .clReleaseContext = entry<trace, clReleaseContext>(),
    .clGetContextInfo = entry<trace, clGetContextInfo>(),
    .clCreateCommandQueue = entry<trace, clCreateCommandQueue>(),
    .clRetainCommandQueue = entry<trace, clRetainCommandQueue>(),
    .clReleaseCommandQueue = entry<trace, clReleaseCommandQueue>(),
    .clGetCommandQueueInfo = entry<trace, clGetCommandQueueInfo>(),
    .clSetCommandQueueProperty = entry<trace, clSetCommandQueueProperty>(),
    .clCreateBuffer = entry<trace, clCreateBuffer>(),
    .clCreateImage2D = entry<trace, clCreateImage2D>(),
    .clCreateImage3D = entry<trace, clCreateImage3D>(),
    .clRetainMemObject = entry<trace, clRetainMemObject>(),
    .clReleaseMemObject = entry<trace, clReleaseMemObject>(),
    .clGetSupportedImageFormats = entry<trace, clGetSupportedImageFormats>(),
    .clGetMemObjectInfo = entry<trace, clGetMemObjectInfo>(),
    .clGetImageInfo = entry<trace, clGetImageInfo>(),
    .clCreateSampler = entry<trace, clCreateSampler>(),
    .clRetainSampler = entry<trace, clRetainSampler>(),
    .clReleaseSampler = entry<trace, clReleaseSampler>(),
    .clGetSamplerInfo = entry<trace, clGetSamplerInfo>(),
    .clCreateProgramWithSource = entry<trace, clCreateProgramWithSource>(),
    .clCreateProgramWithBinary = entry<trace, clCreateProgramWithBinary>(),
    .clRetainProgram = entry<trace, clRetainProgram>(),
    .clReleaseProgram = entry<trace, clReleaseProgram>(),
    .clBuildProgram = entry<trace, clBuildProgram>(),
    .clUnloadCompiler = entry<trace, clUnloadCompiler>(),
    .clGetProgramInfo = entry<trace, clGetProgramInfo>(),
    .clGetProgramBuildInfo = entry<trace, clGetProgramBuildInfo>(),
    .clCreateKernel = entry<trace, clCreateKernel>(),
    .clCreateKernelsInProgram = entry<trace, clCreateKernelsInProgram>(),
    .clRetainKernel = entry<trace, clRetainKernel>(),
    .clReleaseKernel = entry<trace, clReleaseKernel>(),
    .clSetKernelArg = entry<trace, clSetKernelArg>(),
    .clGetKernelInfo = entry<trace, clGetKernelInfo>(),
    .clGetKernelWorkGroupInfo = entry<trace, clGetKernelWorkGroupInfo>(),
    .clWaitForEvents = entry<trace, clWaitForEvents>(),
    .clGetEventInfo = entry<trace, clGetEventInfo>(),
    .clRetainEvent = entry<trace, clRetainEvent>(),
    .clReleaseEvent = entry<trace, clReleaseEvent>(),
    .clGetEventProfilingInfo = entry<trace, clGetEventProfilingInfo>(),
    .clFlush = entry<trace, clFlush>(),
    .clFinish = entry<trace, clFinish>(),
    .clEnqueueReadBuffer = entry<trace, clEnqueueReadBuffer>(),
    .clEnqueueWriteBuffer = entry<trace, clEnqueueWriteBuffer>(),
    .clEnqueueCopyBuffer = entry<trace, clEnqueueCopyBuffer>(),
    .clEnqueueReadImage = entry<trace, clEnqueueReadImage>(),
    .clEnqueueWriteImage = entry<trace, clEnqueueWriteImage>(),
    .clEnqueueCopyImage = entry<trace, clEnqueueCopyImage>(),
    .clEnqueueCopyImageToBuffer = entry<trace, clEnqueueCopyImageToBuffer>(),
    .clEnqueueCopyBufferToImage = entry<trace, clEnqueueCopyBufferToImage>(),
    .clEnqueueMapBuffer = entry<trace, clEnqueueMapBuffer>(),
    .clEnqueueMapImage = entry<trace, clEnqueueMapImage>(),
    .clEnqueueUnmapMemObject = entry<trace, clEnqueueUnmapMemObject>(),
    .clEnqueueNDRangeKernel = entry<trace, clEnqueueNDRangeKernel>(),
    .clEnqueueTask = entry<trace, clEnqueueTask>(),
    .clEnqueueNativeKernel = entry<trace, clEnqueueNativeKernel>(),
    .clEnqueueMarker = entry<trace, clEnqueueMarker>(),
    .clEnqueueWaitForEvents = entry<trace, clEnqueueWaitForEvents>(),
    .clEnqueueBarrier = entry<trace, clEnqueueBarrier>(),
    .clGetExtensionFunctionAddress = entry<trace, clGetExtensionFunctionAddress>(),
    .clCreateFromGLBuffer = entry<trace, clCreateFromGLBuffer>(),
    .clCreateFromGLTexture2D = entry<trace, clCreateFromGLTexture2D>(),
    .clCreateFromGLTexture3D = entry<trace, clCreateFromGLTexture3D>(),
    .clCreateFromGLRenderbuffer = entry<trace, clCreateFromGLRenderbuffer>(),
    .clGetGLObjectInfo = entry<trace, clGetGLObjectInfo>(),
    .clGetGLTextureInfo = entry<trace, clGetGLTextureInfo>(),
    .clEnqueueAcquireGLObjects = entry<trace, clEnqueueAcquireGLObjects>(),
    .clEnqueueReleaseGLObjects = entry<trace, clEnqueueReleaseGLObjects>(),
    .clGetGLContextInfoKHR = entry<trace, clGetGLContextInfoKHR>(),
    // cl_khr_d3d10_sharing
    .clGetDeviceIDsFromD3D10KHR = nullptr,
    .clCreateFromD3D10BufferKHR = nullptr,
    .clCreateFromD3D10Texture2DKHR = nullptr,
    .clCreateFromD3D10Texture3DKHR = nullptr,
    .clEnqueueAcquireD3D10ObjectsKHR = nullptr,
    .clEnqueueReleaseD3D10ObjectsKHR = nullptr,
    // OpenCL 1.1
    .clSetEventCallback = entry<trace, clSetEventCallback>(),
    .clCreateSubBuffer = entry<trace, clCreateSubBuffer>(),
    .clSetMemObjectDestructorCallback = entry<trace, clSetMemObjectDestructorCallback>(),
    .clCreateUserEvent = entry<trace, clCreateUserEvent>(),
    .clSetUserEventStatus = entry<trace, clSetUserEventStatus>(),
    .clEnqueueReadBufferRect = entry<trace, clEnqueueReadBufferRect>(),
    .clEnqueueWriteBufferRect = entry<trace, clEnqueueWriteBufferRect>(),
    .clEnqueueCopyBufferRect = entry<trace, clEnqueueCopyBufferRect>(),
    // cl_ext_device_fission
    .clCreateSubDevicesEXT = entry<trace, clCreateSubDevicesEXT>(),
    .clRetainDeviceEXT = entry<trace, clRetainDeviceEXT>(),
    .clReleaseDeviceEXT = entry<trace, clReleaseDeviceEXT>(),
    // cl_khr_gl_event
    .clCreateEventFromGLsyncKHR = entry<trace, clCreateEventFromGLsyncKHR>(),
    // OpenCL 1.2
    .clCreateSubDevices = entry<trace, clCreateSubDevices>(),
    .clRetainDevice = entry<trace, clRetainDevice>(),
    .clReleaseDevice = entry<trace, clReleaseDevice>(),
    .clCreateImage = entry<trace, clCreateImage>(),
    .clCreateProgramWithBuiltInKernels = entry<trace, clCreateProgramWithBuiltInKernels>(),
    .clCompileProgram = entry<trace, clCompileProgram>(),
    .clLinkProgram = entry<trace, clLinkProgram>(),
    .clUnloadPlatformCompiler = entry<trace, clUnloadPlatformCompiler>(),
    .clGetKernelArgInfo = entry<trace, clGetKernelArgInfo>(),
    .clEnqueueFillBuffer = entry<trace, clEnqueueFillBuffer>(),
    .clEnqueueFillImage = entry<trace, clEnqueueFillImage>(),
    .clEnqueueMigrateMemObjects = entry<trace, clEnqueueMigrateMemObjects>(),
    .clEnqueueMarkerWithWaitList = entry<trace, clEnqueueMarkerWithWaitList>(),
    .clEnqueueBarrierWithWaitList = entry<trace, clEnqueueBarrierWithWaitList>(),
    .clGetExtensionFunctionAddressForPlatform =
        entry<trace, clGetExtensionFunctionAddressForPlatform>(),
    .clCreateFromGLTexture = entry<trace, clCreateFromGLTexture>(),
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
    .clCreateFromEGLImageKHR = entry<trace, clCreateFromEGLImageKHR>(),
    .clEnqueueAcquireEGLObjectsKHR = entry<trace, clEnqueueAcquireEGLObjectsKHR>(),
    .clEnqueueReleaseEGLObjectsKHR = entry<trace, clEnqueueReleaseEGLObjectsKHR>(),
    // cl_khr_egl_event
    .clCreateEventFromEGLSyncKHR = entry<trace, clCreateEventFromEGLSyncKHR>(),
    // OpenCL 2.0
    .clCreateCommandQueueWithProperties = entry<trace, clCreateCommandQueueWithProperties>(),
    .clCreatePipe = entry<trace, clCreatePipe>(),
    .clGetPipeInfo = entry<trace, clGetPipeInfo>(),
    .clSVMAlloc = entry<trace, clSVMAlloc>(),
    .clSVMFree = entry<trace, clSVMFree>(),
    .clEnqueueSVMFree = entry<trace, clEnqueueSVMFree>(),
    .clEnqueueSVMMemcpy = entry<trace, clEnqueueSVMMemcpy>(),
    .clEnqueueSVMMemFill = entry<trace, clEnqueueSVMMemFill>(),
    .clEnqueueSVMMap = entry<trace, clEnqueueSVMMap>(),
    .clEnqueueSVMUnmap = entry<trace, clEnqueueSVMUnmap>(),
    .clCreateSamplerWithProperties = entry<trace, clCreateSamplerWithProperties>(),
    .clSetKernelArgSVMPointer = entry<trace, clSetKernelArgSVMPointer>(),
    .clSetKernelExecInfo = entry<trace, clSetKernelExecInfo>(),
    // cl_khr_sub_groups
    .clGetKernelSubGroupInfoKHR = entry<trace, clGetKernelSubGroupInfoKHR>(),
    // OpenCL 2.1
    .clCloneKernel = entry<trace, clCloneKernel>(),
    .clCreateProgramWithIL = entry<trace, clCreateProgramWithIL>(),
    .clEnqueueSVMMigrateMem = entry<trace, clEnqueueSVMMigrateMem>(),
    .clGetDeviceAndHostTimer = entry<trace, clGetDeviceAndHostTimer>(),
    .clGetHostTimer = entry<trace, clGetHostTimer>(),
    .clGetKernelSubGroupInfo = entry<trace, clGetKernelSubGroupInfo>(),
    .clSetDefaultDeviceCommandQueue = entry<trace, clSetDefaultDeviceCommandQueue>(),
    // OpenCL 2.2
    .clSetProgramReleaseCallback = entry<trace, clSetProgramReleaseCallback>(),
    .clSetProgramSpecializationConstant = entry<trace, clSetProgramSpecializationConstant>(),
    // OpenCL 3.0
    .clCreateBufferWithProperties = entry<trace, clCreateBufferWithProperties>(),
    .clCreateImageWithProperties = entry<trace, clCreateImageWithProperties>(),
    .clSetContextDestructorCallback = entry<trace, clSetContextDestructorCallback>(),
};

// What OpenCL 3.1 adds behind the table that the header of 3.0 has.
struct Table {
  cl_icd_dispatch of_3_0;
  decltype(&clGetKernelSuggestedLocalWorkSizeKHR) clGetKernelSuggestedLocalWorkSize;
};

template <CallTrace trace>
constexpr Table table = {table_of_3_0<trace>, entry<trace, clGetKernelSuggestedLocalWorkSizeKHR>()};

// A newer header's table would have the function itself.
static_assert(offsetof(cl_icd_dispatch, clSetContextDestructorCallback) + sizeof(void*) ==
              sizeof(cl_icd_dispatch));

struct NamedFunction {
  std::string_view name;
  void* address;
};

template <auto function>
NamedFunction named(std::string_view name) {
  static constexpr decltype(function) entries[] = {entry<CallTrace::none, function>(),
                                                   entry<CallTrace::printed, function>(),
                                                   entry<CallTrace::recorded, function>()};
  const auto trace = static_cast<size_t>(callTrace());
  return {name, reinterpret_cast<void*>(entries[trace])};
}

}  // namespace

void installDispatch() noexcept {
  static constexpr const Table* tables[] = {&table<CallTrace::none>, &table<CallTrace::printed>,
                                            &table<CallTrace::recorded>};
  icd_dispatch = tables[static_cast<size_t>(callTrace())];
}

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
