// The info tables of all chapters, so that one test can walk them.
#pragma once

#include "api/info.h"
#include "core/context.h"
#include "core/device.h"
#include "core/memory.h"
#include "core/platform.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft::api {

extern const InfoTable<Platform> platform_info;
extern const InfoTable<Device> device_info;
extern const InfoTable<Context> context_info;
extern const InfoTable<Queue> queue_info;
extern const InfoTable<MemObject> memory_info;
extern const InfoTable<Event> event_info;
extern const InfoTable<Event> profiling_info;

}  // namespace weft::api
