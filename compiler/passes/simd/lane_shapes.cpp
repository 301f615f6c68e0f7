#include "compiler/passes/simd/lane_shapes.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/passes/regions.h"
#include "compiler/passes/simd/lane_arrays.h"
#include "compiler/passes/simd/lane_marks.h"
#include "core/ports/capabilities.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

constexpr LaneShape uniform_shape{LaneShape::uniform, 0};
constexpr LaneShape varying_shape{LaneShape::varying, 0};

LaneShape linearShape(int64_t stride) {
  return stride == 0 ? uniform_shape : LaneShape{LaneShape::linear, stride};
}

bool canBeLinear(const llvm::Type* type) { return type->isIntegerTy() || type->isPointerTy(); }

// Does the operation give the extended result for extended operands?
bool commutesWithExtension(const Value* value, bool is_signed) {
  if (auto* either = llvm::dyn_cast<Instruction>(value); either && isDisjointOr(*either))
    return true;
  auto* operation = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(value);
  return operation && (is_signed ? operation->hasNoSignedWrap() : operation->hasNoUnsignedWrap());
}

}  // namespace

bool isDisjointOr(const Instruction& instruction) {
  auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  return either && either->isDisjoint();
}

bool isOncePerVector(const Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call);
        intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::stacksave)
      return true;
    return call->doesNotAccessMemory();
  }
  return !instruction.mayReadOrWriteMemory();
}

LaneParameters laneParameters(const llvm::Function& function, unsigned hidden) {
  const auto parameter = [&](unsigned number) { return function.getArg(hidden + number); };
  return {parameter(env::local_id),
          parameter(env::lane),
          {parameter(env::global_base), parameter(env::next_base)},
          parameter(env::group_id),
          {parameter(env::local_size), parameter(env::enqueued_local_size)}};
}

LaneShapes::LaneShapes(llvm::Function& function, const LaneParameters& parameters,
                       ControlLevels& levels)
    : parameters_(parameters), levels_(levels) {
  do {
    while (propagate(function)) {
    }
  } while (levels.divide([&](const BasicBlock* block) { return varies(block); }));
}

bool LaneShapes::propagate(llvm::Function& function) {
  bool changed = false;
  for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function))
    for (Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      LaneShape& old = shapes_[&instruction];
      if (old.kind == LaneShape::varying) continue;
      LaneShape shape = transfer(instruction);
      if (shape == old || shape.kind == LaneShape::unknown) continue;
      // Only upwards, so that this ends.
      if (old.kind == LaneShape::linear || shape.kind < old.kind) shape = varying_shape;
      shapes_[&instruction] = shape;
      changed = true;
    }
  return changed;
}

LaneShape LaneShapes::of(const Value* value) const {
  if (value == parameters_.local_id || value == parameters_.lane) return linearShape(1);
  if (!llvm::isa<Instruction>(value)) return uniform_shape;
  return shapes_.lookup(value);
}

bool LaneShapes::varies(const BasicBlock* block) const {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
    return false;
  return of(branch->getCondition()).kind == LaneShape::varying;
}

LaneShape LaneShapes::ofOperands(const Instruction& instruction) const {
  LaneShape result = uniform_shape;
  for (const Value* operand : instruction.operands()) {
    const LaneShape shape = of(operand);
    if (shape.kind == LaneShape::unknown) return shape;
    if (shape.kind != LaneShape::uniform) result = varying_shape;
  }
  return result;
}

LaneShape LaneShapes::meet(LaneShape a, LaneShape b) const {
  if (a.kind == LaneShape::unknown) return b;
  if (b.kind == LaneShape::unknown || a == b) return a;
  return varying_shape;
}

LaneShape LaneShapes::transfer(const Instruction& instruction) const {
  switch (instruction.getOpcode()) {
    case Instruction::Alloca: {
      auto& variable = llvm::cast<llvm::AllocaInst>(instruction);
      const auto& layout = instruction.getDataLayout();
      llvm::Type* type = variable.getAllocatedType();
      if (isInterleaved(variable)) type = type->getArrayElementType()->getArrayElementType();
      return linearShape(static_cast<int64_t>(layout.getTypeAllocSize(type)));
    }
    case Instruction::PHI:
      return ofPhi(llvm::cast<llvm::PHINode>(instruction));
    case Instruction::GetElementPtr:
      return ofElement(llvm::cast<llvm::GetElementPtrInst>(instruction));
    case Instruction::Freeze:
      return of(instruction.getOperand(0));
    case Instruction::Select: {
      const LaneShape condition = of(instruction.getOperand(0));
      if (condition.kind != LaneShape::uniform)
        return condition.kind == LaneShape::unknown ? condition : varying_shape;
      return meet(of(instruction.getOperand(1)), of(instruction.getOperand(2)));
    }
    default:
      break;
  }
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return ofCall(*call);
  if (!isOncePerVector(instruction)) return varying_shape;
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return ofCast(*cast);
  const LaneShape shape = ofOperands(instruction);
  if (shape.kind != LaneShape::varying || !instruction.getType()->isIntegerTy() ||
      !instruction.isBinaryOp())
    return shape;
  return ofArithmetic(instruction);
}

LaneShape LaneShapes::ofExchange(const llvm::CallBase& call, Exchange exchange) const {
  if (exchange == Exchange::lane) return linearShape(1);
  if (exchange == Exchange::runs) return varying_shape;
  if (exchange == Exchange::members || exchange == Exchange::ballot) return uniform_shape;
  const LaneShape number = of(call.getArgOperand(0)), from = of(call.getArgOperand(1));
  for (const LaneShape shape : {number, from})
    if (shape.kind == LaneShape::unknown) return shape;
  const bool is_same = number.kind == LaneShape::uniform || from.kind == LaneShape::uniform;
  return is_same ? uniform_shape : varying_shape;
}

LaneShape LaneShapes::ofCall(const llvm::CallBase& call) const {
  if (const auto exchange = exchangeOf(call)) return ofExchange(call, *exchange);
  if (const auto mark = laneMark(call))
    return mark == LaneMark::neighbour ? linearShape(1) : uniform_shape;
  if (!isOncePerVector(call)) return varying_shape;
  LaneShape result = uniform_shape;
  for (const Value* argument : call.args()) {
    const LaneShape shape = of(argument);
    if (shape.kind == LaneShape::unknown) return shape;
    if (shape.kind != LaneShape::uniform) result = varying_shape;
  }
  return result;
}

LaneShape LaneShapes::ofPhi(const llvm::PHINode& phi) const {
  LaneShape result;
  const Value* only = phi.getIncomingValue(0);
  for (const Value* value : phi.incoming_values()) {
    result = meet(result, of(value));
    if (value != only) only = nullptr;
  }
  if (result.kind == LaneShape::linear && !canBeLinear(phi.getType())) return varying_shape;
  // A value from outside of a loop is the same in all of its turns.
  const Level& level = levels_.levelOf(phi.getParent());
  const bool header = level.loop && level.loop->getHeader() == phi.getParent();
  if (header || !levels_.joins(phi.getParent())) return result;
  auto* inside = llvm::dyn_cast_or_null<Instruction>(only);
  if (only && (!inside || &levels_.levelOf(inside->getParent()) == &level)) return result;
  return result.kind == LaneShape::unknown ? result : varying_shape;
}

LaneShape LaneShapes::ofArithmetic(const Instruction& instruction) const {
  const Value *left = instruction.getOperand(0), *right = instruction.getOperand(1);
  const LaneShape a = of(left), b = of(right);
  if (a.kind == LaneShape::varying || b.kind == LaneShape::varying) {
    return varying_shape;
  }
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(right);
  const auto wrap = [](uint64_t value) { return linearShape(static_cast<int64_t>(value)); };
  const auto x = static_cast<uint64_t>(a.stride), y = static_cast<uint64_t>(b.stride);
  switch (instruction.getOpcode()) {
    case Instruction::Or:
      if (!isDisjointOr(instruction)) return varying_shape;
      [[fallthrough]];
    case Instruction::Add:
      return wrap(x + y);
    case Instruction::Sub:
      return wrap(x - y);
    case Instruction::Mul:
      if (!number || number->getBitWidth() > 64) return varying_shape;
      return wrap(x * static_cast<uint64_t>(number->getSExtValue()));
    case Instruction::Shl:
      if (!number || number->getBitWidth() > 64 || number->getZExtValue() > 62)
        return varying_shape;
      return wrap(x << number->getZExtValue());
    case Instruction::And:  // an id, narrowed and extended again
      return number && (number->equalsInt(0xffffffff) || number->equalsInt(0x7fffffff)) &&
                     isId(left)
                 ? a
                 : varying_shape;
    case Instruction::AShr:
      return ofSignExtension(instruction);
    default:
      return varying_shape;
  }
}

// An id and perhaps a small number, narrowed to 32 bits, extended again and multiplied by a power
// of two, all in shifts.
LaneShape LaneShapes::ofSignExtension(const Instruction& instruction) const {
  const Value *shifted = nullptr, *narrowed = nullptr, *id = nullptr;
  const llvm::APInt* number = nullptr;
  uint64_t back = 0;
  if (!match(&instruction, m_AShr(m_Value(shifted), m_ConstantInt(back))) || back > 32 || back < 24)
    return varying_shape;
  const auto isSmall = [&] {
    return number->abs().getLimitedValue() <= static_cast<uint64_t>(most_narrowed_offset);
  };
  if (match(shifted, m_Add(m_Shl(m_Value(narrowed), m_SpecificInt(32)), m_APInt(number)))) {
    if (number->countr_zero() < 32) return varying_shape;
    const llvm::APInt added = number->ashr(32);
    number = &added;
    if (!isSmall()) return varying_shape;
  } else if (!match(shifted, m_Shl(m_Value(narrowed), m_SpecificInt(32)))) {
    return varying_shape;
  } else if (match(narrowed, m_Add(m_Value(id), m_APInt(number))) && isSmall()) {
    narrowed = id;
  }
  return isId(narrowed) ? linearShape(int64_t{1} << (32 - back)) : varying_shape;
}

// Is it a work-item's id that grows by one from lane to lane in all 64 bits?
bool LaneShapes::isId(const Value* value) const {
  if (!value->getType()->isIntegerTy(64)) return false;
  if (value == parameters_.local_id || value == parameters_.lane) return true;
  const Value* base = nullptr;
  if (!match(value, m_c_Add(m_Value(base), m_Specific(parameters_.local_id)))) return false;
  if (llvm::is_contained(parameters_.global_bases, base)) return narrows_global_id_ = true;
  const bool is_product = llvm::any_of(parameters_.group_sizes, [&](const llvm::Argument* size) {
    return match(base, m_c_Mul(m_Specific(parameters_.group_id), m_Specific(size)));
  });
  narrows_product_ |= is_product;
  return is_product;
}

// A local id and products of it with constants are small: the greatest that it can be.
std::optional<uint64_t> LaneShapes::greatest(const Value* value) const {
  constexpr uint64_t most = INT32_MAX, most_lanes = port::cpu_max_work_group_size;
  if (value == parameters_.local_id) return most_lanes - 1;
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(value);
      call && exchangeOf(*call) == Exchange::lane)
    return most_lanes - 1;
  if (auto* narrow = llvm::dyn_cast<llvm::TruncInst>(value)) {
    if (narrow->getType()->getIntegerBitWidth() < 32) return std::nullopt;
    return greatest(narrow->getOperand(0));
  }
  const Value* of_product = nullptr;
  uint64_t factor = 0;
  if (match(value, m_Shl(m_Value(of_product), m_ConstantInt(factor))))
    factor = factor < 31 ? uint64_t{1} << factor : most;
  else if (!match(value, m_Mul(m_Value(of_product), m_ConstantInt(factor))))
    return std::nullopt;
  const std::optional<uint64_t> id = greatest(of_product);
  if (!id || factor > most / most_lanes || *id * factor > most) return std::nullopt;
  return *id * factor;
}

bool LaneShapes::canExtend(const Value* value, bool is_signed) const {
  const LaneShape shape = of(value);
  if (shape.kind == LaneShape::uniform) return true;
  if (shape.kind != LaneShape::linear) return false;
  if (greatest(value)) return true;
  if (auto* narrow = llvm::dyn_cast<llvm::TruncInst>(value))
    return narrow->getType()->isIntegerTy(32) && isId(narrow->getOperand(0));
  if (!commutesWithExtension(value, is_signed)) return false;
  auto* operation = llvm::cast<llvm::User>(value);
  return canExtend(operation->getOperand(0), is_signed) &&
         canExtend(operation->getOperand(1), is_signed);
}

LaneShape LaneShapes::ofCast(const llvm::CastInst& cast) const {
  const LaneShape shape = of(cast.getOperand(0));
  if (shape.kind != LaneShape::linear) return shape;
  switch (cast.getOpcode()) {
    case Instruction::Trunc: {
      const unsigned bits = cast.getType()->getIntegerBitWidth();
      if (bits < 8) return varying_shape;
      return linearShape(llvm::SignExtend64(static_cast<uint64_t>(shape.stride), bits));
    }
    case Instruction::SExt:
      return canExtend(cast.getOperand(0), true) ? shape : varying_shape;
    case Instruction::ZExt:
      return canExtend(cast.getOperand(0), cast.hasNonNeg()) ? shape : varying_shape;
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      return cast.isNoopCast(cast.getDataLayout()) ? shape : varying_shape;
    case Instruction::AddrSpaceCast:
      return shape;
    default:
      return varying_shape;
  }
}

LaneShape LaneShapes::ofElement(const llvm::GetElementPtrInst& element) const {
  if (!element.getType()->isPointerTy()) return ofOperands(element);
  const auto& layout = element.getDataLayout();
  LaneShape result = of(element.getPointerOperand());
  if (result.kind == LaneShape::unknown || result.kind == LaneShape::varying) return result;
  auto stride = static_cast<uint64_t>(result.stride);
  for (auto it = llvm::gep_type_begin(element), end = llvm::gep_type_end(element); it != end;
       ++it) {
    const LaneShape index = of(it.getOperand());
    if (index.kind == LaneShape::unknown || index.kind == LaneShape::varying) return index;
    if (index.kind == LaneShape::uniform) continue;
    // An index of fewer bits is extended, which need not keep it linear.
    if (!it.getOperand()->getType()->isIntegerTy(64)) return varying_shape;
    const uint64_t size = it.getSequentialElementStride(layout).getFixedValue();
    stride += size * static_cast<uint64_t>(index.stride);
  }
  return linearShape(static_cast<int64_t>(stride));
}

llvm::Value* uniformDivisor(const Instruction& division, const LaneShapes& shapes) {
  Value *undefined = nullptr, *inner = nullptr;
  Value* divisor = division.getOperand(1);
  if (shapes.isUniform(divisor)) return divisor;
  if (!match(divisor, m_Select(m_Value(undefined), m_One(), m_Value(inner))) ||
      !shapes.isUniform(inner))
    return nullptr;
  llvm::ICmpInst::Predicate zero, minus_one, least;
  const bool guards =
      match(undefined,
            m_c_LogicalOr(
                m_ICmp(zero, m_Specific(inner), m_Zero()),
                m_c_LogicalAnd(m_ICmp(minus_one, m_Specific(inner), m_AllOnes()),
                               m_ICmp(least, m_Specific(division.getOperand(0)), m_SignMask()))));
  const auto is_equality = [](auto predicate) { return predicate == llvm::CmpInst::ICMP_EQ; };
  return guards && is_equality(zero) && is_equality(minus_one) && is_equality(least) ? inner
                                                                                     : nullptr;
}

}  // namespace weft::compiler
