#include "compiler/passes/sum_order.h"

#include <queue>
#include <tuple>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

bool isSum(const Value& value) {
  const auto* instruction = llvm::dyn_cast<Instruction>(&value);
  return instruction && instruction->getOpcode() == Instruction::Add &&
         llvm::isa<llvm::FixedVectorType>(instruction->getType());
}

// About how many cycles a value has to wait for.
unsigned latency(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::Load:
      return 6;
    case Instruction::Mul:
      return 8;
    case Instruction::Call:
      return llvm::isa<llvm::IntrinsicInst>(instruction) ? 1 : 20;
    case Instruction::ShuffleVector:
    case Instruction::InsertElement:
      return 3;
    case Instruction::BitCast:
      return 0;
    default:
      return 1;
  }
}

// A number, not what the linker knows, such as an address.
bool isKnown(const Value& term) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(&term);
  return !constant ||
         (!llvm::isa<llvm::ConstantExpr>(constant) && !constant->containsConstantExpression());
}

// A constant as memory has it. Of one that it knows the code generator makes the last term again.
void hide(Value*& term, Instruction& before) {
  constexpr unsigned widest_bits = 512;
  auto* constant = llvm::dyn_cast<llvm::Constant>(term);
  if (!constant) return;
  llvm::IRBuilder<> builder(&before);
  auto* type = llvm::cast<llvm::FixedVectorType>(constant->getType());
  llvm::Constant* element = type->getPrimitiveSizeInBits() >= widest_bits  // loads that broadcast
                                ? constant->getSplatValue()
                                : nullptr;
  llvm::Constant* kept = element ? element : constant;
  auto* variable = new llvm::GlobalVariable(*before.getModule(), kept->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, kept, "weft.term");
  variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  llvm::LoadInst* load = builder.CreateLoad(kept->getType(), variable);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(before.getContext(), {}));
  term = element ? builder.CreateVectorSplat(type->getNumElements(), load) : load;
}

// One block, from its top to its end.
class SumOrder {
 public:
  explicit SumOrder(BasicBlock& block) : block_(block) {}

  void improve() {
    for (Instruction& instruction : llvm::make_early_inc_range(block_)) {
      if (isSum(instruction) && !isTerm(instruction) && order(instruction))
        llvm::RecursivelyDeleteTriviallyDeadInstructions(&instruction);
      else
        depths_[&instruction] = depthOf(instruction);
    }
  }

 private:
  struct Term {
    unsigned depth;
    unsigned place;  // among equals, the first first
    Value* value;
    bool operator<(const Term& other) const {
      return std::tie(depth, place) > std::tie(other.depth, other.place);
    }
  };
  static constexpr size_t most_terms = 16;

  unsigned depthOf(const Instruction& instruction) const {
    if (llvm::isa<llvm::PHINode>(instruction)) return 0;
    unsigned depth = 0;
    for (const Value* operand : instruction.operands())
      depth = std::max(depth, depths_.lookup(operand));
    return depth + latency(instruction);
  }

  // A part of a longer sum of this block?
  bool isTerm(const Value& value) const {
    if (!isSum(value) || !value.hasOneUse()) return false;
    const auto* user = llvm::cast<Instruction>(*value.user_begin());
    return user->getParent() == &block_ && isSum(*user);
  }

  bool collect(Value& value, llvm::SmallVectorImpl<Value*>& terms) const {
    for (Value* operand : llvm::cast<Instruction>(value).operands()) {
      const auto* inner = llvm::dyn_cast<Instruction>(operand);
      if (inner && inner->getParent() == &block_ && isTerm(*inner)) {
        if (!collect(*operand, terms)) return false;
      } else {
        terms.push_back(operand);
      }
    }
    return terms.size() <= most_terms;
  }

  // Whether another sum took its place.
  bool order(Instruction& sum) {
    llvm::SmallVector<Value*> terms;
    if (!collect(sum, terms) || terms.size() < 3 ||
        !llvm::all_of(terms, [](const Value* term) { return isKnown(*term); }) ||
        bestDepth(terms) >= std::max(depthOf(sum), depthWithConstantsLast(terms)))
      return false;
    std::priority_queue<Term> queue = queueOf(terms);
    while (true) {
      Term first = take(queue), second = take(queue);
      if (!queue.empty()) {
        hide(first.value, sum);
        hide(second.value, sum);
      }
      auto* both = llvm::BinaryOperator::CreateAdd(first.value, second.value, "", &sum);
      both->setDebugLoc(sum.getDebugLoc());
      depths_[both] = second.depth + 1;
      if (queue.empty()) {
        both->takeName(&sum);
        sum.replaceAllUsesWith(both);
        return true;
      }
      queue.push({second.depth + 1, second.place, both});
    }
  }

  std::priority_queue<Term> queueOf(llvm::ArrayRef<Value*> terms) const {
    std::priority_queue<Term> queue;
    for (unsigned i = 0; i < terms.size(); ++i) queue.push({depths_.lookup(terms[i]), i, terms[i]});
    return queue;
  }
  static Term take(std::priority_queue<Term>& queue) {
    const Term term = queue.top();
    queue.pop();
    return term;
  }
  // What the code generator makes of it.
  unsigned depthWithConstantsLast(llvm::ArrayRef<Value*> terms) const {
    llvm::SmallVector<Value*> others;
    llvm::copy_if(terms, std::back_inserter(others),
                  [](const Value* term) { return !llvm::isa<llvm::Constant>(term); });
    return others.size() < 2 ? 0 : bestDepth(others) + (others.size() < terms.size());
  }
  unsigned bestDepth(llvm::ArrayRef<Value*> terms) const {
    std::priority_queue<Term> queue = queueOf(terms);
    while (true) {
      take(queue);
      const unsigned depth = take(queue).depth + 1;
      if (queue.empty()) return depth;
      queue.push({depth, 0, nullptr});
    }
  }

  BasicBlock& block_;
  llvm::DenseMap<const Value*, unsigned> depths_;
};

}  // namespace

void addLateTermsLast(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (BasicBlock& block : function) SumOrder(block).improve();
}

}  // namespace weft::compiler
