// Calls of compiled code back into the host.
#pragma once

#include <cstddef>

#include <llvm/IR/IRBuilder.h>

namespace weft::compiler {

struct HostService {
  llvm::Value* services;  // the launch's port::HostServices
  llvm::Value* function;
};

// The member of the launch's services at `offset`.
HostService hostService(llvm::IRBuilder<>& builder, llvm::Module& module, size_t offset);

}  // namespace weft::compiler
