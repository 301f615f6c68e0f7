#include "compiler/passes/simd/vector_forms.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

using llvm::Function;

// The function of single elements that has the forms.
Function* elementForm(const llvm::CallBase& call) {
  Function* callee = call.getCalledFunction();
  if (!callee) return nullptr;
  const llvm::Attribute name = callee->getFnAttribute(element_form_attribute);
  Function* of_elements =
      name.isValid() ? callee->getParent()->getFunction(name.getValueAsString()) : callee;
  return of_elements && of_elements->hasFnAttribute(llvm::VFABI::MappingsAttrName) ? of_elements
                                                                                   : nullptr;
}

}  // namespace

bool hasVectorForm(const llvm::CallBase& call) { return elementForm(call) != nullptr; }

VectorForm widestForm(const llvm::CallBase& call, unsigned lanes) {
  VectorForm best;
  const Function* of_elements = elementForm(call);
  if (!of_elements) return best;
  llvm::SmallVector<llvm::StringRef> names;
  of_elements->getFnAttribute(llvm::VFABI::MappingsAttrName).getValueAsString().split(names, ',');
  for (const llvm::StringRef name : names) {
    const auto form = llvm::VFABI::tryDemangleForVFABI(name, of_elements->getFunctionType());
    if (!form) continue;
    const unsigned count = form->Shape.VF.getFixedValue();
    const bool plain = llvm::all_of(form->Shape.Parameters, [](const llvm::VFParameter& parameter) {
      return parameter.ParamKind == llvm::VFParamKind::Vector;
    });
    if (!plain || count > lanes || lanes % count != 0 || count <= best.lanes) continue;
    if (Function* function = of_elements->getParent()->getFunction(form->VectorName))
      best = {function, count};
  }
  return best;
}

}  // namespace weft::compiler
