// An execution of a command buffer on a unified device: its commands are enqueued, so that each is
// divided or placed as any other command there. docs/command-buffers.md.
#pragma once

#include "scheduler/recording.h"

namespace weft {

Ref<Event> enqueueUnifiedReplay(Queue& queue, const Recordings& recordings, WaitList waits);

}  // namespace weft
