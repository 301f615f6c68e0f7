#include "compiler/spirv/frontend.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/spirv/reader.h"

namespace weft::compiler::spirv {

FrontendResult runFrontend(const Job& job, llvm::LLVMContext& context) {
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
  llvm::raw_string_ostream stream(result.log);
  if (llvm::verifyModule(*result.module, &stream)) {
    result.log = "error: the module is not valid\n" + complaints(job.source) + result.log;
    result.module = nullptr;
  }
  return result;
}

}  // namespace weft::compiler::spirv
