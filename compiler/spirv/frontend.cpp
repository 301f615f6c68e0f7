#include "compiler/spirv/frontend.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/spirv/reader.h"

namespace weft::compiler::spirv {
namespace {

// How many units in the last place a quotient or a root of floats may be off (OpenCL C, 7.4; the
// OpenCL SPIR-V Environment, 8.5); 0 for what is neither.
float bound(const llvm::Instruction& instruction) {
  if (!instruction.getType()->getScalarType()->isFloatTy()) return 0;
  if (instruction.getOpcode() == llvm::Instruction::FDiv) return 2.5f;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with("_Z4sqrt") ? 3 : 0;
}

// As Clang marks them where the program does not ask for correct rounding, so that one expression
// is one number in both languages.
void markInexact(llvm::Module& module) {
  llvm::MDBuilder metadata(module.getContext());
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (const float ulp = bound(instruction))
        instruction.setMetadata(llvm::LLVMContext::MD_fpmath, metadata.createFPMath(ulp));
}

}  // namespace

FrontendResult runFrontend(const Job& job, const Options& options, llvm::LLVMContext& context) {
  FrontendResult result;
  const auto instructions = readInstructions(job.source, result.log);
  if (!instructions) return result;
  try {
    result.module = Reader(*instructions, job.features, job.specialization, context).read();
  } catch (const std::exception& error) {
    // What the validator says first is what its author has to look at.
    result.log += std::string("error: ") + error.what() + "\n" + complaints(job.source);
    return result;
  }
  if (!options.exact_divisions) markInexact(*result.module);
  llvm::raw_string_ostream stream(result.log);
  if (llvm::verifyModule(*result.module, &stream)) {
    result.log = "error: the module is not valid\n" + complaints(job.source) + result.log;
    result.module = nullptr;
  }
  return result;
}

}  // namespace weft::compiler::spirv
