#include "compiler/passes/simd/vectorise.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
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
#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/far_loads.h"
#include "compiler/passes/simd/lane_arrays.h"
#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/narrowing.h"
#include "compiler/passes/simd/vector_body.h"
#include "compiler/passes/simd/vector_cost.h"
#include "compiler/passes/simd/vector_report.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Instruction;

constexpr size_t most_instructions = 3000;

// Can lanes not run side by side, whatever they do otherwise?
bool isInOrder(const Instruction& instruction) {
  // Folds of work-group functions: lanes find what those before them left.
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getOrdering() == llvm::AtomicOrdering::Unordered;
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return store->getOrdering() == llvm::AtomicOrdering::Unordered;
  return false;
}

bool fillsItsBytes(const Instruction& access, llvm::Type* type) {
  const llvm::DataLayout& layout = access.getDataLayout();
  llvm::Type* element = type->getScalarType();
  return layout.getTypeSizeInBits(element) == layout.getTypeStoreSizeInBits(element);
}

bool isSupported(const Instruction& instruction) {
  if (isInOrder(instruction)) return false;
  llvm::Type* type = instruction.getType();
  if (!type->isVoidTy() && partCount(type) == 0) return false;
  if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    return variable->isStaticAlloca() && llvm::isa<llvm::ConstantInt>(variable->getArraySize()) &&
           llvm::cast<llvm::ConstantInt>(variable->getArraySize())->isOne();
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    return llvm::isa<llvm::CallInst>(call) && !call->hasOperandBundles() &&
           llvm::all_of(call->args(), [](const llvm::Use& use) {
             return use->getType()->isMetadataTy() || partCount(use->getType()) != 0;
           });
  }
  if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    llvm::Type* accessed = store ? store->getValueOperand()->getType() : type;
    return fillsItsBytes(instruction, accessed) && partCount(accessed) != 0;
  }
  return instruction.isTerminator() || llvm::all_of(instruction.operands(), [](const auto& use) {
           return partCount(use->getType()) != 0;
         });
}

// In instructions for one element.
size_t size(Function& lane) {
  size_t sum = 0;
  for (const Instruction& instruction : llvm::instructions(lane))
    sum += std::max(1u, partCount(instruction.getType()));
  return sum;
}

// Inlines what the code of a lane calls, so that it becomes code of several.
bool inlineCalls(Function& lane) {
  bool any = false;
  llvm::SmallVector<llvm::CallInst*> calls;
  do {
    calls.clear();
    for (Instruction& instruction : llvm::instructions(lane)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && callee != &lane &&
          !callee->hasFnAttribute(llvm::Attribute::NoInline))
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

// Brings the code of a lane into the form that VectorBody wants.
void simplifyLane(Function& lane, llvm::TargetMachine& machine, bool again) {
  Analyses analyses(machine);
  llvm::FunctionPassManager pipeline;
  if (again) addCleaning(pipeline);
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

class RegionVectoriser {
 public:
  RegionVectoriser(const KernelBody& body, const SplitKernel& split, Region& region,
                   llvm::TargetMachine& machine, Vectorising mode)
      : body_(body),
        region_(region),
        machine_(machine),
        mode_(mode),
        between_barriers_(split.regions.size() > 1) {}

  void run() {
    if (region_.outcomes.empty() || region_.for_all_lanes) return;
    if (region_.function->getInstructionCount() > most_instructions) return refuse(too_long);
    llvm::ValueToValueMapTy map;
    lane_ = llvm::CloneFunction(region_.function, map);
    lane_->setName(region_.function->getName() + ".lane");
    simplifyLane(*lane_, machine_, inlineCalls(*lane_));
    interleaveArrays(*lane_, width());
    vectorise();
    lane_->eraseFromParent();
  }

 private:
  static constexpr const char* too_long = "its code is too long";

  void refuse(const llvm::Twine& why, const Instruction* where = nullptr) {
    reportRefusal(*region_.function, where, why);
  }

  unsigned width() const {
    const llvm::TargetTransformInfo info = machine_.getTargetTransformInfo(*region_.function);
    const unsigned bits =
        info.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
    return std::max(4u, bits / 32);
  }

  unsigned registers() const {
    const llvm::TargetTransformInfo info = machine_.getTargetTransformInfo(*region_.function);
    return info.getNumberOfRegisters(info.getRegisterClassForType(/*Vector=*/true));
  }

  // Of short code between barriers LLVM's vectoriser makes good vectors for rows that are shorter
  // than one of ours. A masked vector of ours for rows of 12 or more was faster there, but with
  // that check rows of 16 became up to a sixth slower.
  void leaveShortRows(VectorRegion& result, const ControlLevels& levels) const {
    result.shares_rows = between_barriers_ && levels.levels().size() == 1;
    result.least_lanes = result.shares_rows ? width() : width() / 4;
  }

  void vectorise() {
    if (size(*lane_) > most_instructions) return refuse(too_long);
    for (const Instruction& instruction : llvm::instructions(*lane_))
      if (!isSupported(instruction))
        return refuse(llvm::Twine("no vector form of ") + instruction.getOpcodeName(),
                      &instruction);
    llvm::DominatorTree tree(*lane_);
    llvm::LoopInfo loops(tree);
    ControlLevels levels(*lane_, loops);
    if (!levels.valid()) return refuse("its control flow is irreducible or too long");
    const unsigned first = body_.firstHidden();
    const LaneParameters parameters{lane_->getArg(first + env::local_id),
                                    lane_->getArg(first + env::lane),
                                    lane_->getArg(first + env::global_base)};
    LaneShapes shapes(*lane_, parameters, levels);
    VectorOptions options;
    options.width = width();
    const FarLoads far = findFarLoads(*lane_, shapes, tree, loops);
    const VectorCost cost = vectorCost(*lane_, levels, shapes, far, options.width);
    if (mode_ != Vectorising::always) {
      if (levels.levels().size() == 1 && !isBeyondLoopVectoriser(*lane_, levels, shapes))
        return refuse("it has no loops");
      if (!cost.pays()) return refuse("vectors are not estimated to be faster");
      if (scattersArrays(*lane_, shapes) && !cost.paysWell()) return refuse("private arrays");
    }
    reportVectors(*lane_, levels, shapes, options.width, cost);
    levels.shareMasks();
    options.outcome_per_lane = region_.outcomes.size() > 1 && !region_.uniform_outcome;
    VectorRegion result;
    result.width = options.width;
    result.whole = VectorBody(*lane_, parameters, levels, shapes, options).emit();
    if (const unsigned count = vectorsAtOnce(*lane_, levels, shapes, far, registers()); count > 1) {
      options.width *= count;
      result.several_width = options.width;
      result.several = VectorBody(*lane_, parameters, levels, shapes, options).emit();
      options.width = result.width;
    }
    options.whole = false;
    result.tail = VectorBody(*lane_, parameters, levels, shapes, options).emit();
    result.tail->addFnAttr(llvm::Attribute::NoInline);
    result.narrows_global_id = shapes.narrowsGlobalId();
    if (mode_ != Vectorising::always) leaveShortRows(result, levels);
    region_.vector = result;
  }

  const KernelBody& body_;
  Region& region_;
  llvm::TargetMachine& machine_;
  Vectorising mode_;
  bool between_barriers_;  // one of several regions
  Function* lane_ = nullptr;
};

}  // namespace

void vectoriseRegions(const KernelBody& body, SplitKernel& split, llvm::TargetMachine& machine,
                      Vectorising mode) {
  if (mode == Vectorising::never || split.shares_variables) return;
  for (Region& region : split.regions) {
    RegionVectoriser(body, split, region, machine, mode).run();
    if (region.goesToLoopVectoriser()) narrowSums(*region.function);
  }
}

}  // namespace weft::compiler
