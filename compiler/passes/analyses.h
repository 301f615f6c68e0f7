// LLVM's analysis managers for one run of passes.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace weft::compiler {

// In the order in which the managers must be destroyed.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;

  explicit Analyses(llvm::TargetMachine& machine, const llvm::PipelineTuningOptions& tuning = {})
      : Analyses(&machine, tuning) {}
  // Without a machine: what holds on every target.
  explicit Analyses(llvm::TargetMachine* machine, const llvm::PipelineTuningOptions& tuning = {})
      : builder(machine, tuning) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }
};

}  // namespace weft::compiler
