// Module-wide preparation: linkage, calling conventions, and inlining of everything that depends on
// the work-item, so that afterwards only kernels do.
#pragma once

#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

// Private arrays beyond this many bytes per work-item are kept off the stack.
inline constexpr uint64_t max_stack_bytes_per_lane = 8192;

// Returns the kernels, in module order.
llvm::Expected<std::vector<llvm::Function*>> prepareModule(llvm::Module& module,
                                                           llvm::TargetMachine& machine);

// Not of the library's, whose functions are known by their names.
bool isOfProgram(const llvm::Function& function);

// Bytes of all allocas of `function`.
uint64_t allocaBytes(const llvm::Function& function);

}  // namespace weft::compiler
