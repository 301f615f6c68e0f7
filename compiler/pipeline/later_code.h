// Code now, and code for later: of a program with many kernels most are never run, and its code is
// made part by part when it is wanted (core/deferred_code.h).
#pragma once

#include <vector>

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/options.h"
#include "compiler/pipeline/parts.h"
#include "core/deferred_code.h"
#include "core/image.h"

namespace weft::compiler {

// options.deferring is never, always (where there are parts) or, else, where there is much code.
bool isForLater(const llvm::Module& module, const std::vector<Part>& parts, const Options& options);

// The payload, for later, of a lowered module.
port::Bytes deferCode(const llvm::Module& module, const std::vector<Part>& parts,
                      const std::vector<KernelInfo>& kernels, const Options& options);

// The payload of a lowered module, as code.
llvm::Error makePayload(llvm::Module& module, const std::vector<Part>& parts,
                        llvm::TargetMachine& machine, const Options& options, Image& image);

// The payload of an image with all parts of `code`.
llvm::Error makeDeferred(const DeferredCode& code, llvm::LLVMContext& context,
                         const Options& options, Image& image);

}  // namespace weft::compiler
