#include "compiler/gpu/unrolling.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace weft::compiler {
namespace {

constexpr size_t longest_body = 64;  // instructions
constexpr unsigned turns = 4;

// Of a loop's turns together, in instructions that remain, and in such as are copied at first.
constexpr size_t most_unrolled = 1000;
constexpr size_t most_of_arrays = 6000;
constexpr size_t most_copied = 20000;

size_t lengthOf(const llvm::Loop& loop) {
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->sizeWithoutDebug();
  return instructions;
}

// What follows from the numbers of loops' turns alone.
class Numbers {
 public:
  // Of the turns of `loop`, or of all loops whose turns can be counted.
  Numbers(llvm::LoopStandardAnalysisResults& analyses, const llvm::Loop* loop)
      : analyses_(analyses), loop_(loop) {}

  bool contain(const llvm::Value& value) {
    if (llvm::isa<llvm::Constant, llvm::AllocaInst>(value)) return true;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (!instruction || (loop_ && !loop_->contains(instruction)) || depth_ == deepest) return false;
    const auto [place, is_new] = known_.try_emplace(instruction, false);
    if (!is_new) return place->second;
    ++depth_;
    const bool known = follows(*instruction);
    --depth_;
    known_[instruction] = known;
    return known;
  }

  // Are all accesses to the variable at such places?
  bool placeAll(const llvm::AllocaInst& variable) {
    llvm::SmallVector<const llvm::Value*> pointers{&variable};
    while (!pointers.empty())
      for (const llvm::User* user : pointers.pop_back_val()->users()) {
        if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst>(user)) {
          if (!contain(*user)) return false;
          pointers.push_back(user);
        } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user)) {
          if (!call->isLifetimeStartOrEnd() && !llvm::isa<llvm::MemIntrinsic>(call)) return false;
        } else if (const llvm::Value* place = llvm::getLoadStorePointerOperand(user);
                   !place || !contain(*place)) {
          return false;
        }
      }
    return true;
  }

 private:
  bool follows(const llvm::Instruction& instruction) {
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return counts(*phi);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return isTable(*llvm::getUnderlyingObject(load->getPointerOperand())) &&
             contain(*load->getPointerOperand());
    if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction); choice && loop_)
      return contain(*choice->getCondition());  // one of the values takes its place
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::GetElementPtrInst,
                   llvm::SelectInst>(instruction))
      return false;
    return llvm::all_of(instruction.operands(),
                        [&](const llvm::Use& operand) { return contain(*operand); });
  }

  // Does it go from number to number, as a counter does?
  bool counts(const llvm::PHINode& phi) {
    const llvm::Loop* loop = loop_ ? loop_ : analyses_.LI.getLoopFor(phi.getParent());
    if (!loop || phi.getParent() != loop->getHeader()) return false;
    const llvm::BasicBlock *before = loop->getLoopPredecessor(), *latch = loop->getLoopLatch();
    if (!before || !latch || analyses_.SE.getSmallConstantTripCount(loop) == 0) return false;
    if (!llvm::isa<llvm::ConstantData>(phi.getIncomingValueForBlock(before))) return false;
    known_[&phi] = true;
    if (contain(*phi.getIncomingValueForBlock(latch))) return true;
    known_.clear();  // what was thought to follow from it
    return false;
  }

  static bool isTable(const llvm::Value& object) {
    const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(&object);
    return table && table->isConstant() && table->hasDefinitiveInitializer();
  }

  static constexpr unsigned deepest = 200;  // of calls; nobody counts that far

  llvm::LoopStandardAnalysisResults& analyses_;
  const llvm::Loop* const loop_;
  llvm::DenseMap<const llvm::Instruction*, bool> known_;
  unsigned depth_ = 0;
};

// A loop whose turns may be laid out one behind the other.
class Turns {
 public:
  Turns(const llvm::Loop& loop, llvm::LoopStandardAnalysisResults& analyses)
      : loop_(loop), numbers_(analyses, &loop), all_numbers_(analyses, nullptr) {}

  // Instructions of one turn on average that remain, each element's of vectors.
  size_t size() {
    double instructions = 0;
    for (const llvm::BasicBlock* block : loop_.blocks()) {
      const double share = shareOf(*block);
      for (const llvm::Instruction& instruction : block->instructionsWithoutDebug())
        if (!numbers_.contain(instruction)) instructions += share * elements(instruction);
    }
    return static_cast<size_t>(instructions);
  }

  // Private ones that can become registers then, as far as this loop goes.
  bool goesThroughArrays() {
    for (const llvm::BasicBlock* block : loop_.blocks())
      for (const llvm::Instruction& instruction : *block) {
        const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
        if (!pointer || !numbers_.contain(*pointer)) continue;
        const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
        if (variable && variable != pointer && all_numbers_.placeAll(*variable)) return true;
      }
    return false;
  }

 private:
  static unsigned elements(const llvm::Instruction& instruction) {
    const llvm::Type* type = instruction.getType();
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      type = store->getValueOperand()->getType();
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? vector->getNumElements() : 1;
  }

  // In which part of the turns it runs, as far as their numbers say.
  double shareOf(const llvm::BasicBlock& block) {
    double share = 1;
    const llvm::BasicBlock* at = &block;
    for (unsigned level = 0; level < deepest && at != loop_.getHeader(); ++level) {
      const llvm::BasicBlock* before = at->getSinglePredecessor();
      if (!before || !loop_.contains(before)) break;
      const llvm::Instruction* end = before->getTerminator();
      if (end->getNumSuccessors() > 1 && numbers_.contain(*end->getOperand(0)))
        share /= end->getNumSuccessors();
      at = before;
    }
    return share;
  }

  static constexpr unsigned deepest = 8;

  const llvm::Loop& loop_;
  Numbers numbers_, all_numbers_;
};

bool isSpokenFor(const llvm::Loop& loop) {
  const llvm::MDNode* id = loop.getLoopID();
  if (!id) return false;
  return llvm::any_of(llvm::drop_begin(id->operands()), [](const llvm::MDOperand& operand) {
    const auto* hint = llvm::dyn_cast<llvm::MDNode>(operand);
    const auto* name = hint && hint->getNumOperands() > 0
                           ? llvm::dyn_cast<llvm::MDString>(hint->getOperand(0))
                           : nullptr;
    return name && name->getString().starts_with("llvm.loop.unroll");
  });
}

llvm::MDNode* hint(llvm::LLVMContext& context, llvm::StringRef name, llvm::Metadata* value) {
  return llvm::MDNode::get(context, {llvm::MDString::get(context, name), value});
}

// Does it exchange two private arrays by their pointers, as with the last row of a table and the
// one that is being worked out?
bool exchangesArrays(const llvm::Loop& loop) {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  const llvm::BasicBlock* before = loop.getLoopPredecessor();
  if (!latch || !before) return false;
  return llvm::any_of(loop.getHeader()->phis(), [&](const llvm::PHINode& pointer) {
    const auto* other = llvm::dyn_cast<llvm::PHINode>(pointer.getIncomingValueForBlock(latch));
    return other && other != &pointer && other->getParent() == loop.getHeader() &&
           other->getIncomingValueForBlock(latch) == &pointer && pointer.getType()->isPointerTy() &&
           llvm::isa<llvm::AllocaInst>(
               llvm::getUnderlyingObject(pointer.getIncomingValueForBlock(before)));
  });
}

// What is known of the loop afterwards is that it makes progress: else the unroller would forbid
// all others to go on, and the driver's compiler is told of that.
void ask(llvm::Loop& loop) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  auto* count =
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), turns));
  auto* progress =
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.mustprogress"));
  loop.setLoopID(llvm::makePostTransformationMetadata(
      context, loop.getLoopID(), {},
      {hint(context, "llvm.loop.unroll.count", count),
       hint(context, "llvm.loop.unroll.followup_unrolled", progress)}));
}

}  // namespace

llvm::PreservedAnalyses UnrollShortLoops::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && lengthOf(*loop) <= longest_body && !isSpokenFor(*loop)) ask(*loop);
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses UnrollExchanges::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  llvm::OptimizationRemarkEmitter remarks(&function);
  bool any = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!exchangesArrays(*loop) || isSpokenFor(*loop) || lengthOf(*loop) > most_unrolled) continue;
    llvm::UnrollLoopOptions options{};
    options.Count = 2;
    options.Force = options.Runtime = options.AllowExpensiveTripCount = true;
    options.UnrollRemainder = options.ForgetAllSCEV = true;
    any |= llvm::UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions, &target,
                            &remarks, true) != llvm::LoopUnrollResult::Unmodified;
  }
  return any ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses UnrollKnownLoops::run(llvm::Loop& loop, llvm::LoopAnalysisManager&,
                                              llvm::LoopStandardAnalysisResults& standard,
                                              llvm::LPMUpdater&) {
  const llvm::Function& function = *loop.getHeader()->getParent();
  if (where_ == Where::kernels && function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
    return llvm::PreservedAnalyses::all();
  const unsigned count = standard.SE.getSmallConstantTripCount(&loop);
  if (count == 0 || count > most_copied || lengthOf(loop) * count > most_copied ||
      isSpokenFor(loop))
    return llvm::PreservedAnalyses::all();
  Turns laid_out(loop, standard);
  const size_t size = laid_out.size() * count;
  if (size <= most_unrolled || (size <= most_of_arrays && laid_out.goesThroughArrays()))
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
  return llvm::PreservedAnalyses::all();
}

}  // namespace weft::compiler
