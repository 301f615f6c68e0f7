// A module as SPIR-V for OpenCL, with pointers of 64 bits: 1.2, or 1.3 where lanes of sub-groups
// hand values to each other.
#pragma once

#include <vector>

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

#include "core/ports/compiler.h"

namespace weft::compiler {

// The attribute of kernels that need their sub-groups to be of that many work-items.
inline constexpr llvm::StringLiteral spirv_sub_group_size = "weft-sub-group-size";

// `module` is what makeSpirvModule (prepare.h) leaves. Fails, naming it, on what SPIR-V has no
// words for, and on numbers of type double where the target's features lack "fp64".
llvm::Expected<port::Bytes> writeSpirv(const llvm::Module& module, const port::Target& target);

}  // namespace weft::compiler
