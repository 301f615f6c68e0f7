#include "compiler/pipeline/alignments.h"

#include <algorithm>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler {
namespace {

const llvm::Align scalars(8);

// A variable by itself, whose alignment is the compiler's own doing.
bool isVariable(const llvm::Value* pointer) { return llvm::isa<llvm::AllocaInst>(pointer); }

llvm::Align loosened(llvm::Align alignment) { return std::min(alignment, scalars); }

// Of a function or a call.
template <class T>
void loosenParameters(T& function, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const llvm::MaybeAlign alignment = function.getAttributes().getParamAlignment(i);
    const bool is_copy = function.getAttributes().hasParamAttr(i, llvm::Attribute::ByVal) ||
                         function.getAttributes().hasParamAttr(i, llvm::Attribute::StructRet);
    if (!alignment || *alignment <= scalars || is_copy) continue;
    function.removeParamAttr(i, llvm::Attribute::Alignment);
    function.addParamAttr(
        i, llvm::Attribute::getWithAlignment(function.getContext(), loosened(*alignment)));
  }
}

void loosen(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (!load->isAtomic() && !isVariable(load->getPointerOperand()))
      load->setAlignment(loosened(load->getAlign()));
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (!store->isAtomic() && !isVariable(store->getPointerOperand()))
      store->setAlignment(loosened(store->getAlign()));
  } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    loosenParameters(*call, call->arg_size());
  }
}

}  // namespace

void allowMisalignedVectors(llvm::Module& module) {
  for (llvm::Function& function : module) {
    loosenParameters(function, function.arg_size());
    for (llvm::Instruction& instruction : llvm::instructions(function)) loosen(instruction);
  }
}

}  // namespace weft::compiler
