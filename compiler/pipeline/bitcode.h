// Modules as bytes.
#pragma once

#include <memory>

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

#include "core/ports/compiler.h"

namespace weft::compiler {

port::Bytes writeBitcode(const llvm::Module& module);
llvm::Expected<std::unique_ptr<llvm::Module>> readBitcode(const port::Bytes& bytes,
                                                          llvm::LLVMContext& context);

}  // namespace weft::compiler
