// One pass over LLVM assembly.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace weft::test {

// The functions of `source` after `pass`, as text.
template <class Pass>
std::string passed(const std::string& source, Pass pass) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(source, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str() << " in line " << problem.getLineNo();
    return {};
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    pass.run(function, functions);
    EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
    function.print(stream);
  }
  return text;
}

inline size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace weft::test
