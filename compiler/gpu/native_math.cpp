#include "compiler/gpu/native_math.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "compiler/gpu/normal_numbers.h"

namespace weft::compiler {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;
using Builder = llvm::IRBuilder<>;

constexpr double log2_e = 1.4426950408889634, log2_10 = 3.3219280948873623;
constexpr double ln_2 = 0.6931471805599453, log10_2 = 0.3010299956639812;
constexpr float division_ulp = 2.5f, root_ulp = 3.0f;
constexpr llvm::StringLiteral nvidia_prefix = "__weft_nvidia_", machine_prefix = "__weft_machine_";

// --- NVIDIA's instructions ---

template <class Make>
Value* eachLane(Builder& builder, llvm::ArrayRef<Value*> values, Make&& make) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(values[0]->getType());
  if (!vector) return make(values);
  Value* result = llvm::PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    llvm::SmallVector<Value*> lane;
    for (Value* value : values) lane.push_back(builder.CreateExtractElement(value, i));
    result = builder.CreateInsertElement(result, make(lane), i);
  }
  return result;
}

Value* machine(Builder& builder, ID id, llvm::ArrayRef<Value*> values) {
  return eachLane(builder, values, [&](llvm::ArrayRef<Value*> lane) -> Value* {
    return builder.CreateIntrinsic(id, {}, lane);
  });
}

// What the library has of NVIDIA's own (cl/own_nvidia.cl).
Value* ofLibrary(Builder& builder, llvm::StringRef function, llvm::ArrayRef<Value*> values) {
  return eachLane(builder, values, [&](llvm::ArrayRef<Value*> lane) -> Value* {
    llvm::Type* type = lane[0]->getType();
    const std::string name =
        (nvidia_prefix + function + (type->isDoubleTy() ? "_double" : "_float")).str();
    llvm::Module& module = *builder.GetInsertBlock()->getModule();
    const llvm::SmallVector<llvm::Type*> types(lane.size(), type);
    return builder.CreateCall(
        module.getOrInsertFunction(name, llvm::FunctionType::get(type, types, false)), lane);
  });
}

// Instructions that LLVM has no name for.
Value* machine(Builder& builder, llvm::StringRef text, llvm::ArrayRef<Value*> values) {
  return eachLane(builder, values, [&](llvm::ArrayRef<Value*> lane) -> Value* {
    llvm::Type* type = builder.getFloatTy();
    const llvm::SmallVector<llvm::Type*> types(lane.size(), type);
    auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(type, types, false), text,
                                      lane.size() == 1 ? "=f,f" : "=f,f,f", false);
    llvm::CallInst* call = builder.CreateCall(code, lane);
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    call->addFnAttr(llvm::Attribute::WillReturn);
    return call;
  });
}

// b^x for log2(b) = `log2_base`, wherever it lies: 2^n * 2^r for n, the largest integer below
// x * log2(b) but at least -126 and at most 126, and what is left, which the instruction for powers
// of two takes. Where x is beyond the result's range r is, too, and the product 0 or infinite.
Value* powerOf(Builder& builder, double log2_base, Value* x) {
  constexpr double span = 252, shifter = 0x1.8p23, bias = 127;
  const auto number = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  const auto fused = [&](ID id, Value* a, Value* b, Value* c) {
    return builder.CreateIntrinsic(id, {}, {a, b, c});
  };
  const auto high = static_cast<double>(static_cast<float>(log2_base));
  Value* place = fused(llvm::Intrinsic::nvvm_fma_rn_f, x, number(log2_base / span), number(0.5));
  place = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_saturate_f, {}, {place});
  // The exponent of 2^n, in the lowest bits.
  Value* shifted = fused(llvm::Intrinsic::nvvm_fma_rm_f, place, number(span), number(shifter + 1));
  Value* exponent = builder.CreateShl(builder.CreateBitCast(shifted, builder.getInt32Ty()), 23);
  Value* rest = fused(llvm::Intrinsic::nvvm_fma_rn_f, x, number(high),
                      builder.CreateFSub(number(shifter + bias), shifted));
  rest = fused(llvm::Intrinsic::nvvm_fma_rn_f, x, number(log2_base - high), rest);
  return builder.CreateFMul(
      builder.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz_f, {}, {rest}),
      builder.CreateBitCast(exponent, x->getType()));
}
template <const double& log2_base>
Value* preciseExponential(Builder& builder, llvm::ArrayRef<Value*> x) {
  return eachLane(builder, x, [&](llvm::ArrayRef<Value*> lane) {
    return powerOf(builder, log2_base, lane[0]);
  });
}
Value* powerOfTwo(Builder& builder, llvm::ArrayRef<Value*> x) {
  return machine(builder, llvm::Intrinsic::nvvm_ex2_approx_f, x);
}

// --- functions of OpenCL C as LLVM's ---

Value* scaled(Builder& builder, Value* value, double by) {
  return builder.CreateFMul(value, llvm::ConstantFP::get(value->getType(), by));
}

template <ID id>
Value* unary(Builder& builder, llvm::ArrayRef<Value*> x) {
  return builder.CreateUnaryIntrinsic(id, x[0]);
}
template <const double& factor>
Value* exponential(Builder& builder, llvm::ArrayRef<Value*> x) {
  return builder.CreateUnaryIntrinsic(llvm::Intrinsic::exp2, scaled(builder, x[0], factor));
}
template <const double& factor>
Value* logarithm(Builder& builder, llvm::ArrayRef<Value*> x) {
  return scaled(builder, builder.CreateUnaryIntrinsic(llvm::Intrinsic::log2, x[0]), factor);
}
Value* tangent(Builder& builder, llvm::ArrayRef<Value*> x) {
  return builder.CreateFDiv(builder.CreateUnaryIntrinsic(llvm::Intrinsic::sin, x[0]),
                            builder.CreateUnaryIntrinsic(llvm::Intrinsic::cos, x[0]));
}
Value* power(Builder& builder, llvm::ArrayRef<Value*> x) {
  Value* log = builder.CreateUnaryIntrinsic(llvm::Intrinsic::log2, x[0]);
  return builder.CreateUnaryIntrinsic(llvm::Intrinsic::exp2, builder.CreateFMul(x[1], log));
}
Value* quotient(Builder& builder, llvm::ArrayRef<Value*> x) {
  return builder.CreateFDiv(x[0], x[1]);
}
Value* reciprocal(Builder& builder, llvm::ArrayRef<Value*> x) {
  return builder.CreateFDiv(llvm::ConstantFP::get(x[0]->getType(), 1), x[0]);
}
Value* rootReciprocal(Builder& builder, llvm::ArrayRef<Value*> x) {
  Value* root = builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
  llvm::cast<llvm::Instruction>(root)->setMetadata(
      llvm::LLVMContext::MD_fpmath, llvm::MDBuilder(builder.getContext()).createFPMath(root_ulp));
  return reciprocal(builder, root);
}

enum class When {
  always,   // the instructions keep the function's bounds
  nvidia,   // NVIDIA's do
  native,   // of functions native_, "implementation-defined", and half_, of 8192 ULP
  relaxed,  // functions native_, and others under -cl-fast-relaxed-math
};

struct Rule {
  llvm::StringLiteral name;
  unsigned arguments;
  When when;
  Value* (*make)(Builder&, llvm::ArrayRef<Value*>);
  bool of_double = false;
};
constexpr Value* (*library)(Builder&, llvm::ArrayRef<Value*>) = nullptr;  // by that name

constexpr Rule rules[] = {
    {"rsqrt", 1, When::always, rootReciprocal},
    {"half_rsqrt", 1, When::always, rootReciprocal},
    {"native_rsqrt", 1, When::native, rootReciprocal},
    {"half_sqrt", 1, When::always, unary<llvm::Intrinsic::sqrt>},
    {"native_sqrt", 1, When::native, unary<llvm::Intrinsic::sqrt>},
    {"half_recip", 1, When::always, reciprocal},
    {"native_recip", 1, When::native, reciprocal},
    {"half_divide", 2, When::always, quotient},
    {"half_exp", 1, When::native, exponential<log2_e>},
    {"half_exp2", 1, When::native, unary<llvm::Intrinsic::exp2>},
    {"half_exp10", 1, When::native, exponential<log2_10>},
    {"native_divide", 2, When::native, quotient},
    {"sin", 1, When::relaxed, unary<llvm::Intrinsic::sin>},
    {"cos", 1, When::relaxed, unary<llvm::Intrinsic::cos>},
    {"tan", 1, When::relaxed, tangent},
    {"exp", 1, When::relaxed, exponential<log2_e>},
    {"exp2", 1, When::relaxed, unary<llvm::Intrinsic::exp2>},
    {"exp10", 1, When::relaxed, exponential<log2_10>},
    {"log", 1, When::relaxed, logarithm<ln_2>},
    {"log2", 1, When::relaxed, unary<llvm::Intrinsic::log2>},
    {"log10", 1, When::relaxed, logarithm<log10_2>},
    {"powr", 2, When::relaxed, power},
    {"exp", 1, When::nvidia, preciseExponential<log2_e>},
    {"exp2", 1, When::nvidia, powerOfTwo},
    {"exp10", 1, When::nvidia, preciseExponential<log2_10>},
    {"log", 1, When::nvidia, library},
    {"log2", 1, When::nvidia, library},
    {"log10", 1, When::nvidia, library},
    {"pow", 2, When::nvidia, library},
    {"powr", 2, When::nvidia, library},
    {"tanh", 1, When::nvidia, library},
    {"cbrt", 1, When::nvidia, library},
    {"hypot", 2, When::nvidia, library},
    {"rsqrt", 1, When::nvidia, library, true},
};

// "_Z11native_sqrtDv4_f" -> "native_sqrt"
llvm::StringRef sourceName(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  size_t length = 0;
  if (!name.consume_front("_Z") || name.consumeInteger(10, length)) return {};
  return name.take_front(length);
}

bool isFloat(const llvm::Type* type) { return type->getScalarType()->isFloatTy(); }
bool isDouble(const llvm::Type* type) { return type->getScalarType()->isDoubleTy(); }

const Rule* ruleFor(const llvm::Function& function, bool relaxed, bool nvidia) {
  const bool of_double = isDouble(function.getReturnType());
  if (!function.isDeclaration() || !(of_double || isFloat(function.getReturnType())))
    return nullptr;
  llvm::StringRef name = sourceName(function);
  for (const Rule& rule : rules) {
    if (rule.of_double != of_double) continue;
    const bool exact = name == rule.name && (rule.when != When::relaxed || relaxed) &&
                       (rule.when != When::nvidia || nvidia);
    const bool native = rule.when == When::relaxed && name.starts_with("native_") &&
                        name.drop_front(7) == rule.name;
    if ((exact || native) && function.arg_size() == rule.arguments) return &rule;
  }
  return nullptr;
}

// As -cl-fp32-correctly-rounded-divide-sqrt leaves it: the front end marks calls that need not be.
bool isInexactRoot(const llvm::CallInst& call, const llvm::Function& function) {
  return sourceName(function) == "sqrt" && call.hasMetadata(llvm::LLVMContext::MD_fpmath);
}

void replace(llvm::CallInst& call, const Rule& rule) {
  Builder builder(&call);
  llvm::FastMathFlags flags = call.getFastMathFlags();
  flags.setAllowContract();
  if (rule.when == When::native || rule.when == When::relaxed) flags.setApproxFunc();
  builder.setFastMathFlags(flags);
  builder.setDefaultFPMathTag(llvm::MDBuilder(call.getContext()).createFPMath(division_ulp));
  const llvm::SmallVector<Value*> arguments(call.args());
  call.replaceAllUsesWith(rule.make ? rule.make(builder, arguments)
                                    : ofLibrary(builder, rule.name, arguments));
  call.eraseFromParent();
}

void replaceRoot(llvm::CallInst& call) {
  Builder builder(&call);
  builder.setFastMathFlags(call.getFastMathFlags());
  auto* root = llvm::cast<llvm::Instruction>(
      builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, call.getArgOperand(0)));
  root->setMetadata(llvm::LLVMContext::MD_fpmath, call.getMetadata(llvm::LLVMContext::MD_fpmath));
  call.replaceAllUsesWith(root);
  call.eraseFromParent();
}

// --- NVIDIA's instructions for what is marked ---

// Of instructions that are arithmetic on floats.
bool isApproximate(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::FPMathOperator>(instruction) && instruction.hasApproxFunc();
}
bool isInexact(const llvm::Instruction& instruction) {
  const auto* arithmetic = llvm::dyn_cast<llvm::FPMathOperator>(&instruction);
  return arithmetic && (instruction.hasApproxFunc() || arithmetic->getFPAccuracy() >= 2);
}

llvm::IntrinsicInst* inexactRoot(Value* value) {
  auto* root = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return root && root->getIntrinsicID() == llvm::Intrinsic::sqrt && isInexact(*root) ? root
                                                                                     : nullptr;
}

bool isOne(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && number->isExactlyValue(1);
}

// Are floats flushed there (-cl-denorms-are-zero)?
bool flushes(const llvm::Instruction& instruction) {
  return instruction.getFunction()->getDenormalMode(llvm::APFloat::IEEEsingle()).Output ==
         llvm::DenormalMode::PreserveSign;
}

Value* quotient(Builder& builder, llvm::BinaryOperator& division) {
  Value *over = division.getOperand(0), *under = division.getOperand(1);
  const bool flush = flushes(division);
  if (llvm::IntrinsicInst* root = inexactRoot(under)) {
    Value* const square = root->getArgOperand(0);
    Value* result =
        machine(builder,
                flush || isNormalAndPositive(*square) ? llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f
                                                      : llvm::Intrinsic::nvvm_rsqrt_approx_f,
                square);
    return isOne(over) ? result : builder.CreateFMul(over, result);
  }
  if (isOne(over))
    return machine(builder, flush ? "rcp.approx.ftz.f32 $0, $1;" : "rcp.approx.f32 $0, $1;", under);
  if (division.hasApproxFunc())
    return machine(
        builder,
        flush ? llvm::Intrinsic::nvvm_div_approx_ftz_f : llvm::Intrinsic::nvvm_div_approx_f,
        {over, under});
  return machine(builder, flush ? "div.full.ftz.f32 $0, $1, $2;" : "div.full.f32 $0, $1, $2;",
                 {over, under});
}

struct Approximation {
  ID of, kept, flushed;  // where denormals are kept and where they are flushed
};
constexpr Approximation approximations[] = {
    {llvm::Intrinsic::sin, llvm::Intrinsic::nvvm_sin_approx_f,
     llvm::Intrinsic::nvvm_sin_approx_ftz_f},
    {llvm::Intrinsic::cos, llvm::Intrinsic::nvvm_cos_approx_f,
     llvm::Intrinsic::nvvm_cos_approx_ftz_f},
    {llvm::Intrinsic::exp2, llvm::Intrinsic::nvvm_ex2_approx_f,
     llvm::Intrinsic::nvvm_ex2_approx_ftz_f},
    {llvm::Intrinsic::log2, llvm::Intrinsic::nvvm_lg2_approx_f,
     llvm::Intrinsic::nvvm_lg2_approx_ftz_f},
};

// The size of one and the sign of the other, by their bits.
Value* signedLike(Builder& builder, Value* size, Value* sign) {
  llvm::Type* type = size->getType();
  const unsigned width = type->getScalarSizeInBits();
  llvm::Type* bits = type->getWithNewType(builder.getIntNTy(width));
  const auto mask = llvm::APInt::getSignMask(width);
  Value* low =
      builder.CreateAnd(builder.CreateBitCast(size, bits), llvm::ConstantInt::get(bits, ~mask));
  Value* high =
      builder.CreateAnd(builder.CreateBitCast(sign, bits), llvm::ConstantInt::get(bits, mask));
  return builder.CreateBitCast(builder.CreateOr(low, high), type);
}

// Half away from zero: from the part without a fraction, and one more.
Value* rounded(Builder& builder, llvm::ArrayRef<Value*> x) {
  llvm::Type* type = x[0]->getType();
  Value* whole = builder.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x[0]);
  Value* fraction =
      builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, builder.CreateFSub(x[0], whole));
  Value* one = signedLike(builder, llvm::ConstantFP::get(type, 1), x[0]);
  return builder.CreateSelect(builder.CreateFCmpOGE(fraction, llvm::ConstantFP::get(type, 0.5)),
                              builder.CreateFAdd(whole, one), whole);
}

constexpr std::pair<llvm::StringLiteral, ID> instructions[] = {
    {"exp2", llvm::Intrinsic::nvvm_ex2_approx_ftz_f},
    {"small_exp2", llvm::Intrinsic::nvvm_ex2_approx_f},
    {"log2", llvm::Intrinsic::nvvm_lg2_approx_ftz_f},
    {"rcp", llvm::Intrinsic::nvvm_rcp_approx_ftz_f},
    {"sqrt", llvm::Intrinsic::nvvm_sqrt_approx_ftz_f},
    {"rsqrt", llvm::Intrinsic::nvvm_rsqrt_approx_ftz_d},
};
Value* machineInstruction(Builder& builder, const llvm::CallInst& call) {
  llvm::StringRef name = call.getCalledFunction() ? call.getCalledFunction()->getName() : "";
  if (!name.consume_front(machine_prefix)) return nullptr;
  for (const auto& [function, id] : instructions)
    if (name == function) return builder.CreateIntrinsic(id, {}, {call.getArgOperand(0)});
  return nullptr;
}

Value* select(llvm::Instruction& instruction) {
  Builder builder(&instruction);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (Value* result = machineInstruction(builder, *call)) return result;
    const bool is_wide = isFloat(call->getType()) || isDouble(call->getType());
    if (is_wide && call->getIntrinsicID() == llvm::Intrinsic::round)
      return rounded(builder, call->getArgOperand(0));
    if (is_wide && call->getIntrinsicID() == llvm::Intrinsic::copysign)
      return signedLike(builder, call->getArgOperand(0), call->getArgOperand(1));
  }
  if (!isFloat(instruction.getType())) return nullptr;
  if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
    return binary->getOpcode() == llvm::Instruction::FDiv && isInexact(*binary)
               ? quotient(builder, *binary)
               : nullptr;
  if (inexactRoot(&instruction))
    return machine(builder,
                   flushes(instruction) || isNormalAndPositive(*instruction.getOperand(0))
                       ? llvm::Intrinsic::nvvm_sqrt_approx_ftz_f
                       : llvm::Intrinsic::nvvm_sqrt_approx_f,
                   instruction.getOperand(0));
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || !isApproximate(*call)) return nullptr;
  for (const Approximation& approximation : approximations)
    if (call->getIntrinsicID() == approximation.of)
      return machine(builder, flushes(instruction) ? approximation.flushed : approximation.kept,
                     call->getArgOperand(0));
  return nullptr;
}

}  // namespace

void useNativeMath(llvm::Module& module, bool relaxed, bool nvidia) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const Rule* rule = ruleFor(function, relaxed, nvidia);
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != &function) continue;
      if (rule)
        replace(*call, *rule);
      else if (isFloat(call->getType()) && isInexactRoot(*call, function))
        replaceRoot(*call);
    }
  }
}

void selectNativeMath(llvm::Module& module) {
  for (llvm::Function& function : module) {
    // A quotient looks for the root below it, which comes before it.
    llvm::SmallVector<llvm::Instruction*> backwards;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      backwards.push_back(&instruction);
    for (llvm::Instruction* instruction : llvm::reverse(backwards)) {
      Value* result = select(*instruction);
      if (!result) continue;
      instruction->replaceAllUsesWith(result);
      instruction->eraseFromParent();
    }
  }
}

}  // namespace weft::compiler
