// A module as SPIR-V 1.2 for OpenCL, with pointers of 64 bits.
#pragma once

#include <vector>

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

#include "core/ports/compiler.h"

namespace weft::compiler {

// `module` is what makeSpirvModule (prepare.h) leaves. Fails, naming it, on what SPIR-V has no
// words for, and on numbers of type double where the target's features lack "fp64".
llvm::Expected<port::Bytes> writeSpirv(const llvm::Module& module, const port::Target& target);

}  // namespace weft::compiler
