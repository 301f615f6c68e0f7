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
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include "compiler/passes/analyses.h"
#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/vector_body.h"
#include "compiler/passes/simd/vector_cost.h"

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

// Brings the code of a lane into the form that VectorBody wants.
void simplifyLane(Function& lane, llvm::TargetMachine& machine, bool again) {
  Analyses analyses(machine);
  llvm::FunctionPassManager pipeline;
  if (again) {
    pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    pipeline.addPass(llvm::EarlyCSEPass());
    pipeline.addPass(llvm::SimplifyCFGPass());
    pipeline.addPass(llvm::InstCombinePass());
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
}

class RegionVectoriser {
 public:
  RegionVectoriser(const KernelBody& body, Region& region, llvm::TargetMachine& machine,
                   Vectorising mode)
      : body_(body), region_(region), machine_(machine), mode_(mode) {}

  void run() {
    if (region_.outcomes.empty() || !isCandidate()) return;
    llvm::ValueToValueMapTy map;
    lane_ = llvm::CloneFunction(region_.function, map);
    lane_->setName(region_.function->getName() + ".lane");
    if (region_.function->getInstructionCount() <= most_instructions) {
      simplifyLane(*lane_, machine_, inlineCalls(*lane_));
      vectorise();
    }
    lane_->eraseFromParent();
  }

 private:
  bool isCandidate() const {
    return mode_ == Vectorising::always || hasLongLoop(*region_.function);
  }

  // Arrays of private memory lie lane by lane: each access to them is a gather or scatter.
  bool hasArrays() const {
    return llvm::any_of(llvm::instructions(*lane_), [](const Instruction& instruction) {
      auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      return variable && variable->getAllocatedType()->isArrayTy();
    });
  }

  unsigned width() const {
    const llvm::TargetTransformInfo info = machine_.getTargetTransformInfo(*region_.function);
    const unsigned bits =
        info.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
    return std::max(4u, bits / 32);
  }

  void vectorise() {
    if (lane_->getInstructionCount() > most_instructions) return;
    if (!llvm::all_of(llvm::instructions(*lane_), isSupported)) return;
    llvm::DominatorTree tree(*lane_);
    llvm::LoopInfo loops(tree);
    ControlLevels levels(*lane_, loops);
    if (!levels.valid()) return;
    const unsigned first = body_.firstHidden();
    const LaneParameters parameters{lane_->getArg(first + env::local_id),
                                    lane_->getArg(first + env::lane),
                                    lane_->getArg(first + env::global_base)};
    LaneShapes shapes(*lane_, parameters, levels);
    VectorOptions options;
    options.width = width();
    if (mode_ != Vectorising::always &&
        (hasArrays() || !vectorCost(*lane_, levels, shapes, options.width).pays()))
      return;
    levels.shareMasks();
    options.outcome_per_lane = region_.outcomes.size() > 1 && !region_.uniform_outcome;
    VectorRegion result;
    result.width = options.width;
    result.whole = VectorBody(*lane_, parameters, levels, shapes, options).emit();
    options.whole = false;
    result.tail = VectorBody(*lane_, parameters, levels, shapes, options).emit();
    result.tail->addFnAttr(llvm::Attribute::NoInline);
    result.narrows_global_id = shapes.narrowsGlobalId();
    if (mode_ != Vectorising::always) result.least_lanes = options.width / 4;
    region_.vector = result;
  }

  const KernelBody& body_;
  Region& region_;
  llvm::TargetMachine& machine_;
  Vectorising mode_;
  Function* lane_ = nullptr;
};

}  // namespace

void vectoriseRegions(const KernelBody& body, SplitKernel& split, llvm::TargetMachine& machine,
                      Vectorising mode) {
  if (mode == Vectorising::never || split.shares_variables) return;
  for (Region& region : split.regions) RegionVectoriser(body, region, machine, mode).run();
}

}  // namespace weft::compiler
