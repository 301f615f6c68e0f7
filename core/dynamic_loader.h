// What the dynamic loader answers. It keeps a thread's last error in memory of its own until the
// error has been asked for twice or the thread is gone; these leave it none.
#pragma once

#include <string>

namespace weft {

// Thread-safe. Null when `library`, a handle of dlopen's, has no such symbol.
void* findSymbol(void* library, const char* name) noexcept;

// Why the calling thread's last dlopen failed; empty if it did not.
std::string takeLoaderError();

}  // namespace weft
