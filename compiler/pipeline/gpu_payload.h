// A lowered module as what a GPU's driver loads.
#pragma once

#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/gpu/target_module.h"
#include "core/image.h"

namespace weft::compiler {

// What code for the kind of target needs done to a lowered module before it is optimised.
void finishLowering(GpuModule& gpu, const llvm::TargetMachine& machine, const port::Target& target);

// PTX text, a code object, SPIR-V, or a shared object.
llvm::Expected<port::Bytes> emitPayload(llvm::Module& module, llvm::TargetMachine& machine,
                                        const port::Target& target);

}  // namespace weft::compiler
