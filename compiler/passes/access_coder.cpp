#include "compiler/passes/access_coder.h"

#include <array>

#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

using llvm::SCEV;
using llvm::Value;

constexpr unsigned max_depth = 24;
// More iterations than any loop has.
constexpr int64_t endless = int64_t{1} << 59;

bool isLeaf(AccessCode code) { return code <= AccessCode::work_dim; }

struct ComparisonRow {
  llvm::CmpInst::Predicate predicate;
  AccessComparison comparison;
  bool swapped;
};
constexpr std::array comparison_rows = {
    ComparisonRow{llvm::CmpInst::ICMP_EQ, AccessComparison::equal, false},
    ComparisonRow{llvm::CmpInst::ICMP_NE, AccessComparison::not_equal, false},
    ComparisonRow{llvm::CmpInst::ICMP_ULT, AccessComparison::less, false},
    ComparisonRow{llvm::CmpInst::ICMP_ULE, AccessComparison::less_equal, false},
    ComparisonRow{llvm::CmpInst::ICMP_UGT, AccessComparison::less, true},
    ComparisonRow{llvm::CmpInst::ICMP_UGE, AccessComparison::less_equal, true},
    ComparisonRow{llvm::CmpInst::ICMP_SLT, AccessComparison::less_signed, false},
    ComparisonRow{llvm::CmpInst::ICMP_SLE, AccessComparison::less_equal_signed, false},
    ComparisonRow{llvm::CmpInst::ICMP_SGT, AccessComparison::less_signed, true},
    ComparisonRow{llvm::CmpInst::ICMP_SGE, AccessComparison::less_equal_signed, true},
};

}  // namespace

// --- steps ---

uint16_t AccessCoder::emit(const AccessStep& step) {
  if (steps_.size() >= max_access_steps) {
    overflown_ = true;
    return 0;
  }
  steps_.push_back(step);
  return static_cast<uint16_t>(steps_.size() - 1);
}

void AccessCoder::emitStatement(const AccessStep& step) {
  emit(step);
  known_.clear();
}

uint16_t AccessCoder::constant(int64_t value) {
  AccessStep step;
  step.value = value;
  return emit(step);
}

uint8_t AccessCoder::variableOf(const void* what) {
  const unsigned next = first_free_access_variable + variables_.size();
  const auto [entry, fresh] = variables_.try_emplace(what, static_cast<uint8_t>(next));
  if (fresh && next >= access_variables) {
    overflown_ = true;
    entry->second = first_free_access_variable;
  }
  return entry->second;
}

uint16_t AccessCoder::binary(AccessCode code, unsigned width, uint16_t a, uint16_t b,
                             const void* variable) {
  AccessStep step;
  step.code = code;
  step.width = static_cast<uint8_t>(width);
  if (variable) step.variable = variableOf(variable);
  step.a = a;
  step.b = b;
  return emit(step);
}

// The value of a variable that a statement has made: its own range is the narrower one.
uint16_t AccessCoder::counter(uint8_t variable) {
  AccessStep step;
  step.code = AccessCode::between;
  step.variable = variable;
  step.a = constant(0);
  step.b = constant(endless * 2);
  return emit(step);
}

// --- statements ---

void AccessCoder::addLoop(const llvm::Loop& loop, const SCEV* count, bool plus_one, bool exactly) {
  const bool computed = !llvm::isa<llvm::SCEVCouldNotCompute>(count) && widthOf(count) <= max_width;
  AccessStep step;
  step.code = AccessCode::iterations;
  step.width = static_cast<uint8_t>(computed ? widthOf(count) : max_width);
  step.a = computed ? translate(count) : constant(endless);
  step.value = plus_one;
  addIterations(loop, step,
                computed && exactly ? AccessIterations::all : AccessIterations::perhaps);
  if (computed) counted_.insert(&loop);
}

void AccessCoder::addLoop(const llvm::Loop& loop, const LoopCounter& counter, bool plus_one,
                          bool guarded) {
  AccessStep turns;
  turns.code = counter.is_signed ? AccessCode::turns_signed : AccessCode::turns;
  turns.width = static_cast<uint8_t>(widthOf(counter.last));
  turns.a = translate(counter.first);
  turns.b = translate(counter.stride);
  turns.value = translate(counter.last);
  turns.variable = variableOf(partOf(&loop, 1));
  AccessStep step;
  step.code = AccessCode::iterations;
  step.a = emit(turns);
  step.value = plus_one;
  addIterations(loop, step, guarded ? AccessIterations::guarded : AccessIterations::perhaps);
  counted_.insert(&loop);
}

void AccessCoder::addIterations(const llvm::Loop& loop, AccessStep step, AccessIterations happens) {
  step.b = static_cast<uint16_t>(happens);
  step.variable = variableOf(&loop);
  emitStatement(step);
}

uint16_t AccessCoder::addRun(const SCEV* offset, const SCEV* length) {
  AccessStep step;
  step.code = AccessCode::iterations;
  step.width = static_cast<uint8_t>(widthOf(length));
  step.a = translate(length);
  step.b = 1;
  step.variable = variableOf(this);
  emitStatement(step);
  const uint16_t begin = translate(offset);
  return binary(AccessCode::add, max_width, begin, counter(step.variable), nullptr);
}

bool AccessCoder::addGuard(Value* condition, bool outcome, const llvm::Loop* scope, bool implied) {
  using namespace llvm::PatternMatch;
  Value *a = nullptr, *b = nullptr;
  if (auto* value = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    // What can never be comes out as 1 <= 0.
    const bool ever = value->isOne() == outcome;
    AccessStep step;
    step.code = AccessCode::guard;
    step.a = constant(ever ? 0 : 1);
    step.b = constant(0);
    step.value = static_cast<int64_t>(AccessComparison::less_equal_signed);
    emitStatement(step);
    return true;
  }
  if (match(condition, m_Not(m_Value(a)))) return addGuard(a, !outcome, scope, implied);
  if (outcome ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
              : match(condition, m_LogicalOr(m_Value(a), m_Value(b)))) {
    const bool first = addGuard(a, outcome, scope, implied);
    return addGuard(b, outcome, scope, implied) && first;
  }
  const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!comparison || !comparison->getOperand(0)->getType()->isIntegerTy() ||
      comparison->getOperand(0)->getType()->getIntegerBitWidth() > max_width)
    return false;
  addComparison(*comparison, outcome, scope, implied);
  return true;
}

void AccessCoder::addComparison(const llvm::ICmpInst& comparison, bool outcome,
                                const llvm::Loop* scope, bool implied) {
  const auto predicate = outcome ? comparison.getPredicate() : comparison.getInversePredicate();
  const auto* row = llvm::find_if(comparison_rows,
                                  [&](const ComparisonRow& r) { return r.predicate == predicate; });
  const SCEV* a = evolution_.getSCEVAtScope(comparison.getOperand(0), scope);
  const SCEV* b = evolution_.getSCEVAtScope(comparison.getOperand(1), scope);
  if (row->swapped) std::swap(a, b);
  AccessStep step;
  step.code = AccessCode::guard;
  if (implied) step.variable = first_free_access_variable;
  step.width = static_cast<uint8_t>(widthOf(a));
  step.a = translate(a);
  step.b = translate(b);
  step.value = static_cast<int64_t>(row->comparison);
  emitStatement(step);
}

// --- values ---

// All that is known is the range.
uint16_t AccessCoder::anyValue(const SCEV* value) {
  AccessStep step;
  step.code = AccessCode::between;
  int64_t low = INT64_MIN, high = INT64_MAX;
  if (widthOf(value) <= max_width) {
    const llvm::ConstantRange as_signed = evolution_.getSignedRange(value);
    const llvm::ConstantRange as_unsigned = evolution_.getUnsignedRange(value);
    const llvm::APInt least = as_unsigned.getUnsignedMin(), most = as_unsigned.getUnsignedMax();
    low = as_signed.getSignedMin().getSExtValue();
    high = as_signed.getSignedMax().getSExtValue();
    if (low < 0 && most.getActiveBits() < max_width && !as_unsigned.isFullSet()) {
      low = static_cast<int64_t>(least.getZExtValue());
      high = static_cast<int64_t>(most.getZExtValue());
    }
  }
  step.variable = variableOf(value);
  step.a = constant(low);
  step.b = constant(high);
  return emit(step);
}

uint16_t AccessCoder::translate(const SCEV* value) {
  if (const auto leaf = leaves_.find(value); leaf != leaves_.end()) return leaf->second;
  if (const auto known = known_.find(value); known != known_.end()) return known->second;
  if (overflown_) return 0;  // there are steps, then
  ++depth_;
  const uint16_t step =
      depth_ > max_depth || widthOf(value) > max_width ? anyValue(value) : translateNew(value);
  --depth_;
  (isLeaf(steps_[step].code) ? leaves_ : known_)[value] = step;
  return step;
}

uint16_t AccessCoder::translateNew(const SCEV* value) {
  switch (value->getSCEVType()) {
    case llvm::scConstant:
      return constant(llvm::cast<llvm::SCEVConstant>(value)->getAPInt().getSExtValue());
    case llvm::scTruncate: {
      // The same modulo the smaller power of two.
      const SCEV* operand = llvm::cast<llvm::SCEVTruncateExpr>(value)->getOperand();
      if (widthOf(operand) > max_width) return anyValue(value);
      const uint16_t step = translate(operand);
      // Of what is anything, the smaller type is a bound.
      return steps_[step].code == AccessCode::between ? low(step, value) : step;
    }
    case llvm::scZeroExtend:
      return extend(AccessCode::zero_extend, value);
    case llvm::scSignExtend:
      return extend(AccessCode::sign_extend, value);
    case llvm::scAddExpr:
      return sum(llvm::cast<llvm::SCEVAddExpr>(value));
    case llvm::scMulExpr:
      return fold(AccessCode::multiply, llvm::cast<llvm::SCEVNAryExpr>(value));
    case llvm::scUMinExpr:
    case llvm::scSequentialUMinExpr:
      return fold(AccessCode::minimum, llvm::cast<llvm::SCEVNAryExpr>(value));
    case llvm::scUMaxExpr:
      return fold(AccessCode::maximum, llvm::cast<llvm::SCEVNAryExpr>(value));
    case llvm::scSMinExpr:
      return fold(AccessCode::minimum_signed, llvm::cast<llvm::SCEVNAryExpr>(value));
    case llvm::scSMaxExpr:
      return fold(AccessCode::maximum_signed, llvm::cast<llvm::SCEVNAryExpr>(value));
    case llvm::scUDivExpr: {
      const auto* quotient = llvm::cast<llvm::SCEVUDivExpr>(value);
      const uint16_t dividend = translate(quotient->getLHS());
      return binary(AccessCode::divide, widthOf(value), dividend, translate(quotient->getRHS()),
                    value);
    }
    case llvm::scAddRecExpr:
      return recurrence(llvm::cast<llvm::SCEVAddRecExpr>(value));
    case llvm::scUnknown: {
      const Value* origin = llvm::cast<llvm::SCEVUnknown>(value)->getValue();
      if (const auto* argument = llvm::dyn_cast<llvm::Argument>(origin))
        return parameter(*argument, value);
      const auto* instruction_here = llvm::dyn_cast<llvm::Instruction>(origin);
      return instruction_here ? instruction(*instruction_here, value) : anyValue(value);
    }
    case llvm::scVScale:
    case llvm::scPtrToInt:
    case llvm::scCouldNotCompute:
      break;
  }
  return anyValue(value);
}

uint16_t AccessCoder::extend(AccessCode code, const SCEV* value) {
  const SCEV* operand = llvm::cast<llvm::SCEVCastExpr>(value)->getOperand();
  AccessStep step;
  step.code = code;
  step.width = static_cast<uint8_t>(widthOf(operand));
  step.a = translate(operand);
  step.variable = variableOf(value);
  return emit(step);
}

uint16_t AccessCoder::low(uint16_t step, const SCEV* value) {
  AccessStep part;
  part.code = AccessCode::sign_extend;
  part.width = static_cast<uint8_t>(widthOf(value));
  part.a = step;
  part.variable = variableOf(value);
  return emit(part);
}

// A remainder comes as a sum with a quotient in it; taken apart it would lose its bounds.
uint16_t AccessCoder::sum(const llvm::SCEVAddExpr* value) {
  for (const SCEV* operand : value->operands()) {
    const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(operand);
    if (!product) continue;
    for (const SCEV* factor : product->operands()) {
      const auto* quotient = llvm::dyn_cast<llvm::SCEVUDivExpr>(factor);
      if (!quotient) continue;
      const SCEV* remainder = evolution_.getURemExpr(quotient->getLHS(), quotient->getRHS());
      const SCEV* rest = evolution_.getMinusSCEV(value, remainder);
      const auto* rest_sum = llvm::dyn_cast<llvm::SCEVAddExpr>(rest);
      if (rest_sum && rest_sum->getNumOperands() >= value->getNumOperands()) continue;
      const uint16_t dividend = translate(quotient->getLHS());
      const uint16_t step = binary(AccessCode::remainder, widthOf(value), dividend,
                                   translate(quotient->getRHS()), partOf(quotient, 1));
      if (rest->isZero()) return step;
      return binary(AccessCode::add, widthOf(value), translate(rest), step, nullptr);
    }
  }
  return fold(AccessCode::add, value);
}

uint16_t AccessCoder::fold(AccessCode code, const llvm::SCEVNAryExpr* value) {
  llvm::SmallVector<const SCEV*> operands(value->operands());
  uint16_t result = 0;
  const bool started = code == AccessCode::add && globalId(operands, result);
  if (!started) result = translate(operands.pop_back_val());
  for (unsigned i = 0; i < operands.size(); ++i) {
    const uint16_t next = translate(operands[i]);
    const void* variable = code == AccessCode::add ? nullptr : partOf(value, i + 1);
    result = binary(code, widthOf(value), result, next, variable);
  }
  return result;
}

// The base of the group and the id in it, as the queries' lowering adds them, are one variable,
// also where groups differ in size.
bool AccessCoder::globalId(llvm::SmallVectorImpl<const SCEV*>& operands, uint16_t& step) {
  const auto parameterOf = [&](const SCEV* operand) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(operand);
    const auto* argument = unknown ? llvm::dyn_cast<llvm::Argument>(unknown->getValue()) : nullptr;
    return argument && argument->getArgNo() >= body_.firstHidden()
               ? argument->getArgNo() - body_.firstHidden()
               : unsigned{env::count};
  };
  for (unsigned d = 0; d < 3; ++d) {
    const auto* base = llvm::find_if(
        operands, [&](const SCEV* o) { return parameterOf(o) == env::global_base + d; });
    const auto* local =
        llvm::find_if(operands, [&](const SCEV* o) { return parameterOf(o) == env::local_id + d; });
    if (base == operands.end() || local == operands.end()) continue;
    const SCEV *base_value = *base, *local_value = *local;
    llvm::erase(operands, base_value);
    llvm::erase(operands, local_value);
    AccessStep id;
    id.code = AccessCode::global_id;
    id.a = static_cast<uint16_t>(d);
    step = emit(id);
    return true;
  }
  return false;
}

uint16_t AccessCoder::recurrence(const llvm::SCEVAddRecExpr* value) {
  const llvm::Loop* loop = value->getLoop();
  if (!value->isAffine()) return anyValue(value);
  // A loop that is over when the access happens.
  if (!counted_.contains(loop)) {
    const SCEV* count = evolution_.getSymbolicMaxBackedgeTakenCount(loop);
    if (!llvm::isa<llvm::SCEVCouldNotCompute>(count))
      addLoop(*loop, count, true, false);
    else if (const auto counter = counterOf(*loop, evolution_))
      addLoop(*loop, *counter, true, false);
  }
  // Without a bound on the iterations there are only the guards' bounds on the value.
  if (!counted_.contains(loop)) return anyValue(value);
  const uint16_t start = translate(value->getStart());
  const uint16_t stride = translate(value->getStepRecurrence(evolution_));
  const uint16_t distance = binary(AccessCode::multiply, widthOf(value), stride,
                                   counter(variableOf(loop)), partOf(value, 1));
  return binary(AccessCode::add, widthOf(value), start, distance, nullptr);
}

}  // namespace weft::compiler
