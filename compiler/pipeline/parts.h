// A lowered module in parts: kernels, with copies of what they use, that can be made into code of
// their own. How it is divided depends on nothing but the module.
#pragma once

#include <memory>
#include <vector>

#include <llvm/IR/Module.h>

namespace weft::compiler {

using Part = std::vector<const llvm::Function*>;  // its kernels

// One part unless copies of what kernels share can be told from it by nobody: no variable is
// written, no address of a function or a constant gets where another kernel may find it. Nor is
// code with debug information divided.
std::vector<Part> partsOf(const llvm::Module& module);

// In the context of `module`.
std::unique_ptr<llvm::Module> copyPart(const llvm::Module& module, const Part& part);

}  // namespace weft::compiler
