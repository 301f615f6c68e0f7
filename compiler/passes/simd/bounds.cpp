#include "compiler/passes/simd/bounds.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::CmpInst;
using llvm::Function;
using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

constexpr unsigned most_computed = 24;   // instructions from the ids to a condition
constexpr unsigned longest_way_out = 4;  // blocks
constexpr unsigned least_bits = 32;
constexpr int64_t widest_step = 1 << 10;  // so that not even 2^20 lanes go around

// Does a lane that comes here do nothing any more?
bool isWayOut(const BasicBlock* block) {
  for (unsigned i = 0; i < longest_way_out; ++i) {
    for (const Instruction& instruction : *block)
      if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isDebugOrPseudoInst() &&
          !instruction.isTerminator())
        return false;
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) return true;
    block = block->getSingleSuccessor();
    if (!block) return false;
  }
  return false;
}

bool acts(const Instruction& instruction) {
  return instruction.mayHaveSideEffects() && !instruction.isDebugOrPseudoInst() &&
         !llvm::isa<llvm::AssumeInst, llvm::NoAliasScopeDeclInst>(instruction);
}

class LaneTest {
 public:
  LaneTest(Function& lane, const LaneShapes& shapes, const llvm::Twine& name)
      : shapes_(shapes),
        builder_(lane.getContext()),
        test_(Function::Create(
            llvm::FunctionType::get(builder_.getInt1Ty(), lane.getFunctionType()->params(), false),
            llvm::GlobalValue::InternalLinkage, lane.getName() + name, lane.getParent())) {
    test_->addFnAttrs(llvm::AttrBuilder(lane.getContext(), lane.getAttributes().getFnAttrs()));
    builder_.SetInsertPoint(BasicBlock::Create(lane.getContext(), "entry", test_));
  }

  Value* number(unsigned count) { return builder_.getInt64(count); }
  Value* parameter(unsigned position) { return test_->getArg(position); }

  Function* some(llvm::ArrayRef<Bound> bounds, Value* count) {
    last_ = builder_.CreateSub(count, builder_.getInt64(1));
    Value* result = builder_.getTrue();
    for (const Bound& bound : bounds)
      if (Value* inside = perhaps(bound.branch->getCondition(), bound.inside))
        result = builder_.CreateAnd(result, inside);
    return finish(result);
  }

  Function* all(llvm::ArrayRef<Bound> bounds, unsigned count) {
    last_ = builder_.getInt64(count - 1);
    Value* result = builder_.getTrue();
    for (const Bound& bound : bounds) {
      Value* outside = perhaps(bound.branch->getCondition(), !bound.inside);
      if (!outside) return finish(nullptr);
      result = builder_.CreateAnd(result, builder_.CreateNot(outside));
    }
    return finish(result);
  }

 private:
  bool isKnown(const Value* value) const {
    llvm::SmallPtrSet<const Value*, most_computed> seen{value};
    llvm::SmallVector<const Value*> left{value};
    while (!left.empty()) {
      auto* instruction = llvm::dyn_cast<Instruction>(left.pop_back_val());
      if (!instruction) continue;
      if (seen.size() > most_computed || llvm::isa<llvm::PHINode>(instruction) ||
          instruction->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(instruction))
        return false;
      for (const llvm::Use& operand : instruction->operands())
        if (seen.insert(operand).second) left.push_back(operand);
    }
    return true;
  }

  Function* finish(Value* result) {
    if (!result || !compares_lanes_) {
      test_->eraseFromParent();
      return nullptr;
    }
    builder_.CreateRet(result);
    return test_;
  }

  // With more bits. It may not fit in its own where the first lane does not run.
  Value* widened(const Value* value, llvm::Type* type, bool is_signed) {
    auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (shapes_.isUniform(value) || !operation)
      return builder_.CreateIntCast(compute(value), type, is_signed);
    Value* left = widened(operation->getOperand(0), type, is_signed);
    // A shift's distance is not negative, whatever the shifted number is.
    Value* right = widened(operation->getOperand(1), type,
                           is_signed && operation->getOpcode() != Instruction::Shl);
    return isDisjointOr(*operation) ? builder_.CreateAdd(left, right)
                                    : builder_.CreateBinOp(operation->getOpcode(), left, right);
  }

  // In the row's first lane.
  Value* compute(const Value* value) {
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(value))
      return test_->getArg(argument->getArgNo());
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return const_cast<Value*>(value);
    Value*& known = computed_[instruction];
    if (known) return known;
    if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(instruction) && !shapes_.isUniform(instruction)) {
      const bool is_signed = llvm::isa<llvm::SExtInst>(instruction) || instruction->hasNonNeg();
      Value* wide = widened(instruction->getOperand(0), instruction->getType(), is_signed);
      return computed_[instruction] = wide;
    }
    if (isDisjointOr(*instruction) && !shapes_.isUniform(instruction)) {
      Value* left = compute(instruction->getOperand(0));
      Value* sum = builder_.CreateAdd(left, compute(instruction->getOperand(1)));
      return computed_[instruction] = sum;
    }
    Instruction* copy = instruction->clone();
    // Other lanes may count on what rules the first one out.
    copy->dropPoisonGeneratingFlags();
    for (llvm::Use& operand : copy->operands()) operand.set(compute(operand));
    return computed_[instruction] = builder_.Insert(copy);
  }

  // May the condition be `wanted` in some lane? Null: nothing is known.
  Value* perhaps(Value* condition, bool wanted) {
    Value *left = nullptr, *right = nullptr;
    if (match(condition, m_Not(m_Value(left)))) return perhaps(left, !wanted);
    const bool both = match(condition, m_LogicalAnd(m_Value(left), m_Value(right)));
    if (both || match(condition, m_LogicalOr(m_Value(left), m_Value(right)))) {
      Value *a = perhaps(left, wanted), *b = perhaps(right, wanted);
      if (both == wanted) return !a ? b : !b ? a : builder_.CreateAnd(a, b);
      return a && b ? builder_.CreateOr(a, b) : nullptr;
    }
    if (!isKnown(condition)) return nullptr;
    if (shapes_.isUniform(condition)) {
      // Nobody may come to ask: it may be poison.
      Value* value = builder_.CreateFreeze(compute(condition));
      return wanted ? value : builder_.CreateNot(value);
    }
    auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
    return comparison ? compare(*comparison, wanted) : nullptr;
  }

  Value* compare(const llvm::ICmpInst& comparison, bool wanted) {
    const Value *growing = comparison.getOperand(0), *same = comparison.getOperand(1);
    CmpInst::Predicate predicate = comparison.getPredicate();
    if (shapes_.isUniform(growing)) {
      std::swap(growing, same);
      predicate = CmpInst::getSwappedPredicate(predicate);
    }
    if (!wanted) predicate = CmpInst::getInversePredicate(predicate);
    const LaneShape shape = shapes_.of(growing);
    llvm::Type* type = growing->getType();
    if (shape.kind != LaneShape::linear || !shapes_.isUniform(same) || !type->isIntegerTy() ||
        type->getIntegerBitWidth() < least_bits || std::abs(shape.stride) > widest_step ||
        predicate == CmpInst::ICMP_NE)
      return nullptr;
    compares_lanes_ = true;
    Value* steps = builder_.CreateMul(builder_.CreateZExtOrTrunc(last_, type),
                                      llvm::ConstantInt::getSigned(type, shape.stride));
    Value *first = compute(growing), *limit = compute(same);
    return builder_.CreateFreeze(inRow(predicate, first, steps, limit, shape.stride > 0));
  }

  // Does the predicate hold for one of the numbers from `first` to `first` + `steps`?
  Value* inRow(CmpInst::Predicate predicate, Value* first, Value* steps, Value* limit, bool grows) {
    Value* last = builder_.CreateAdd(first, steps);
    Value *least = grows ? first : last, *most = grows ? last : first;
    if (predicate == CmpInst::ICMP_EQ)
      return builder_.CreateICmpULE(builder_.CreateSub(limit, least),
                                    builder_.CreateSub(most, least));
    Value* holds = builder_.CreateOr(builder_.CreateICmp(predicate, first, limit),
                                     builder_.CreateICmp(predicate, last, limit));
    const auto order = CmpInst::isSigned(predicate) ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT;
    return builder_.CreateOr(holds, builder_.CreateICmp(order, least, most));  // they wrap
  }

  const LaneShapes& shapes_;
  llvm::IRBuilder<> builder_;
  Function* test_;
  Value* last_ = nullptr;  // lane
  llvm::DenseMap<const Instruction*, Value*> computed_;
  bool compares_lanes_ = false;
};

}  // namespace

Bounds findBounds(Function& lane) {
  Bounds found;
  BasicBlock* block = &lane.getEntryBlock();
  while (llvm::none_of(*block, acts)) {
    BasicBlock* next = block->getSingleSuccessor();
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!next && branch) {
      const bool leaves_if_true = isWayOut(branch->getSuccessor(0));
      if (leaves_if_true == isWayOut(branch->getSuccessor(1))) break;
      found.push_back({branch, !leaves_if_true});
      next = branch->getSuccessor(leaves_if_true ? 1 : 0);
    }
    if (!next || !next->getSinglePredecessor()) break;
    block = next;
  }
  return found;
}

Function* someInside(Function& lane, const LaneShapes& shapes, llvm::ArrayRef<Bound> bounds,
                     unsigned count) {
  LaneTest test(lane, shapes, ".some");
  return test.some(bounds, test.number(count));
}

Function* someInsideRow(Function& lane, const LaneShapes& shapes, llvm::ArrayRef<Bound> bounds,
                        unsigned row_length) {
  LaneTest test(lane, shapes, ".some");
  return test.some(bounds, test.parameter(row_length));
}

Function* allInside(Function& lane, const LaneShapes& shapes, llvm::ArrayRef<Bound> bounds,
                    unsigned count) {
  return LaneTest(lane, shapes, ".all").all(bounds, count);
}

void stayInside(Function& lane, size_t count) {
  const Bounds bounds = findBounds(lane);
  for (const auto& [branch, inside] : llvm::ArrayRef<Bound>(bounds).take_front(count)) {
    branch->getSuccessor(inside ? 1 : 0)->removePredecessor(branch->getParent());
    llvm::BranchInst::Create(branch->getSuccessor(inside ? 0 : 1), branch->getIterator());
    branch->eraseFromParent();
  }
  llvm::EliminateUnreachableBlocks(lane);
}

}  // namespace weft::compiler
