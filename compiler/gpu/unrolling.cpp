#include "compiler/gpu/unrolling.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "compiler/passes/swapped_arrays.h"
#include "compiler/passes/unroller.h"

namespace weft::compiler {
namespace {

constexpr size_t longest_body = 64;  // instructions
constexpr unsigned turns = 4;

// Of a loop's turns together, in instructions that remain, and in such as are copied at first.
constexpr size_t most_unrolled = 1000;
constexpr size_t most_of_arrays = 6000;
constexpr size_t most_copied = 20000;

// What follows from the numbers of loops' turns alone.
class Numbers {
 public:
  // Of the turns of `loop`, or of all loops whose turns can be counted.
  Numbers(llvm::LoopStandardAnalysisResults& analyses, const llvm::Loop* loop)
      : analyses_(analyses), loop_(loop) {}

  bool contain(const llvm::Value& value) {
    if (llvm::isa<llvm::Constant, llvm::AllocaInst>(value)) return true;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (!instruction) return false;
    if (!known_.contains(instruction)) learn(*instruction);
    return known_.lookup(instruction);
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
  using Values = llvm::SmallVector<const llvm::Value*, 4>;

  // Takes all that it depends on for such numbers, and then away what depends on others: a counter
  // depends on itself.
  void learn(const llvm::Instruction& instruction) {
    llvm::SmallVector<const llvm::Instruction*> found, others;
    const auto find = [&](const llvm::Value& value) {
      const auto* next = llvm::dyn_cast<llvm::Instruction>(&value);
      if (!next || llvm::isa<llvm::AllocaInst>(next) || known_.contains(next)) return;
      const bool may_be = mayFollow(*next);
      known_[next] = may_be;
      if (may_be) found.push_back(next);
    };
    find(instruction);
    for (size_t i = 0; i < found.size(); ++i)
      for (const llvm::Value* source : sources(*found[i])) find(*source);
    for (const llvm::Instruction* each : found)
      if (!followsFromSources(*each)) others.push_back(each);
    for (const llvm::Instruction* each : others) known_[each] = false;
    while (!others.empty())
      for (const llvm::User* user : others.pop_back_val()->users()) {
        const auto* next = llvm::dyn_cast<llvm::Instruction>(user);
        if (!next || !known_.lookup(next) || followsFromSources(*next)) continue;
        known_[next] = false;
        others.push_back(next);
      }
  }

  bool followsFromSources(const llvm::Instruction& instruction) const {
    return llvm::all_of(sources(instruction), [&](const llvm::Value* source) {
      if (llvm::isa<llvm::Constant, llvm::AllocaInst>(source)) return true;
      const auto* other = llvm::dyn_cast<llvm::Instruction>(source);
      return other && known_.lookup(other);
    });
  }

  // Does it, if its sources do?
  bool mayFollow(const llvm::Instruction& instruction) const {
    if (loop_ && !loop_->contains(&instruction)) return false;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return isCounter(*phi);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return isTable(*llvm::getUnderlyingObject(load->getPointerOperand()));
    return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::GetElementPtrInst,
                     llvm::SelectInst>(instruction);
  }

  Values sources(const llvm::Instruction& instruction) const {
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction))
      return {phi->getIncomingValueForBlock(loopOf(*phi)->getLoopLatch())};
    if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction); choice && loop_)
      return {choice->getCondition()};  // one of the values takes its place
    return Values(instruction.operand_values());
  }

  const llvm::Loop* loopOf(const llvm::PHINode& phi) const {
    return loop_ ? loop_ : analyses_.LI.getLoopFor(phi.getParent());
  }

  // Does it begin with a number, in a loop that ends?
  bool isCounter(const llvm::PHINode& phi) const {
    const llvm::Loop* loop = loopOf(phi);
    if (!loop || phi.getParent() != loop->getHeader()) return false;
    const llvm::BasicBlock* before = loop->getLoopPredecessor();
    return before && loop->getLoopLatch() && analyses_.SE.getSmallConstantMaxTripCount(loop) != 0 &&
           llvm::isa<llvm::ConstantData>(phi.getIncomingValueForBlock(before));
  }

  static bool isTable(const llvm::Value& object) {
    const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(&object);
    return table && table->isConstant() && table->hasDefinitiveInitializer();
  }

  llvm::LoopStandardAnalysisResults& analyses_;
  const llvm::Loop* const loop_;
  llvm::DenseMap<const llvm::Instruction*, bool> known_;
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

bool readsMemory(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& instruction) {
      return instruction.mayReadFromMemory();
    });
  });
}

constexpr llvm::StringLiteral unrolled_here = "weft.loop.unrolled";

// Of its loops only the driver's compiler may unroll this one further.
void keepAsItIs(llvm::Loop& loop) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  const auto flag = [&](llvm::StringRef name) {
    return llvm::MDNode::get(context, llvm::MDString::get(context, name));
  };
  loop.setLoopID(llvm::makePostTransformationMetadata(
      context, loop.getLoopID(), {}, {flag(unrolled_here), flag("llvm.loop.unroll.disable")}));
}

// For loops that may be left before their last turn, of which the unroller itself takes only the
// shortest.
llvm::PreservedAnalyses unroll(llvm::Loop& loop, unsigned turns_at_most,
                               llvm::LoopStandardAnalysisResults& standard,
                               llvm::LPMUpdater& updater) {
  const std::string name = loop.getName().str();
  llvm::OptimizationRemarkEmitter remarks(loop.getHeader()->getParent());
  llvm::UnrollLoopOptions options{};
  options.Count = turns_at_most;
  const llvm::LoopUnrollResult result =
      llvm::UnrollLoop(&loop, options, &standard.LI, &standard.SE, &standard.DT, &standard.AC,
                       &standard.TTI, &remarks, /*PreserveLCSSA=*/true);
  if (result == llvm::LoopUnrollResult::Unmodified) return llvm::PreservedAnalyses::all();
  if (result == llvm::LoopUnrollResult::FullyUnrolled) updater.markLoopAsDeleted(loop, name);
  return llvm::getLoopPassPreservedAnalyses();
}

}  // namespace

llvm::PreservedAnalyses UnrollShortLoops::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  Unroller unroller(function, analyses);
  const auto is_meant = [&](llvm::Loop& loop) {
    return loop.isInnermost() && lengthOf(loop) <= longest_body &&
           (unroller.canCountTurns(loop) || readsMemory(loop));
  };
  return unroller.unroll(turns, is_meant, keepAsItIs) ? llvm::PreservedAnalyses::none()
                                                      : llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses UnrollExchanges::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  const auto is_meant = [](llvm::Loop& loop) {
    return exchangesArrays(loop) && lengthOf(loop) <= most_unrolled;
  };
  return Unroller(function, analyses).unroll(2, is_meant, keepAsItIs)
             ? llvm::PreservedAnalyses::none()
             : llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses LetDriverUnroll::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager&) {
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* const end = block.getTerminator();
    const llvm::MDNode* id = end->getMetadata(llvm::LLVMContext::MD_loop);
    if (!id || !llvm::findOptionMDForLoopID(const_cast<llvm::MDNode*>(id), unrolled_here)) continue;
    // That it makes progress, so that it does not go for a loop without known properties.
    llvm::LLVMContext& context = function.getContext();
    auto* progress =
        llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.mustprogress"));
    auto* known = llvm::MDNode::getDistinct(context, {nullptr, progress});
    known->replaceOperandWith(0, known);
    end->setMetadata(llvm::LLVMContext::MD_loop, known);
  }
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses UnrollKnownLoops::run(llvm::Loop& loop, llvm::LoopAnalysisManager&,
                                              llvm::LoopStandardAnalysisResults& standard,
                                              llvm::LPMUpdater& updater) {
  const llvm::Function& function = *loop.getHeader()->getParent();
  if (where_ == Where::kernels && function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
    return llvm::PreservedAnalyses::all();
  const bool is_exact = standard.SE.getSmallConstantTripCount(&loop) != 0;
  const unsigned count = standard.SE.getSmallConstantMaxTripCount(&loop);
  if (count == 0 || count > most_copied || lengthOf(loop) * count > most_copied ||
      isSpokenFor(loop))
    return llvm::PreservedAnalyses::all();
  Turns laid_out(loop, standard);
  const size_t size = laid_out.size() * count;
  if (!is_exact)
    return loop.isInnermost() && !isCooperative(loop) && size <= most_of_arrays &&
                   laid_out.goesThroughArrays()
               ? unroll(loop, count, standard, updater)
               : llvm::PreservedAnalyses::all();
  if (size <= most_unrolled || (size <= most_of_arrays && laid_out.goesThroughArrays()))
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
  return llvm::PreservedAnalyses::all();
}

}  // namespace weft::compiler
