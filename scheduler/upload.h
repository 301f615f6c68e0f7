// The first contents of a buffer, brought to a device at once and kept nowhere else.
#pragma once

#include "core/context.h"
#include "core/memory.h"

namespace weft {

// Where the contents of a new buffer of that size are best kept: a GPU with memory of its own, in a
// context without a device in the host's memory. Null: with the host, which whoever needs them
// first fetches them from. A copy of the host's would cost the system new pages, which is slower
// than the way to the device, and keep them as long as the buffer lives.
Device* deviceForContents(const Context& context, size_t size);

// Blocks until the bytes are in the device's memory, and not on the host. `buffer` is nobody else's
// yet. False: they are not there, and the buffer is of no use.
bool upload(Buffer& buffer, const void* contents, Device& device);

}  // namespace weft
