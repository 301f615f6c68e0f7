// The info tables of all chapters, so that one test can walk them.
#pragma once

#include "api/info.h"
#include "core/context.h"
#include "core/device.h"
#include "core/device_queue.h"
#include "core/kernel.h"
#include "core/memory.h"
#include "core/pipe.h"
#include "core/pixel_image.h"
#include "core/platform.h"
#include "core/program.h"
#include "core/sampler.h"
#include "scheduler/command_buffer.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft::api {

// What clGetKernelWorkGroupInfo asks about. A sub-device may use the code of its parent.
struct KernelOnDevice {
  const Kernel& kernel;
  const Device& device;
  const DeviceKernel& code;
};

// "CL_INVALID_DEVICE if device is not in the list of devices associated with kernel or if device is
// NULL but there is more than one device associated with kernel."
KernelOnDevice selectDevice(Kernel& kernel, cl_device_id device);

extern const InfoTable<Platform> platform_info;
extern const InfoTable<Device> device_info;
extern const InfoTable<Context> context_info;
extern const InfoTable<Queue> queue_info;
extern const InfoTable<DeviceQueue> device_queue_info;
extern const InfoTable<MemObject> memory_info;
extern const InfoTable<PixelImage> image_info;
extern const InfoTable<Pipe> pipe_info;
extern const InfoTable<Sampler> sampler_info;
extern const InfoTable<Program> program_info;
extern const InfoTable<const DeviceBuild> program_build_info;
extern const InfoTable<Kernel> kernel_info;
extern const InfoTable<const KernelOnDevice> kernel_work_group_info;
extern const InfoTable<const ArgumentInfo> kernel_argument_info;
extern const InfoTable<Event> event_info;
extern const InfoTable<Event> profiling_info;
extern const InfoTable<CommandBuffer> command_buffer_info;
extern const InfoTable<MutableCommand> mutable_command_info;

}  // namespace weft::api
