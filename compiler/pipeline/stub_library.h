// Stand-ins for shared libraries that need not be installed where code is linked.
#pragma once

#include <string>

#include "core/ports/compiler.h"

namespace weft::compiler {

// An x86-64 shared object that exports nothing and is called `name`: linked with, it leaves only a
// record that `name` is needed.
port::Bytes emptyLibrary(const std::string& name);

}  // namespace weft::compiler
