#include "compiler/passes/simd/float_parts.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/MC/MCSubtargetInfo.h>

namespace weft::compiler {
namespace {

using llvm::Value;

constexpr unsigned lanes_at_once = 16;
constexpr unsigned current_rounding = 4;
// Mantissas from 3/4 to 3/2; NaN of negative numbers, 1 of either zero.
constexpr unsigned mantissa_form = 3 | 3 << 2;

enum class Part { none, scaled, mantissa, exponent };

Part partOf(llvm::StringRef name) {
  return llvm::StringSwitch<Part>(name)
      .Case("__weft_scale_float", Part::scaled)
      .Case("__weft_mantissa_float", Part::mantissa)
      .Case("__weft_exponent_float", Part::exponent)
      .Default(Part::none);
}

Part partOf(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && call->getCalledFunction() ? partOf(call->getCalledFunction()->getName())
                                           : Part::none;
}

// In vectors of `lanes_at_once`.
class Emitter {
 public:
  explicit Emitter(llvm::IRBuilder<>& builder)
      : builder_(builder),
        every_(llvm::Constant::getAllOnesValue(builder.getIntNTy(lanes_at_once))),
        rounding_(builder.getInt32(current_rounding)) {}

  Value* emit(Part part, llvm::ArrayRef<Value*> arguments) {
    Value* x = arguments[0];
    switch (part) {
      case Part::scaled:
        return builder_.CreateIntrinsic(
            llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
            {x, builder_.CreateSIToFP(arguments[1], x->getType()), x, every_, rounding_});
      case Part::mantissa:
        return builder_.CreateIntrinsic(
            llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, {},
            {x, builder_.getInt32(mantissa_form), x, every_, rounding_});
      case Part::exponent:
        return builder_.CreateFSub(exponentOf(x), exponentOf(arguments[1]));
      case Part::none:
        break;
    }
    return nullptr;
  }

 private:
  Value* exponentOf(Value* x) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getexp_ps_512, {},
                                    {x, x, every_, rounding_});
  }

  llvm::IRBuilder<>& builder_;
  Value *every_, *rounding_;
};

}  // namespace

bool isFloatPart(const llvm::Instruction& instruction) { return partOf(instruction) != Part::none; }

bool hasFloatParts(const llvm::TargetMachine& machine, unsigned width) {
  return width % lanes_at_once == 0 && machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
}

Value* emitFloatPart(llvm::IRBuilder<>& builder, const llvm::CallBase& call,
                     llvm::ArrayRef<Value*> arguments) {
  const Part part = partOf(call);
  const unsigned width =
      llvm::cast<llvm::FixedVectorType>(arguments[0]->getType())->getNumElements();
  Emitter emitter(builder);
  if (width == lanes_at_once) return emitter.emit(part, arguments);
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < width; begin += lanes_at_once) {
    llvm::SmallVector<Value*, 2> pieces;
    for (Value* argument : arguments)
      pieces.push_back(builder.CreateShuffleVector(
          argument, llvm::createSequentialMask(begin, lanes_at_once, 0)));
    results.push_back(emitter.emit(part, pieces));
  }
  return llvm::concatenateVectors(builder, results);
}

void inlineFloatParts(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (partOf(function.getName()) == Part::none) continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

}  // namespace weft::compiler
