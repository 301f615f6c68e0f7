#include "compiler/passes/word_pairs.h"

#include <map>
#include <utility>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace weft::compiler {
namespace {

using llvm::Value;
using namespace llvm::PatternMatch;

constexpr unsigned word_bits = 32;

bool isWord(const Value& value) { return value.getType()->isIntegerTy(word_bits); }
bool isNumber(const Value& value) { return value.getType()->isIntegerTy(2 * word_bits); }

bool isPair(const Value& value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  return type && type->getNumElements() == 2 && type->getElementType()->isIntegerTy(word_bits);
}

using Words = std::pair<Value*, Value*>;  // the lower one first

bool isSwapped(Value& swapped, Value& pair) {
  auto* const shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&swapped);
  return shuffle && shuffle->getOperand(0) == &pair && isPair(swapped) && isPair(pair) &&
         shuffle->getShuffleMask().equals({1, 0});
}

// Where one of two instructions of a block has both.
llvm::Instruction& later(llvm::Instruction& a, llvm::Instruction& b) {
  return a.comesBefore(&b) ? b : a;
}

// Finds the number that two words are, and makes it where there are both of them.
class Joiner {
 public:
  ~Joiner() {
    for (const llvm::WeakTrackingVH& made : llvm::reverse(made_))
      if (made) llvm::RecursivelyDeleteTriviallyDeadInstructions(made);
  }

  // Null: they do not come from numbers alone, or from memory.
  Value* joined(Value& pair) {
    return find(pairs_, &pair, [&] { return ofPair(pair); });
  }
  Value* joined(const Words& words) {
    return find(words_, words, [&] { return ofWords(words); });
  }

 private:
  static constexpr unsigned deepest = 200;  // more is no hash's round

  struct Part {
    Value* number = nullptr;
    bool is_high = false;
  };

  template <typename Key, typename Make>
  Value* find(std::map<Key, Value*>& known, const Key& key, const Make& make) {
    if (depth_ == deepest) return nullptr;
    const auto [found, is_new] = known.try_emplace(key, nullptr);
    if (!is_new) return found->second;
    ++depth_;
    Value* const number = make();
    --depth_;
    return found->second = number;
  }

  Value* ofPair(Value& pair) {
    Value *low, *high;
    if (match(&pair, m_BitCast(m_Value(low)))) return isNumber(*low) ? low : nullptr;
    if (match(&pair, m_InsertElt(m_InsertElt(m_Value(), m_Value(low), m_ZeroInt()), m_Value(high),
                                 m_One())) ||
        match(&pair, m_InsertElt(m_InsertElt(m_Value(), m_Value(high), m_One()), m_Value(low),
                                 m_ZeroInt())))
      return joined(Words{low, high});
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(&pair)) {
      low = constant->getAggregateElement(0u), high = constant->getAggregateElement(1u);
      return low && high ? joined(Words{low, high}) : nullptr;
    }
    auto* const operation = llvm::dyn_cast<llvm::Instruction>(&pair);
    if (!operation) return nullptr;
    if (llvm::isa<llvm::LoadInst>(operation)) return loaded(*operation);
    if (Value* const number = ofShifts(*operation)) return number;
    Value* const first = operation->getOperand(0);
    if (operation->isBitwiseLogicOp())
      return combined(*operation, joined(*first), joined(*operation->getOperand(1)), *operation);
    if (isSwapped(pair, *first)) return rotated(joined(*first), word_bits, *operation);
    return nullptr;
  }

  // Of both words one way and of both changed the other way.
  Value* ofShifts(llvm::Instruction& pair) {
    Value *high, *low, *whole;
    const llvm::APInt *left, *right;
    if (match(&pair, m_FShl(m_Value(high), m_Value(low), m_APInt(left))) &&
        (isSwapped(*high, *low) || isSwapped(*low, *high)))
      return rotated(joined(*high), left->urem(word_bits), pair);
    for (const unsigned first : {0u, 1u}) {
      if (!match(&pair, m_Or(m_Value(), m_Value()))) break;
      Value *const plain = pair.getOperand(first), *const changed = pair.getOperand(1 - first);
      auto* const shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(changed);
      if (!shuffle || !isSwapped(*shuffle, *shuffle->getOperand(0))) continue;
      Value* const shifted = shuffle->getOperand(0);
      if (match(plain, m_Shl(m_Value(whole), m_APInt(left))) &&
          match(shifted, m_LShr(m_Specific(whole), m_APInt(right))) && *left + *right == word_bits)
        return rotated(joined(*whole), left->getZExtValue(), pair);
      if (match(plain, m_LShr(m_Value(whole), m_APInt(right))) &&
          match(shifted, m_Shl(m_Specific(whole), m_APInt(left))) && *left + *right == word_bits)
        return rotated(joined(*whole), word_bits + left->getZExtValue(), pair);
    }
    return nullptr;
  }

  Value* loaded(llvm::Instruction& pair) {
    llvm::IRBuilder<> builder(pair.getNextNode());
    return made_.emplace_back(builder.CreateBitCast(&pair, builder.getIntNTy(2 * word_bits)));
  }

  Part partOf(Value& word) {
    Value* number;
    uint64_t index;
    if (match(&word, m_Trunc(m_LShr(m_Value(number), m_SpecificInt(word_bits)))) &&
        isNumber(*number))
      return {number, true};
    if (match(&word, m_Trunc(m_Value(number))) && isNumber(*number)) return {number, false};
    if (match(&word, m_ExtractElt(m_Value(number), m_ConstantInt(index))) && isPair(*number) &&
        index < 2)
      return {joined(*number), index == 1};
    return {};
  }

  Value* ofWords(const Words& words) {
    const auto [low, high] = words;
    const llvm::APInt *lower, *upper;
    if (match(low, m_APInt(lower)) && match(high, m_APInt(upper)))
      return llvm::ConstantInt::get(low->getContext(), upper->concat(*lower));
    auto* const first = llvm::dyn_cast<llvm::Instruction>(low);
    auto* const second = llvm::dyn_cast<llvm::Instruction>(high);
    if (!first || !second) return nullptr;
    const Part a = partOf(*low), b = partOf(*high);
    if (a.number && a.number == b.number && a.is_high != b.is_high)
      return b.is_high ? a.number : rotated(a.number, word_bits, *second);
    return first->getParent() == second->getParent() ? ofOperations(*first, *second) : nullptr;
  }

  Value* ofOperations(llvm::Instruction& low, llvm::Instruction& high) {
    llvm::Instruction& place = later(low, high);
    if (low.isBitwiseLogicOp() && low.getOpcode() == high.getOpcode())
      for (const unsigned first : {0u, 1u}) {
        Value* const a = joined(Words{low.getOperand(0), high.getOperand(first)});
        Value* const b = a ? joined(Words{low.getOperand(1), high.getOperand(1 - first)}) : nullptr;
        if (b) return combined(low, a, b, place);
      }
    Value *a, *b;
    const llvm::APInt* amount;
    if (match(&low, m_FShl(m_Value(a), m_Value(b), m_APInt(amount))) &&
        match(&high, m_FShl(m_Specific(b), m_Specific(a), m_SpecificInt(*amount))))
      return rotated(joined(Words{a, b}), amount->urem(word_bits), place);
    return nullptr;
  }

  Value* combined(llvm::Instruction& operation, Value* a, Value* b, llvm::Instruction& place) {
    if (!a || !b) return nullptr;
    llvm::IRBuilder<> builder(&place);
    const auto opcode = static_cast<llvm::Instruction::BinaryOps>(operation.getOpcode());
    return made_.emplace_back(builder.CreateBinOp(opcode, a, b));
  }

  Value* rotated(Value* number, uint64_t amount, llvm::Instruction& place) {
    if (!number) return nullptr;
    llvm::IRBuilder<> builder(&place);
    return made_.emplace_back(
        builder.CreateIntrinsic(llvm::Intrinsic::fshl, {number->getType()},
                                {number, number, builder.getInt64(amount % (2 * word_bits))}));
  }

  std::map<Value*, Value*> pairs_;
  std::map<Words, Value*> words_;
  llvm::SmallVector<llvm::WeakTrackingVH> made_;
  unsigned depth_ = 0;
};

// The number that becomes whole here, of a pair or of words.
Value* numberAt(llvm::Instruction& instruction, Joiner& joiner) {
  Value *low, *high;
  if (!isNumber(instruction)) return nullptr;
  if (match(&instruction, m_BitCast(m_Value(low))))
    return isPair(*low) ? joiner.joined(*low) : nullptr;
  if (match(&instruction,
            m_c_Or(m_Shl(m_ZExt(m_Value(high)), m_SpecificInt(word_bits)), m_ZExt(m_Value(low)))) &&
      isWord(*low) && isWord(*high))
    return joiner.joined(Words{low, high});
  return nullptr;
}

}  // namespace

void joinWordPairs(llvm::Function& function) {
  llvm::SmallVector<llvm::WeakTrackingVH> replaced;
  {
    Joiner joiner;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (Value* const number = numberAt(instruction, joiner); number && number != &instruction) {
        instruction.replaceAllUsesWith(number);
        replaced.push_back(&instruction);
      }
  }
  for (const llvm::WeakTrackingVH& instruction : replaced)
    if (instruction) llvm::RecursivelyDeleteTriviallyDeadInstructions(instruction);
}

}  // namespace weft::compiler
