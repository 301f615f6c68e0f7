#include "compiler/passes/simd/scaling.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/MC/MCSubtargetInfo.h>

namespace weft::compiler {
namespace {

constexpr llvm::StringLiteral scaling = "__weft_scale_float";

}  // namespace

bool isScaling(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == scaling;
}

bool hasScaling(const llvm::TargetMachine& machine, unsigned width) {
  return width % scaled_at_once == 0 && machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
}

void inlineScaling(llvm::Module& module) {
  llvm::Function* function = module.getFunction(scaling);
  if (!function) return;
  function->removeFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
}

}  // namespace weft::compiler
