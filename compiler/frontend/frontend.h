// OpenCL C and C++ for OpenCL to LLVM IR, by Clang in this process. The IR is target-neutral
// (spir64) and not yet optimised.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/job.h"
#include "compiler/options.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace weft::compiler {

struct FrontendResult {
  std::unique_ptr<llvm::Module> module;  // null when there were errors
  std::string log;                       // diagnostics as Clang prints them
  std::vector<FileUse> files;
};

FrontendResult runFrontend(const Job& job, const Options& options, llvm::LLVMContext& context);

}  // namespace weft::compiler
