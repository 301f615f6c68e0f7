// May a CPU's program flush what is denormal (-cl-denorms-are-zero; OpenCL 3.0, 5.8.6.2)? A flag of
// its module.
#pragma once

#include <llvm/IR/Module.h>

namespace weft::compiler {

inline constexpr llvm::StringLiteral flushing_flag = "weft.denormals_are_zero";

inline void allowFlushing(llvm::Module& module) {
  module.addModuleFlag(llvm::Module::Max, flushing_flag, 1);
}
inline bool flushesDenormals(const llvm::Module& module) {
  return module.getModuleFlag(flushing_flag) != nullptr;
}

}  // namespace weft::compiler
