// Machine code of lowered kernels for the host's processor.
#pragma once

#include <memory>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/options.h"
#include "compiler/pipeline/elf_link.h"

namespace weft::compiler {

// Optimises `module` and generates code.
llvm::Expected<ObjectCode> makeObject(llvm::Module& module, llvm::TargetMachine& machine,
                                      const Options& options);

// The same for the modules that `part` gives for numbers below `count`, all in `context`;
// options.processes of them at a time, with the same result whatever that is.
using MakePart = llvm::function_ref<llvm::Expected<std::unique_ptr<llvm::Module>>(size_t number)>;
llvm::Expected<std::vector<ObjectCode>> makeObjects(size_t count, MakePart part,
                                                    llvm::LLVMContext& context,
                                                    llvm::TargetMachine& machine,
                                                    const Options& options);

}  // namespace weft::compiler
