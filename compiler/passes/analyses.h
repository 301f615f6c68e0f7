// LLVM's analysis managers for one run of passes.
#pragma once

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/passes/space_aliases.h"

namespace weft::compiler {

// The machine for passes over a module whose address spaces are still SPIR's: none where the target
// has spaces of its own, which it takes those for. SPIR's generic space is constant memory to GPUs,
// and their alias analysis lets stores to it vanish.
inline llvm::TargetMachine* machineForSpir(llvm::TargetMachine& machine) {
  const llvm::Triple& triple = machine.getTargetTriple();
  return triple.isNVPTX() || triple.isAMDGPU() ? nullptr : &machine;
}

// In the order in which the managers must be destroyed.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;

  explicit Analyses(llvm::TargetMachine& machine, const llvm::PipelineTuningOptions& tuning = {},
                    llvm::PassInstrumentationCallbacks* callbacks = nullptr)
      : Analyses(&machine, tuning, callbacks) {}
  // Without a machine: what holds on every target.
  explicit Analyses(llvm::TargetMachine* machine, const llvm::PipelineTuningOptions& tuning = {},
                    llvm::PassInstrumentationCallbacks* callbacks = nullptr)
      : builder(machine, tuning, std::nullopt, callbacks) {
    functions.registerPass([] { return SpaceAliases(); });
    functions.registerPass([this] {
      llvm::AAManager aliases = builder.buildDefaultAAPipeline();
      aliases.registerFunctionAnalysis<SpaceAliases>();
      return aliases;
    });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }
};

}  // namespace weft::compiler
