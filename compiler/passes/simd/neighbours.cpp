#include "compiler/passes/simd/neighbours.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr size_t longest_arithmetic = 24;  // instructions from the ids to the index

bool isArithmetic(const Instruction& instruction) {
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::FreezeInst, llvm::MinMaxIntrinsic,
                   llvm::SaturatingInst>(instruction) &&
         instruction.getType()->isIntegerTy();
}

// What an index is made of, without what only chooses.
llvm::iterator_range<const llvm::Use*> sourcesOf(const Instruction& instruction) {
  if (llvm::isa<llvm::SelectInst>(instruction))
    return {instruction.op_begin() + 1, instruction.op_end()};
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return call->args();
  return instruction.operands();
}

// By `least` at least, where it is known.
bool isDivision(const Instruction& instruction, const LaneShapes& shapes, uint64_t least = 1) {
  const Value* by = instruction.getOperand(instruction.getNumOperands() - 1);
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(by);
  switch (instruction.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
      return uniformDivisor(instruction, shapes) && !(constant && constant->getValue().ult(least));
    case Instruction::LShr:
    case Instruction::AShr:
      return shapes.isUniform(by) &&
             !(constant && constant->getValue().ult(llvm::Log2_64_Ceil(least)));
    case Instruction::And:  // down to a multiple
      return constant && constant->getValue().isShiftedMask() &&
             constant->getValue().countr_zero() >= std::max(1u, llvm::Log2_64_Ceil(least));
    default:
      return false;
  }
}

// Is one of the ids that the number is made of, where nothing else is chosen, added to it, so that
// it grows by one from lane to lane? What is divided stays the same for some lanes.
bool mayGrow(const Value* number, const LaneShapes& shapes) {
  llvm::SmallPtrSet<const Value*, longest_arithmetic> seen{number};
  llvm::SmallVector<std::pair<const Value*, int64_t>> open{{number, 1}};
  while (!open.empty()) {
    const auto [value, sign] = open.pop_back_val();
    const LaneShape shape = shapes.of(value);
    if (shape.kind == LaneShape::linear && shape.stride * sign == 1) return true;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (shape.kind != LaneShape::varying || !instruction) continue;
    const auto opcode = instruction->getOpcode();
    if (opcode == Instruction::SDiv || opcode == Instruction::UDiv || instruction->isShift() ||
        isDivision(*instruction, shapes))
      continue;
    for (const llvm::Use& source : sourcesOf(*instruction))
      if (source->getType()->isIntegerTy() && seen.insert(source).second)
        open.push_back(
            {source, opcode == Instruction::Sub && source.getOperandNo() == 1 ? -sign : sign});
  }
  return false;
}

bool isRemainder(const Instruction& instruction, const LaneShapes& shapes) {
  switch (instruction.getOpcode()) {
    case Instruction::SRem:
    case Instruction::URem:
      return uniformDivisor(instruction, shapes);
    case Instruction::And:
      return llvm::isa<llvm::Constant>(instruction.getOperand(1));
    default:
      return false;
  }
}

// Is it a number and what is the same for all lanes, or that number in other bits?
bool isUniformSum(const Instruction& instruction, const LaneShapes& shapes) {
  switch (instruction.getOpcode()) {
    case Instruction::Xor:  // -1 - x
      return llvm::PatternMatch::match(instruction.getOperand(1), llvm::PatternMatch::m_AllOnes());
    case Instruction::Add:
    case Instruction::Sub:
      return llvm::any_of(instruction.operands(),
                          [&](const Value* operand) { return shapes.isUniform(operand); });
    default:
      return llvm::isa<llvm::SExtInst, llvm::ZExtInst, llvm::TruncInst, llvm::FreezeInst>(
          instruction);
  }
}

// May all that differs between lanes be lost, because it is divided, as the row of a pixel is of
// its number, by `least` or more, or because something else is chosen?
bool mayStay(const Value* number, const LaneShapes& shapes, uint64_t least = 1,
             unsigned depth = 0) {
  constexpr unsigned deepest = 10;
  if (shapes.isUniform(number)) return true;
  auto* instruction = llvm::dyn_cast<Instruction>(number);
  if (!instruction || depth > deepest) return false;
  if (isDivision(*instruction, shapes, least)) return true;
  const auto stays = [&](const Value* source) { return mayStay(source, shapes, least, depth + 1); };
  if (llvm::isa<llvm::SelectInst, llvm::MinMaxIntrinsic>(instruction))
    return llvm::any_of(sourcesOf(*instruction), stays);
  return isArithmetic(*instruction) && llvm::all_of(sourcesOf(*instruction), stays);
}

// What a number is the sum of, without what is the same for all lanes.
void findTerms(const Value* number, const LaneShapes& shapes,
               llvm::SmallVectorImpl<const Instruction*>& terms) {
  if (shapes.isUniform(number) || terms.size() > longest_arithmetic) return;
  auto* instruction = llvm::dyn_cast<Instruction>(number);
  const bool adds = instruction && (instruction->getOpcode() == Instruction::Add ||
                                    instruction->getOpcode() == Instruction::Sub ||
                                    llvm::isa<llvm::CastInst>(instruction));
  if (!adds) return terms.push_back(instruction);
  for (const Value* operand : instruction->operands()) findTerms(operand, shapes, terms);
}

// An id times a number that only the program knows, and more that differs between lanes: as of a
// diagonal, x * width + d - x, whose lanes would be neighbours where the width is 2.
bool isSkew(const Value* index, const LaneShapes& shapes, size_t most_terms = 1) {
  llvm::SmallVector<const Instruction*> terms;
  findTerms(index, shapes, terms);
  return terms.size() > most_terms && llvm::any_of(terms, [&](const Instruction* term) {
           return term && term->getOpcode() == Instruction::Mul && !mayStay(term, shapes) &&
                  llvm::any_of(term->operands(), [&](const Value* factor) {
                    return !llvm::isa<llvm::Constant>(factor) && shapes.isUniform(factor);
                  });
         });
}

// Is the number an id times one that only the program knows, and what is added to it? Then lanes
// are neighbours only where that is one.
bool isProduct(const Value* number, const LaneShapes& shapes) {
  while (auto* instruction = llvm::dyn_cast<Instruction>(number)) {
    const bool is_sum = instruction->getOpcode() == Instruction::Add ||
                        instruction->getOpcode() == Instruction::Sub;
    const bool is_scaled = instruction->getOpcode() == Instruction::Mul ||
                           instruction->getOpcode() == Instruction::Shl;
    if (!is_sum && !is_scaled && !llvm::isa<llvm::CastInst>(instruction)) return false;
    const Value* next = nullptr;
    for (const Value* operand : instruction->operands()) {
      if (shapes.isUniform(operand)) continue;
      if (next) return false;
      next = operand;
    }
    if (!next) return false;
    if (is_scaled) return true;
    number = next;
  }
  return false;
}

// The varying index of a chain of address computations; null unless it is the only one, and counts
// in steps of `bytes`, or of up to `widest` times as many: `stride` times.
Value* varyingIndex(Value* pointer, uint64_t bytes, uint64_t widest, const LaneShapes& shapes,
                    uint64_t& stride) {
  Value* found = nullptr;
  while (shapes.isVarying(pointer)) {
    auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
    if (!element || !element->getType()->isPointerTy()) return nullptr;
    for (auto it = llvm::gep_type_begin(element), end = llvm::gep_type_end(element); it != end;
         ++it) {
      if (shapes.isUniform(it.getOperand())) continue;
      if (found || it.isStruct()) return nullptr;
      const uint64_t step = it.getSequentialElementStride(element->getDataLayout()).getFixedValue();
      if (step == 0 || step % bytes != 0 || step / bytes > widest) return nullptr;
      stride = step / bytes;
      found = it.getOperand();
    }
    pointer = element->getPointerOperand();
  }
  return shapes.isUniform(pointer) ? found : nullptr;
}

// Goes from a number to what it is a small multiple of, but for what is the same for all lanes.
uint64_t takeFactor(Value*& number, const LaneShapes& shapes) {
  uint64_t factor = 1;
  while (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(number)) {
    Value *left = binary->getOperand(0), *right = binary->getOperand(1);
    switch (binary->getOpcode()) {
      case Instruction::Or:
        if (!isDisjointOr(*binary)) return factor;
        [[fallthrough]];
      case Instruction::Add:
        if (shapes.isUniform(left)) std::swap(left, right);
        [[fallthrough]];
      case Instruction::Sub:
        if (!shapes.isUniform(right)) return factor;
        break;
      case Instruction::Mul:
      case Instruction::Shl: {
        constexpr uint64_t largest = 16;
        auto* by = llvm::dyn_cast<llvm::ConstantInt>(right);
        if (!by || by->getValue().ugt(largest)) return factor;
        const uint64_t number_of = by->getZExtValue();
        factor *= binary->getOpcode() == Instruction::Shl ? uint64_t{1} << number_of : number_of;
        break;
      }
      default:
        return factor;
    }
    number = left;
  }
  return factor;
}

void goBehindExtension(NeighbourIndex& result, Value* index) {
  result.extended = index;
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(index);
      cast && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast)) {
    result.is_signed = llvm::isa<llvm::SExtInst>(cast);
    result.is_extended = true;
    index = cast->getOperand(0);
  } else if (!index->getType()->isIntegerTy(64)) {
    result.is_signed = result.is_extended = true;  // as addresses do with their indices
  }
  result.index = index;
}

bool isPromising(Value* index, const LaneShapes& shapes) {
  return index && index->getType()->isIntegerTy() && isMadeOfIds(index, shapes) &&
         !isSkew(index, shapes);
}

}  // namespace

bool isMadeOfIds(const Value* index, const LaneShapes& shapes) {
  llvm::SmallPtrSet<const Value*, longest_arithmetic> seen{index};
  llvm::SmallVector<const Value*> open{index};
  bool any = false;
  while (!open.empty()) {
    const Value* value = open.pop_back_val();
    const LaneShape shape = shapes.of(value);
    if (shape.kind == LaneShape::uniform) continue;
    if (shape.kind == LaneShape::linear) {
      any = true;
      continue;
    }
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || seen.size() > longest_arithmetic) return false;
    if (!isArithmetic(*instruction) && !llvm::isa<llvm::SelectInst>(instruction)) return false;
    for (const llvm::Use& source : sourcesOf(*instruction))
      if (source->getType()->isIntegerTy() && !shapes.isUniform(source) &&
          seen.insert(source).second)
        open.push_back(source);
  }
  return any;
}

NeighbourIndex neighbourIndex(Value* pointer, uint64_t bytes, const LaneShapes& shapes) {
  NeighbourIndex result;
  Value* index = varyingIndex(pointer, bytes, 1, shapes, result.stride);
  if (!isPromising(index, shapes)) return {};
  goBehindExtension(result, index);
  index = result.index;
  const LaneShape shape = shapes.of(index);
  if (shape.kind == LaneShape::linear && shape.stride != 1) return {};
  result.is_linear = shape.kind == LaneShape::linear;
  if (index->getType()->getIntegerBitWidth() < 16) return {};
  // Neighbours are odd and even in turns.
  auto* instruction = llvm::dyn_cast<Instruction>(index);
  if (!instruction ||
      !llvm::computeKnownBits(index, instruction->getDataLayout()).extractBits(1, 0).isUnknown())
    return {};
  return result;
}

NeighbourIndex reversedIndex(Value* pointer, uint64_t bytes, const LaneShapes& shapes) {
  NeighbourIndex result;
  Value* const index = varyingIndex(pointer, bytes, 1, shapes, result.stride);
  if (!isPromising(index, shapes)) return {};
  goBehindExtension(result, index);
  const LaneShape shape = shapes.of(result.index);
  result.is_linear = shape.kind == LaneShape::linear;
  result.is_reversed = true;
  const bool counts_down = result.is_linear && shape.stride == -1;
  return counts_down && result.index->getType()->isIntegerTy(32) ? result : NeighbourIndex();
}

NeighbourIndex stridedIndex(Value* pointer, uint64_t bytes, uint64_t count, uint64_t widest,
                            const LaneShapes& shapes) {
  NeighbourIndex result;
  Value* index = varyingIndex(pointer, bytes, widest, shapes, result.stride);
  if (!isPromising(index, shapes)) return {};
  if (index->getType()->isIntegerTy(64)) result.stride *= takeFactor(index, shapes);
  goBehindExtension(result, index);
  Value* core = result.index;
  result.step = takeFactor(core, shapes);
  result.stride *= result.step;
  const LaneShape shape = shapes.of(result.index);
  result.is_linear = shape.kind == LaneShape::linear;
  if (result.stride < std::max<uint64_t>(count, 2) || result.stride > widest ||
      shape.kind == LaneShape::uniform ||
      (result.is_linear && shape.stride != static_cast<int64_t>(result.step)) ||
      result.index->getType()->getIntegerBitWidth() < 32)
    return {};
  return result;
}

NeighbourIndex sameIndex(Value* pointer, uint64_t bytes, const LaneShapes& shapes) {
  constexpr uint64_t least_divisor = 16;  // or some of a vector's lanes have something else
  NeighbourIndex result;
  Value* index = varyingIndex(pointer, bytes, 1, shapes, result.stride);
  if (!isPromising(index, shapes) || !mayStay(index, shapes, least_divisor) ||
      mayGrow(index, shapes))
    return {};
  goBehindExtension(result, index);
  result.step = result.stride = 0;
  return result;
}

NeighbourIndex recordIndex(Value* pointer, uint64_t bytes, uint64_t count,
                           const LaneShapes& shapes) {
  const NeighbourIndex found = stridedIndex(pointer, bytes, count, count, shapes);
  return found.index && found.stride == count ? found : NeighbourIndex();
}

bool isOfRows(Value* pointer, uint64_t bytes, const LaneShapes& shapes) {
  const NeighbourIndex found = neighbourIndex(pointer, bytes, shapes);
  return found.index && !found.is_linear && isProduct(found.index, shapes);
}

bool mayBeNeighbours(const Value* number, const LaneShapes& shapes) {
  return shapes.isVarying(number) && isMadeOfIds(number, shapes) && !isSkew(number, shapes, 0) &&
         mayGrow(number, shapes);
}

bool mayBeSame(const Value* number, const LaneShapes& shapes) {
  return shapes.isVarying(number) && isMadeOfIds(number, shapes) && mayStay(number, shapes);
}

const Value* idBehind(const Value* number, const LaneShapes& shapes) {
  const LaneShape shape = shapes.of(number);
  auto* instruction = llvm::dyn_cast<Instruction>(number);
  if (shape.kind == LaneShape::linear && std::abs(shape.stride) == 1) {
    // Others are sums with it, too.
    const Value* inner = nullptr;
    if (instruction && isUniformSum(*instruction, shapes))
      for (const Value* operand : instruction->operands())
        if (!shapes.isUniform(operand)) inner = idBehind(operand, shapes);
    return inner ? inner : number;
  }
  if (shape.kind != LaneShape::varying || !instruction) return nullptr;
  if (isDivision(*instruction, shapes) || isRemainder(*instruction, shapes))
    return idBehind(instruction->getOperand(0), shapes) ? number : nullptr;
  if (!isUniformSum(*instruction, shapes) &&
      !llvm::isa<llvm::SelectInst, llvm::MinMaxIntrinsic>(instruction))
    return nullptr;
  const Value* found = nullptr;
  for (const Value* source : sourcesOf(*instruction)) {
    if (shapes.isUniform(source)) continue;
    const Value* id = idBehind(source, shapes);
    if (!id || (found && id != found)) return nullptr;
    found = id;
  }
  return found;
}

std::optional<ClampedId> clampedId(const Value* number) {
  using namespace llvm::PatternMatch;
  constexpr unsigned widest = 40;  // bits: sums of some do not wrap
  const Value *inner = nullptr, *other = nullptr;
  const llvm::APInt* constant = nullptr;
  if (match(number, m_SExt(m_Value(inner))) || match(number, m_NNegZExt(m_Value(inner))))
    return clampedId(inner);
  if (match(number, m_Add(m_Value(inner), m_APInt(constant)))) {
    auto result = constant->isSignedIntN(widest) ? clampedId(inner) : std::nullopt;
    if (result) {
      result->limit += constant->getSExtValue();
      result->offset += constant->getSExtValue();
    }
    return result;
  }
  const bool is_clamped = match(number, m_SMax(m_Value(inner), m_APInt(constant))) ||
                          match(number, m_SMin(m_Value(inner), m_APInt(constant)));
  if (!is_clamped || !constant->isSignedIntN(widest)) return std::nullopt;
  ClampedId result{constant->getSExtValue(), 0};
  const llvm::APInt* offset = nullptr;
  if (match(inner, m_Add(m_Value(other), m_APInt(offset)))) {
    if (!offset->isSignedIntN(widest)) return std::nullopt;
    result.offset = offset->getSExtValue();
  }
  return result;
}

Value* withoutUniformTerms(Value* number, const LaneShapes& shapes,
                           llvm::SmallVectorImpl<UniformTerm>& uniform) {
  while (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(number)) {
    const bool subtracts = sum->getOpcode() == Instruction::Sub;
    if (!subtracts && sum->getOpcode() != Instruction::Add && !isDisjointOr(*sum)) break;
    Value *left = sum->getOperand(0), *right = sum->getOperand(1);
    if (!subtracts && shapes.isUniform(left)) std::swap(left, right);
    if (!shapes.isUniform(right)) break;
    uniform.push_back({right, subtracts});
    number = left;
  }
  return number;
}

}  // namespace weft::compiler
