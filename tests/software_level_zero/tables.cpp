// What the loader asks a driver for.
#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>

#include "tests/software_level_zero/entry_points.h"

#define WEFT_TABLE extern "C" [[gnu::visibility("default")]] ze_result_t

using weft::software::ok;
namespace entry = weft::software::entry;

#define WEFT_NO_TABLE(function, table) \
  WEFT_TABLE function(ze_api_version_t, table*) { return ok; }
#include "tests/software_level_zero/tables.def"
#undef WEFT_NO_TABLE

WEFT_TABLE zeGetGlobalProcAddrTable(ze_api_version_t, ze_global_dditable_t* table) {
  table->pfnInit = entry::init;
  return ok;
}
WEFT_TABLE zeGetDriverProcAddrTable(ze_api_version_t, ze_driver_dditable_t* table) {
  table->pfnGet = entry::driverGet;
  table->pfnGetApiVersion = entry::driverGetApiVersion;
  table->pfnGetProperties = entry::driverGetProperties;
  table->pfnGetExtensionProperties = entry::driverGetExtensionProperties;
  return ok;
}
WEFT_TABLE zeGetDeviceProcAddrTable(ze_api_version_t, ze_device_dditable_t* table) {
  table->pfnGet = entry::deviceGet;
  table->pfnGetSubDevices = entry::deviceGetSubDevices;
  table->pfnGetProperties = entry::deviceGetProperties;
  table->pfnPciGetPropertiesExt = entry::devicePciGetPropertiesExt;
  table->pfnGetComputeProperties = entry::deviceGetComputeProperties;
  table->pfnGetModuleProperties = entry::deviceGetModuleProperties;
  table->pfnGetCommandQueueGroupProperties = entry::deviceGetQueueGroups;
  table->pfnGetMemoryProperties = entry::deviceGetMemoryProperties;
  table->pfnGetMemoryAccessProperties = entry::deviceGetMemoryAccessProperties;
  table->pfnGetCacheProperties = entry::deviceGetCacheProperties;
  table->pfnGetP2PProperties = entry::deviceGetP2PProperties;
  table->pfnCanAccessPeer = entry::deviceCanAccessPeer;
  table->pfnGetStatus = entry::deviceGetStatus;
  table->pfnGetImageProperties = entry::deviceGetImageProperties;
  table->pfnGetGlobalTimestamps = entry::deviceGetGlobalTimestamps;
  return ok;
}
WEFT_TABLE zeGetContextProcAddrTable(ze_api_version_t, ze_context_dditable_t* table) {
  table->pfnCreate = entry::contextCreate;
  table->pfnDestroy = entry::contextDestroy;
  return ok;
}
WEFT_TABLE zeGetCommandListProcAddrTable(ze_api_version_t, ze_command_list_dditable_t* table) {
  table->pfnCreateImmediate = entry::listCreateImmediate;
  table->pfnDestroy = entry::listDestroy;
  table->pfnAppendBarrier = entry::appendBarrier;
  table->pfnAppendWriteGlobalTimestamp = entry::appendWriteGlobalTimestamp;
  table->pfnAppendMemoryCopy = entry::appendMemoryCopy;
  table->pfnAppendMemoryCopyRegion = entry::appendMemoryCopyRegion;
  table->pfnAppendImageCopyFromMemory = entry::appendImageCopyFromMemory;
  table->pfnAppendMemoryFill = entry::appendMemoryFill;
  table->pfnAppendLaunchKernel = entry::appendLaunchKernel;
  return ok;
}
WEFT_TABLE zeGetEventPoolProcAddrTable(ze_api_version_t, ze_event_pool_dditable_t* table) {
  table->pfnCreate = entry::eventPoolCreate;
  table->pfnDestroy = entry::eventPoolDestroy;
  return ok;
}
WEFT_TABLE zeGetEventProcAddrTable(ze_api_version_t, ze_event_dditable_t* table) {
  table->pfnCreate = entry::eventCreate;
  table->pfnDestroy = entry::eventDestroy;
  table->pfnHostReset = entry::eventHostReset;
  table->pfnHostSignal = entry::eventHostSignal;
  table->pfnHostSynchronize = entry::eventHostSynchronize;
  table->pfnQueryStatus = entry::eventQueryStatus;
  return ok;
}
WEFT_TABLE zeGetModuleProcAddrTable(ze_api_version_t, ze_module_dditable_t* table) {
  table->pfnCreate = entry::moduleCreate;
  table->pfnDestroy = entry::moduleDestroy;
  table->pfnGetNativeBinary = entry::moduleGetNativeBinary;
  return ok;
}
WEFT_TABLE zeGetModuleBuildLogProcAddrTable(ze_api_version_t,
                                            ze_module_build_log_dditable_t* table) {
  table->pfnGetString = entry::buildLogGetString;
  table->pfnDestroy = entry::buildLogDestroy;
  return ok;
}
WEFT_TABLE zeGetKernelProcAddrTable(ze_api_version_t, ze_kernel_dditable_t* table) {
  table->pfnCreate = entry::kernelCreate;
  table->pfnDestroy = entry::kernelDestroy;
  table->pfnSetGroupSize = entry::kernelSetGroupSize;
  table->pfnSetArgumentValue = entry::kernelSetArgumentValue;
  table->pfnSetIndirectAccess = entry::kernelSetIndirectAccess;
  return ok;
}
WEFT_TABLE zeGetImageProcAddrTable(ze_api_version_t, ze_image_dditable_t* table) {
  table->pfnCreate = entry::imageCreate;
  table->pfnDestroy = entry::imageDestroy;
  return ok;
}
WEFT_TABLE zeGetSamplerProcAddrTable(ze_api_version_t, ze_sampler_dditable_t* table) {
  table->pfnCreate = entry::samplerCreate;
  table->pfnDestroy = entry::samplerDestroy;
  return ok;
}
WEFT_TABLE zeGetMemProcAddrTable(ze_api_version_t, ze_mem_dditable_t* table) {
  table->pfnAllocDevice = entry::memAllocDevice;
  table->pfnAllocHost = entry::memAllocHost;
  table->pfnFree = entry::memFree;
  table->pfnGetAllocProperties = entry::memGetAllocProperties;
  table->pfnGetAddressRange = entry::memGetAddressRange;
  return ok;
}
