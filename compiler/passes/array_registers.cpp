#include "compiler/passes/array_registers.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/passes/analyses.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;

constexpr unsigned longest_unrolled = 32;        // turns
constexpr size_t most_unrolled = 2048;           // instructions of a loop, inner ones unrolled
constexpr uint64_t largest_in_registers = 2048;  // bytes of all arrays

bool isArray(const Instruction& instruction) {
  auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
  return variable && variable->getAllocatedType()->isAggregateType();
}

// Is its place in the array another one each turn?
bool movesThroughArray(const Instruction& instruction, const llvm::Loop& loop) {
  auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
  if (!element || loop.isLoopInvariant(element)) return false;
  auto* variable = llvm::dyn_cast<Instruction>(llvm::getUnderlyingObject(element));
  return variable && isArray(*variable);
}

// What the loop is unrolled to, with those in it; nullopt: it is not.
std::optional<size_t> unrolledSize(llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const unsigned turns = loop.getLoopLatch() ? evolution.getSmallConstantTripCount(&loop) : 0;
  if (turns == 0 || turns > longest_unrolled) return std::nullopt;
  size_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    if (llvm::any_of(*block, isBarrierCall)) return std::nullopt;
    size += block->size();
  }
  for (llvm::Loop* inner : loop) {
    const auto unrolled = unrolledSize(*inner, evolution);
    if (!unrolled) return std::nullopt;
    size += *unrolled;
  }
  return size * turns <= most_unrolled ? std::optional(size * turns) : std::nullopt;
}

bool markLoops(llvm::Function& body) {
  llvm::DominatorTree tree(body);
  llvm::LoopInfo loops(tree);
  llvm::AssumptionCache assumptions(body);
  llvm::TargetLibraryInfoImpl names(llvm::Triple(body.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo library(names);
  llvm::ScalarEvolution evolution(body, library, assumptions, tree, loops);
  bool any = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const bool through_arrays = llvm::any_of(loop->blocks(), [&](const llvm::BasicBlock* block) {
      return llvm::any_of(*block, [&](const Instruction& instruction) {
        return movesThroughArray(instruction, *loop);
      });
    });
    if (!through_arrays || !unrolledSize(*loop, evolution)) continue;
    llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
    any = true;
  }
  return any;
}

}  // namespace

void putArraysInRegisters(llvm::Function& body, llvm::TargetMachine& machine) {
  const llvm::DataLayout& layout = body.getDataLayout();
  uint64_t bytes = 0;
  for (const Instruction& instruction : llvm::instructions(body))
    if (isArray(instruction))
      bytes += llvm::cast<llvm::AllocaInst>(instruction).getAllocationSize(layout)->getFixedValue();
  if (bytes == 0 || bytes > largest_in_registers) return;
  if (llvm::none_of(llvm::instructions(body), isBarrierCall) || !markLoops(body)) return;
  Analyses analyses(machine);
  llvm::FunctionPassManager pipeline;
  pipeline.addPass(llvm::LoopSimplifyPass());
  pipeline.addPass(llvm::LCSSAPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopFullUnrollPass(2, /*OnlyWhenForced=*/true));
  pipeline.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.addPass(llvm::InstCombinePass());  // makes numbers of the indices
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.addPass(llvm::SimplifyCFGPass());
  pipeline.addPass(llvm::InstCombinePass());
  pipeline.run(body, analyses.functions);
}

}  // namespace weft::compiler
