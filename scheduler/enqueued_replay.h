// An execution of a command buffer whose commands are enqueued: on a unified device, so that each
// is divided or placed as any other command there, and where kernels enqueue others that the host
// starts. docs/command-buffers.md.
#pragma once

#include "scheduler/recording.h"

namespace weft {

Ref<Event> enqueueReplayOfCommands(Queue& queue, const Recordings& recordings, WaitList waits);

}  // namespace weft
