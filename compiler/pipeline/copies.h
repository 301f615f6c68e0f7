// Copies of this process, each of which does a piece of its work.
#pragma once

#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>

#include "core/ports/compiler.h"

namespace weft::compiler {

// What `work` gives for each number below `count`, done by up to `at_once` copies at a time. What
// ends a copy (a signal, a limit, an error that LLVM does not survive) ends this process in the
// same way. Where no copy can be made, this process does the work.
std::vector<port::Bytes> runInCopies(size_t count, unsigned at_once,
                                     llvm::function_ref<port::Bytes(size_t)> work);

}  // namespace weft::compiler
