#include "compiler/builtins/number_parts.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/metadata/denormals.h"

namespace weft::compiler {
namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr unsigned vector_bits = 512;
constexpr unsigned current_rounding = 4;
// Mantissas from 3/4 to 3/2; NaN of negative numbers, 1 of either zero.
constexpr unsigned mantissa_form = 3 | 3 << 2;

enum class Part { none, bounded, vanishing, scaled, raised, mantissa, exponent };

Part partOf(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  if (!name.consume_front("__weft_part_")) return Part::none;
  return llvm::StringSwitch<Part>(name.rsplit('_').first)
      .Case("bounded", Part::bounded)
      .Case("vanishing", Part::vanishing)
      .Case("scaled", Part::scaled)
      .Case("raised", Part::raised)
      .Case("mantissa", Part::mantissa)
      .Case("exponent", Part::exponent)
      .Default(Part::none);
}

// Of one whole vector.
class Emitter {
 public:
  Emitter(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> arguments)
      : builder_(builder),
        arguments_(arguments),
        x_(arguments[0]),
        type_(llvm::cast<llvm::FixedVectorType>(x_->getType())),
        is_double_(type_->getElementType()->isDoubleTy()),
        every_(llvm::Constant::getAllOnesValue(builder.getIntNTy(type_->getNumElements()))),
        rounding_(builder.getInt32(current_rounding)) {}

  Value* emit(Part part) {
    switch (part) {
      case Part::bounded:
        return bounded();
      case Part::vanishing:
        return arguments_[2];  // rounded to zero
      case Part::scaled:
        return is_double_ || flushes() ? scaled(arguments_[1]) : scaledToAny();
      case Part::raised:
        return scaled(arguments_[1]);
      case Part::mantissa:
        return call(is_double_ ? intrinsic::x86_avx512_mask_getmant_pd_512
                               : intrinsic::x86_avx512_mask_getmant_ps_512,
                    {x_, builder_.getInt32(mantissa_form), x_, every_, rounding_});
      case Part::exponent:
        return builder_.CreateFSub(exponentOf(x_), exponentOf(arguments_[1]));
      case Part::none:
        break;
    }
    return nullptr;
  }

 private:
  Value* call(llvm::Intrinsic::ID id, llvm::ArrayRef<Value*> arguments) {
    return builder_.CreateIntrinsic(id, {}, arguments);
  }
  Value* constant(double value) { return llvm::ConstantFP::get(type_, value); }

  bool flushes() const { return flushesDenormals(*builder_.GetInsertBlock()->getModule()); }

  Value* bounded() {
    Value *const least = arguments_[1], *const most = arguments_[2];
    Value* const low = builder_.CreateSelect(builder_.CreateFCmpOGT(x_, most), most, x_);
    return builder_.CreateSelect(builder_.CreateFCmpOLT(low, least), least, low);
  }
  Value* scaled(Value* exponent) {
    return call(is_double_ ? intrinsic::x86_avx512_mask_scalef_pd_512
                           : intrinsic::x86_avx512_mask_scalef_ps_512,
                {x_, exponent, x_, every_, rounding_});
  }
  // Processors take a hundred times as long for what is denormal. It is an integer multiple of the
  // least number, and is converted as fast as any. (Doubles are too seldom so small.)
  Value* scaledToAny() {
    Value* const n = arguments_[1];
    Value* const small = builder_.CreateFCmpOLE(n, constant(-126));
    Value* const times = builder_.CreateSelect(small, builder_.CreateFAdd(n, constant(149)), n);
    Value* const result = scaled(times);
    Value* const unused = llvm::Constant::getNullValue(llvm::VectorType::getInteger(type_));
    Value* const multiple =
        call(intrinsic::x86_avx512_mask_cvtps2dq_512, {result, unused, every_, rounding_});
    return builder_.CreateSelect(small, builder_.CreateBitCast(multiple, type_), result);
  }
  Value* exponentOf(Value* x) {
    return call(is_double_ ? intrinsic::x86_avx512_mask_getexp_pd_512
                           : intrinsic::x86_avx512_mask_getexp_ps_512,
                {x, x, every_, rounding_});
  }

  llvm::IRBuilder<>& builder_;
  llvm::ArrayRef<Value*> arguments_;
  Value* x_;
  llvm::FixedVectorType* type_;
  bool is_double_;
  Value *every_, *rounding_;
};

}  // namespace

const llvm::Function* calledNumberPart(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && partOf(*callee) != Part::none ? callee : nullptr;
}

bool takesArgument(const llvm::Function& part) {
  return partOf(part) == Part::bounded || partOf(part) == Part::mantissa;
}

bool hasNumberParts(const llvm::TargetMachine& machine, uint64_t bits) {
  return bits % vector_bits == 0 && machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
}

Value* emitNumberPart(llvm::IRBuilder<>& builder, const llvm::Function& part,
                      llvm::ArrayRef<Value*> arguments) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(arguments[0]->getType());
  const unsigned width = type->getNumElements(),
                 at_once = vector_bits / type->getScalarSizeInBits();
  if (width == at_once) return Emitter(builder, arguments).emit(partOf(part));
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < width; begin += at_once) {
    llvm::SmallVector<Value*, 3> pieces;
    for (Value* argument : arguments)
      pieces.push_back(
          builder.CreateShuffleVector(argument, llvm::createSequentialMask(begin, at_once, 0)));
    results.push_back(Emitter(builder, pieces).emit(partOf(part)));
  }
  return llvm::concatenateVectors(builder, results);
}

void keepNumberParts(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!hasNumberParts(machine, vector_bits)) return;
  for (llvm::Function& function : module) {
    if (partOf(function) == Part::none) continue;
    function.removeFnAttr(llvm::Attribute::AlwaysInline);
    function.addFnAttr(llvm::Attribute::NoInline);
  }
}

void inlineNumberParts(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (partOf(function) == Part::none) continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

}  // namespace weft::compiler
