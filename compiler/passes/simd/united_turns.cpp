#include "compiler/passes/simd/united_turns.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/passes/simd/exchanges.h"
#include "compiler/passes/simd/lane_marks.h"
#include "compiler/passes/simd/neighbours.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::ICmpInst;
using llvm::Instruction;
using llvm::Loop;
using llvm::PHINode;
using llvm::Value;
using namespace llvm::PatternMatch;

// What a number would be where the varying one of a choice of two was chosen, the other of which is
// uniform: null where it is no such choice.
Value* withoutChoice(Value* number, llvm::IRBuilder<>& builder, const LaneShapes& shapes) {
  Value *left = nullptr, *right = nullptr;
  if (match(number, m_SMax(m_Value(left), m_Value(right)))) {
    if (shapes.isUniform(left)) std::swap(left, right);
    return shapes.isUniform(right) && !shapes.isUniform(left) ? left : nullptr;
  }
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(number)) {
    // What is extended by zeros is not negative, where it is chosen by a signed comparison.
    auto* zeros = llvm::dyn_cast<llvm::ZExtInst>(cast);
    Value* const choice = cast->getOperand(0);
    if ((!llvm::isa<llvm::SExtInst>(cast) && !(zeros && zeros->hasNonNeg())) ||
        !match(choice, m_SMax(m_Value(), m_Value())))
      return nullptr;
    Value* const varying = withoutChoice(choice, builder, shapes);
    return varying ? builder.CreateSExt(varying, cast->getType()) : nullptr;
  }
  if (!match(number, m_Add(m_Value(left), m_Value(right)))) return nullptr;
  if (shapes.isUniform(left)) std::swap(left, right);
  if (!llvm::isa<llvm::CastInst>(left)) return nullptr;  // in as many bits the sum may wrap
  Value* const varying = shapes.isUniform(right) ? withoutChoice(left, builder, shapes) : nullptr;
  return varying ? builder.CreateAdd(varying, right) : nullptr;
}

std::optional<ICmpInst::Predicate> predicateToGoOn(const Loop& loop, const ICmpInst& test,
                                                   unsigned bound) {
  auto* branch = llvm::cast<llvm::BranchInst>(loop.getLoopLatch()->getTerminator());
  ICmpInst::Predicate result = bound == 1 ? test.getPredicate() : test.getSwappedPredicate();
  if (branch->getSuccessor(0) != loop.getHeader()) result = ICmpInst::getInversePredicate(result);
  if (result == ICmpInst::ICMP_NE || result == ICmpInst::ICMP_SLT || result == ICmpInst::ICMP_SLE)
    return result;
  return std::nullopt;
}

// Does an address in the loop depend on ids besides on the number? If not the number is a place,
// and lanes that come to each place together take part in few of the turns.
bool addsIdsTo(const Value& number, const Loop& loop, const LaneShapes& shapes) {
  llvm::SmallPtrSet<const Value*, 32> seen{&number};
  llvm::SmallVector<const Value*> open;
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block)
      if (const Value* place = llvm::getLoadStorePointerOperand(&instruction))
        open.push_back(place);
  while (!open.empty()) {
    const Value* const value = open.pop_back_val();
    if (shapes.isUniform(value) || !seen.insert(value).second) continue;
    if (shapes.of(value).kind == LaneShape::linear) return true;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction && !llvm::isa<PHINode, llvm::LoadInst>(instruction))
      open.append(instruction->op_begin(), instruction->op_end());
  }
  return false;
}

}  // namespace

std::optional<LaneTurns> nearTurns(const Loop& loop, Value* start, const llvm::BinaryOperator& next,
                                   const ICmpInst& test, unsigned bound, bool are_neighbours,
                                   const LaneShapes& shapes) {
  const auto goes_on = predicateToGoOn(loop, test, bound);
  Value* const end = test.getOperand(bound);
  const bool by_one =
      match(&next, m_c_Add(m_Specific(next.getOperand(0)), m_One())) && next.hasNoSignedWrap();
  if (!goes_on || !by_one || end->getType() != start->getType() || !loop.isLoopInvariant(end))
    return std::nullopt;
  const bool hands_over = llvm::any_of(loop.blocks(), [](const BasicBlock* block) {
    return llvm::any_of(*block, isHandedOver);  // to lanes in the same turn of their own
  });
  if (hands_over) return std::nullopt;
  const Value* id = idBehind(start, shapes);
  if (!id || (!shapes.isUniform(end) && idBehind(end, shapes) != id)) return std::nullopt;
  if (!are_neighbours) {
    if (shapes.of(id).kind == LaneShape::linear && !addsIdsTo(*next.getOperand(0), loop, shapes))
      return std::nullopt;
    return LaneTurns{start, end, *goes_on, nullptr};
  }
  if (shapes.isUniform(end)) return std::nullopt;
  llvm::IRBuilder<> builder(llvm::cast<Instruction>(start));
  Value* const base = withoutChoice(start, builder, shapes);
  return base ? std::optional(LaneTurns{start, end, *goes_on, base}) : std::nullopt;
}

namespace {

class United {
 public:
  United(Loop& loop, const LaneTurns& turns)
      : begin_(turns.start),
        bound_(turns.bound),
        base_(turns.base),
        goes_on_(turns.goes_on),
        header_(*loop.getHeader()),
        preheader_(*loop.getLoopPreheader()),
        exit_(*loop.getExitBlock()),
        blocks_(loop.block_begin(), loop.block_end()),
        old_latch_(loop.getLoopLatch()),
        builder_(preheader_.getTerminator()) {}

  void make(llvm::ArrayRef<CountedSteps> counted) {
    findRange();
    Value* const active = count(counted);
    takePart(active);
    countOn(counted);
    keepValues();
  }

 private:
  bool fits(Value* value) const {
    constexpr unsigned narrow = 32;
    const unsigned bits = value->getType()->getIntegerBitWidth();
    return bits > narrow &&
           llvm::ComputeNumSignBits(value, header_.getDataLayout()) > bits - narrow;
  }
  bool lastFits() const {
    Value* before = nullptr;
    return fits(bound_) || (goes_on_ != ICmpInst::ICMP_SLE &&
                            match(bound_, m_NSWAdd(m_Value(before), m_One())) && fits(before));
  }
  Value* compare(ICmpInst::Predicate predicate, Value* left, Value* right) {
    return builder_.CreateICmp(is_signed_ ? predicate : ICmpInst::getUnsignedPredicate(predicate),
                               left, right);
  }

  // The last number that each lane takes a turn with. It takes one at least, and what it counts
  // does not wrap.
  Value* lastNumber() {
    Value* before = nullptr;
    if (goes_on_ == ICmpInst::ICMP_SLE)
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, bound_, begin_);
    if (!match(bound_, m_NSWAdd(m_Value(before), m_One())))
      before = builder_.CreateSub(bound_, llvm::ConstantInt::get(bound_->getType(), 1));
    if (goes_on_ == ICmpInst::ICMP_NE) return before;
    return builder_.CreateSelect(builder_.CreateICmpSGT(bound_, begin_), before, begin_);
  }

  // Numbers are compared as they are. Of distances from the base none is negative, so they are
  // compared as unsigned numbers, which hold all of them.
  void findRange() {
    is_signed_ = !base_;
    const bool narrow = fits(begin_) && lastFits() && (!base_ || fits(base_));
    narrow_ = narrow ? builder_.getInt32Ty() : begin_->getType();
    Value *start = begin_, *last = lastNumber();
    if (base_) {
      start = builder_.CreateSub(start, base_);
      last = builder_.CreateSub(last, base_);
    }
    start_ = builder_.CreateTrunc(start, narrow_);
    last_ = builder_.CreateTrunc(last, narrow_);
    first_ = ofAll(LaneMark::least, start_);
    end_ = ofAll(LaneMark::greatest, last_);
  }
  Value* ofAll(LaneMark mark, Value* number) {
    if (is_signed_) return createLaneMark(builder_, mark, number);
    llvm::Constant* const sign =
        llvm::ConstantInt::get(narrow_, llvm::APInt::getSignMask(narrow_->getIntegerBitWidth()));
    return builder_.CreateXor(createLaneMark(builder_, mark, builder_.CreateXor(number, sign)),
                              sign);
  }

  // How many steps a lane has not taken that were counted before its first turn.
  Value* missed(const CountedSteps& counted) {
    Value* const turns =
        builder_.CreateZExtOrTrunc(builder_.CreateSub(start_, first_), counted.steps->getType());
    return builder_.CreateMul(turns, counted.step);
  }

  // Returns whether a turn is one of the lane's.
  Value* count(llvm::ArrayRef<CountedSteps> counted) {
    llvm::Type* const type = begin_->getType();
    Value* const first =
        is_signed_ ? builder_.CreateSExt(first_, type) : builder_.CreateZExt(first_, type);
    llvm::SmallVector<Value*> missing, starts;
    for (const CountedSteps& each : counted) {
      missing.push_back(missed(each));
      starts.push_back(builder_.CreateSub(each.start, missing.back()));
    }
    part_ = header_.getFirstNonPHI();
    while (llvm::any_of(counted, [&](const auto& each) { return each.sum == part_; }))
      part_ = part_->getNextNode();
    builder_.SetInsertPoint(part_);
    for (size_t i = 0; i < counted.size(); ++i) countOwnSteps(counted[i], missing[i]);
    Value* const all = builder_.CreateAdd(first, counted.front().steps, "", false, is_signed_);
    for (size_t i = 0; i < counted.size(); ++i) {
      auto* const sum = llvm::cast_or_null<Instruction>(static_cast<Value*>(counted[i].sum));
      if (!sum) continue;
      sum->replaceAllUsesWith(i > 0   ? builder_.CreateAdd(starts[i], counted[i].steps)
                              : base_ ? builder_.CreateAdd(base_, all)
                                      : all);
      sum->eraseFromParent();
    }
    now_ = builder_.CreateTrunc(all, narrow_);
    return builder_.CreateAnd(compare(ICmpInst::ICMP_SGE, now_, start_),
                              compare(ICmpInst::ICMP_SLE, now_, last_), "active");
  }
  // Where something depends on them.
  void countOwnSteps(const CountedSteps& counted, Value* missing) {
    const auto replace = [&](Value& steps, const Value* other, Value* more) {
      llvm::SmallVector<llvm::Use*> uses;
      for (llvm::Use& use : steps.uses())
        if (use.getUser() != other && use.getUser() != counted.sum) uses.push_back(&use);
      if (uses.empty()) return;
      Value* own = builder_.CreateSub(counted.steps, missing);
      if (more) own = builder_.CreateAdd(own, more);
      for (llvm::Use* use : uses) use->set(own);
    };
    replace(*counted.taken, counted.steps, counted.step);
    replace(*counted.steps, counted.taken, nullptr);
  }

  // Lanes that take no part in a turn go on to a new latch.
  void takePart(Value* active) {
    BasicBlock* const body = header_.splitBasicBlock(part_, header_.getName() + ".part");
    blocks_.insert(body);
    if (old_latch_ == &header_) old_latch_ = body;
    latch_ = BasicBlock::Create(header_.getContext(), "all", header_.getParent(), &exit_);
    llvm::ReplaceInstWithInst(header_.getTerminator(),
                              llvm::BranchInst::Create(body, latch_, active));
    auto* const old_end = llvm::cast<llvm::BranchInst>(old_latch_->getTerminator());
    builder_.SetInsertPoint(latch_);
    Instruction* const end =
        builder_.CreateCondBr(compare(ICmpInst::ICMP_SGE, now_, end_), &exit_, &header_);
    end->setMetadata(llvm::LLVMContext::MD_loop, old_end->getMetadata(llvm::LLVMContext::MD_loop));
    Value* const test = old_end->getCondition();
    llvm::ReplaceInstWithInst(old_end, llvm::BranchInst::Create(latch_));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(test);
  }

  void countOn(llvm::ArrayRef<CountedSteps> counted) {
    builder_.SetInsertPoint(latch_, latch_->begin());
    for (const CountedSteps& each : counted) {
      each.taken->replaceAllUsesWith(builder_.CreateAdd(each.steps, each.step));
      each.taken->eraseFromParent();
    }
  }

  bool changes(Value* value) const {
    auto* const instruction = llvm::dyn_cast<Instruction>(value);
    return instruction && blocks_.contains(instruction->getParent());
  }
  // Who takes no part keeps what it had.
  PHINode* keep(Value* value, Value* otherwise) {
    PHINode* const phi = PHINode::Create(value->getType(), 2, "kept", latch_->begin());
    phi->addIncoming(value, old_latch_);
    phi->addIncoming(otherwise, &header_);
    return phi;
  }
  // Of the last turn that a lane took part in.
  PHINode* keepLast(Value* value) {
    PHINode* const last = PHINode::Create(value->getType(), 2, "last", header_.begin());
    PHINode* const kept = keep(value, last);
    last->addIncoming(llvm::PoisonValue::get(value->getType()), &preheader_);
    last->addIncoming(kept, latch_);
    return kept;
  }
  void keepValues() {
    llvm::SmallDenseMap<Value*, Value*> kept;
    const auto comeFromLatch = [&](PHINode& phi, llvm::function_ref<Value*(Value*)> value) {
      const auto index = static_cast<unsigned>(phi.getBasicBlockIndex(old_latch_));
      phi.setIncomingBlock(index, latch_);
      phi.setIncomingValue(index, value(phi.getIncomingValue(index)));
    };
    for (PHINode& phi : header_.phis())
      comeFromLatch(phi, [&](Value* value) -> Value* {
        if (value == &phi || (!changes(value) && llvm::isa<Instruction>(value) &&
                              llvm::cast<Instruction>(value)->getParent() == latch_))
          return value;
        Value* const result = keep(value, &phi);
        kept.insert({value, result});
        return result;
      });
    for (PHINode& phi : exit_.phis())
      comeFromLatch(phi, [&](Value* value) -> Value* {
        if (!changes(value)) return value;
        Value*& result = kept[value];
        if (!result) result = keepLast(value);
        return result;
      });
  }

  Value *begin_, *bound_, *base_;
  ICmpInst::Predicate goes_on_;
  BasicBlock &header_, &preheader_, &exit_;
  llvm::SmallPtrSet<BasicBlock*, 8> blocks_;
  BasicBlock *old_latch_, *latch_ = nullptr;
  llvm::IRBuilder<> builder_;
  bool is_signed_ = true;
  llvm::Type* narrow_ = nullptr;
  Value *start_ = nullptr, *last_ = nullptr;  // of a lane, and
  Value *first_ = nullptr, *end_ = nullptr;   // of all
  Instruction* part_ = nullptr;               // where those in which a lane takes part begin
  Value* now_ = nullptr;
};

}  // namespace

void uniteTurns(Loop& loop, const LaneTurns& turns, llvm::ArrayRef<CountedSteps> counted) {
  United(loop, turns).make(counted);
}

}  // namespace weft::compiler
