// Files that the front end needs, embedded at build time so that an installation can be moved.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace weft::compiler {

// Clang's opencl-c-base.h without its feature block: the device says which features there are.
llvm::StringRef openclBaseHeader();

}  // namespace weft::compiler
