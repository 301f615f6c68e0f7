#include "compiler/passes/simd/simplify_lane.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include "compiler/passes/analyses.h"
#include "compiler/passes/simd/float_parts.h"
#include "compiler/passes/simd/narrowing.h"
#include "compiler/passes/simd/vector_cost.h"
#include "compiler/passes/simd/vectorise.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Instruction;

void addCleaning(llvm::FunctionPassManager& pipeline) {
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.addPass(llvm::SimplifyCFGPass());
  pipeline.addPass(llvm::InstCombinePass());
}

// Without short loops the elements of private arrays become variables.
void addUnrolling(llvm::FunctionPassManager& pipeline) {
  pipeline.addPass(llvm::LoopSimplifyPass());
  pipeline.addPass(llvm::LCSSAPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::IndVarSimplifyPass());
  loops.addPass(llvm::LoopFullUnrollPass());
  pipeline.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  addCleaning(pipeline);
}

}  // namespace

bool inlineCalls(Function& lane, bool has_parts) {
  bool any = false;
  llvm::SmallVector<llvm::CallInst*> calls;
  do {
    calls.clear();
    for (Instruction& instruction : llvm::instructions(lane)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && callee != &lane &&
          (isFloatPart(*call) ? !has_parts : !callee->hasFnAttribute(llvm::Attribute::NoInline)))
        calls.push_back(call);
    }
    for (llvm::CallInst* call : calls) {
      if (lane.getInstructionCount() > most_instructions) return any;
      llvm::InlineFunctionInfo info;
      any |= llvm::InlineFunction(*call, info).isSuccess();
    }
  } while (!calls.empty() && lane.getInstructionCount() <= most_instructions);
  return any;
}

void simplifyLane(Function& lane, llvm::TargetMachine& machine, bool clean) {
  Analyses analyses(machine);
  llvm::FunctionPassManager pipeline;
  if (clean) addCleaning(pipeline);
  if (hasShortLoop(lane)) addUnrolling(pipeline);
  pipeline.addPass(llvm::LowerSwitchPass());
  pipeline.addPass(llvm::UnifyFunctionExitNodesPass());
  pipeline.addPass(llvm::LoopSimplifyPass());
  pipeline.addPass(llvm::LCSSAPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  pipeline.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  llvm::LoopPassManager counters;
  counters.addPass(llvm::IndVarSimplifyPass());
  pipeline.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(counters)));
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.addPass(llvm::LoopSimplifyPass());
  pipeline.addPass(llvm::LCSSAPass());
  pipeline.run(lane, analyses.functions);
  llvm::EliminateUnreachableBlocks(lane);
  narrowTruncated(lane);
}

}  // namespace weft::compiler
