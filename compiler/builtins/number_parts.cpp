#include "compiler/builtins/number_parts.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {
namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr unsigned vector_bits = 512;
constexpr unsigned current_rounding = 4;
// Mantissas from 3/4 to 3/2; NaN of negative numbers, 1 of either zero.
constexpr unsigned mantissa_form = 3 | 3 << 2;

enum class Part { none, scaled, mantissa, exponent };

Part partOf(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  if (!name.consume_front("__weft_part_")) return Part::none;
  return llvm::StringSwitch<Part>(name.rsplit('_').first)
      .Case("scaled", Part::scaled)
      .Case("mantissa", Part::mantissa)
      .Case("exponent", Part::exponent)
      .Default(Part::none);
}

// Of one whole vector.
Value* emit(llvm::IRBuilder<>& builder, Part part, llvm::ArrayRef<Value*> arguments) {
  Value* const x = arguments[0];
  const auto* type = llvm::cast<llvm::FixedVectorType>(x->getType());
  const bool is_double = type->getElementType()->isDoubleTy();
  Value* const every = llvm::Constant::getAllOnesValue(builder.getIntNTy(type->getNumElements()));
  Value* const rounding = builder.getInt32(current_rounding);
  const auto exponentOf = [&](Value* of) {
    const auto id = is_double ? intrinsic::x86_avx512_mask_getexp_pd_512
                              : intrinsic::x86_avx512_mask_getexp_ps_512;
    return builder.CreateIntrinsic(id, {}, {of, of, every, rounding});
  };
  if (part == Part::exponent) return builder.CreateFSub(exponentOf(x), exponentOf(arguments[1]));
  if (part == Part::mantissa) {
    const auto id = is_double ? intrinsic::x86_avx512_mask_getmant_pd_512
                              : intrinsic::x86_avx512_mask_getmant_ps_512;
    return builder.CreateIntrinsic(id, {},
                                   {x, builder.getInt32(mantissa_form), x, every, rounding});
  }
  const auto id = is_double ? intrinsic::x86_avx512_mask_scalef_pd_512
                            : intrinsic::x86_avx512_mask_scalef_ps_512;
  return builder.CreateIntrinsic(id, {}, {x, arguments[1], x, every, rounding});
}

}  // namespace

bool isNumberPart(const llvm::Function& function) { return partOf(function) != Part::none; }

bool hasNumberParts(const llvm::TargetMachine& machine, uint64_t bits) {
  return bits % vector_bits == 0 && machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
}

Value* emitNumberPart(llvm::IRBuilder<>& builder, const llvm::Function& part,
                      llvm::ArrayRef<Value*> arguments) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(arguments[0]->getType());
  const unsigned width = type->getNumElements(),
                 at_once = vector_bits / type->getScalarSizeInBits();
  if (width == at_once) return emit(builder, partOf(part), arguments);
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < width; begin += at_once) {
    llvm::SmallVector<Value*, 3> pieces;
    for (Value* argument : arguments)
      pieces.push_back(
          builder.CreateShuffleVector(argument, llvm::createSequentialMask(begin, at_once, 0)));
    results.push_back(emit(builder, partOf(part), pieces));
  }
  return llvm::concatenateVectors(builder, results);
}

}  // namespace weft::compiler
