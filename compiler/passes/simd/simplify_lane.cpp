#include "compiler/passes/simd/simplify_lane.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
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

#include "compiler/builtins/number_parts.h"
#include "compiler/passes/analyses.h"
#include "compiler/passes/simd/loop_evolution.h"
#include "compiler/passes/simd/narrowing.h"
#include "compiler/passes/simd/table_loads.h"
#include "compiler/passes/simd/upper_halves.h"
#include "compiler/passes/simd/vector_cost.h"
#include "compiler/passes/simd/vectorise.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Instruction;

// Marks loops to be unrolled as a whole where that is not too much code: those that go through
// small private arrays, so that the elements become variables, those that go through a table of
// constants, which become literals, or its rows, each of which fits registers (table_loads.h), and
// those of so few turns that lanes which leave them in different turns had better take branches.
class ShortLoops {
 public:
  ShortLoops(Function& lane, const TableLengths& lengths)
      : analyses_(lane), layout_(lane.getDataLayout()), lengths_(lengths) {}

  // Do any go through arrays?
  bool mark() {
    for (llvm::Loop* loop : analyses_.loops) mark(*loop);
    return any_;
  }

 private:
  static constexpr uint64_t largest_array = 256;  // bytes
  static constexpr size_t most_unrolled = 2500;   // instructions
  static constexpr size_t most_of_literals = 600;
  static constexpr unsigned most_turns = 33;  // the first test of those that begin with it counts
  static constexpr unsigned most_branches = 4;
  static constexpr size_t most_in_branches = 200;  // instructions

  void mark(llvm::Loop& loop) {
    const unsigned turns = analyses_.evolution.getSmallConstantTripCount(&loop);
    if (turns != 0 && turns <= most_turns && size(loop) <= most_unrolled) {
      const bool through_arrays = goesThroughArrays(loop);
      if (through_arrays || goesThroughTable(loop, turns)) {
        for (llvm::Loop* each : loop.getLoopsInPreorder())
          llvm::addStringMetadataToLoop(each, "llvm.loop.unroll.full", 1);
        any_ |= through_arrays;
        return;
      }
    }
    const unsigned at_most = analyses_.evolution.getSmallConstantMaxTripCount(&loop);
    if (turns == 0 && at_most != 0 && at_most <= most_branches && size(loop) <= most_in_branches)
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.enable");
    for (llvm::Loop* inner : loop) mark(*inner);
  }

  // Of all turns; more than is allowed if nobody knows how many an inner loop takes.
  size_t size(const llvm::Loop& loop) {
    const llvm::SCEV* taken = analyses_.evolution.getBackedgeTakenCount(&loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(taken)) return most_unrolled + 1;
    uint64_t turns = analyses_.evolution.getUnsignedRangeMax(taken).getLimitedValue(most_turns) + 1;
    if (turns > most_turns) return most_unrolled + 1;
    if (!llvm::isa<llvm::SCEVConstant>(taken)) turns = (turns + 1) / 2;  // on average
    size_t once = 0;
    for (const llvm::BasicBlock* block : loop.blocks())
      if (analyses_.loops.getLoopFor(block) == &loop) once += block->size();
    for (const llvm::Loop* inner : loop) once += size(*inner);
    return once * turns;
  }

  bool goesThroughArrays(llvm::Loop& loop) {
    for (llvm::BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block) {
        llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
        auto* array = pointer ? llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer))
                              : nullptr;
        if (!array || pointer == array || !array->isStaticAlloca()) continue;
        const llvm::SCEV* place = analyses_.evolution.getSCEV(pointer);
        if (layout_.getTypeAllocSize(array->getAllocatedType()) <= largest_array &&
            !analyses_.evolution.isLoopInvariant(place, &loop))
          return true;
      }
    return false;
  }

  bool goesThroughTable(llvm::Loop& loop, unsigned turns) {
    const bool is_short = size(loop) <= most_of_literals;
    for (llvm::BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block) {
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        auto* table = load ? llvm::dyn_cast<llvm::GlobalVariable>(
                                 llvm::getUnderlyingObject(load->getPointerOperand()))
                           : nullptr;
        if (!table || !table->isConstant() || !table->hasDefinitiveInitializer()) continue;
        const llvm::SCEV* place = analyses_.evolution.getSCEV(load->getPointerOperand());
        if (is_short && stepOf(*place, loop) != 0) return true;
        const uint64_t bytes = layout_.getTypeAllocSize(table->getValueType());
        const uint64_t most = longestTable(*load);
        if (bytes > most && llvm::SCEVExprContains(place, [&](const llvm::SCEV* part) {
              const uint64_t row = stepOf(*part, loop);
              return row != 0 && row <= most && bytes % row == 0 && bytes / row <= turns;
            }))
          return true;
      }
    return false;
  }

  // By how much it grows from turn to turn; 0: nobody knows, or it does not.
  uint64_t stepOf(const llvm::SCEV& value, const llvm::Loop& loop) {
    const auto* counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(&value);
    if (!counter || counter->getLoop() != &loop) return 0;
    const auto* step =
        llvm::dyn_cast<llvm::SCEVConstant>(counter->getStepRecurrence(analyses_.evolution));
    return step ? step->getAPInt().getLimitedValue() : 0;
  }

  // In bytes, of such elements.
  uint64_t longestTable(const llvm::LoadInst& load) const {
    const uint64_t bytes = layout_.getTypeStoreSize(load.getType());
    const unsigned power = llvm::Log2_64(bytes);
    return llvm::isPowerOf2_64(bytes) && power < lengths_.size() ? lengths_[power] * bytes : 0;
  }

  LoopEvolution analyses_;
  const llvm::DataLayout& layout_;
  const TableLengths lengths_;
  bool any_ = false;
};

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
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));  // indices are numbers now
  pipeline.addPass(llvm::EarlyCSEPass());
}

}  // namespace

bool inlineCalls(Function& lane, bool has_parts, size_t most_instructions) {
  bool any = false;
  llvm::SmallVector<llvm::CallInst*> calls;
  do {
    calls.clear();
    for (Instruction& instruction : llvm::instructions(lane)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && callee != &lane &&
          (calledNumberPart(*call) ? !has_parts
                                   : !callee->hasFnAttribute(llvm::Attribute::NoInline)))
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

bool simplifyLane(Function& lane, llvm::TargetMachine& machine, bool clean) {
  Analyses analyses(machine);
  llvm::FunctionPassManager pipeline;
  if (clean) addCleaning(pipeline);
  bool unrolls_arrays = false;
  if (hasShortLoop(lane)) {
    unrolls_arrays = ShortLoops(lane, tableLengths(machine)).mark();
    addUnrolling(pipeline);
  }
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
  divideByProducts(lane);
  return unrolls_arrays;
}

void rotateLoops(Function& lane, llvm::TargetMachine& machine) {
  Analyses analyses(machine);
  llvm::FunctionPassManager pipeline;
  pipeline.addPass(llvm::LoopSimplifyPass());
  pipeline.addPass(llvm::LCSSAPass());
  pipeline.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  pipeline.run(lane, analyses.functions);
}

}  // namespace weft::compiler
