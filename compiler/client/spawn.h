// Starts a program that the application cannot see: not its child, no SIGCHLD, none of its
// descriptors, signal settings or session.
#pragma once

#include <string>

namespace weft::compiler {

// The program gets `control` as descriptor 3 and, unless negative, `watch` as 4. Returns 0 or
// errno.
int spawnInvisible(const std::string& program, int control, int watch);

}  // namespace weft::compiler
