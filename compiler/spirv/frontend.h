// SPIR-V to LLVM IR, as the front end gives it for OpenCL C: target-neutral (spir64), not
// optimised, with the builtin functions as calls.
#pragma once

#include "compiler/frontend/frontend.h"

namespace weft::compiler::spirv {

FrontendResult runFrontend(const Job& job, const Options& options, llvm::LLVMContext& context);

}  // namespace weft::compiler::spirv
