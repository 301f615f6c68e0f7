// Library functions of which there are forms for several lanes at once: functions of single
// elements, by the attribute with which LLVM's vectoriser finds them, and those of the source's
// vectors, which do the same to each element.
#pragma once

#include <llvm/IR/InstrTypes.h>

namespace weft::compiler {

// Attribute of a function of vectors: the name of the function of single elements.
inline constexpr llvm::StringLiteral element_form_attribute = "weft-element-form";

struct VectorForm {
  llvm::Function* function = nullptr;  // null: there is none
  unsigned lanes = 0;
};

bool hasVectorForm(const llvm::CallBase& call);

// The widest of those for which `lanes` is a multiple of theirs.
VectorForm widestForm(const llvm::CallBase& call, unsigned lanes);

}  // namespace weft::compiler
