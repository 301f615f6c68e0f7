// The library's own math functions that were calls while lanes became vectors.
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/math_names.h"
#include "compiler/builtins/own_math.h"
#include "compiler/builtins/vector_math.h"
#include "compiler/builtins/widening.h"

namespace weft::compiler {
namespace {

using llvm::Function;

bool isLate(const llvm::Value& value) { return isLateMath(value.getName()); }

// A longer one stays a call: kernels have many forms, and each would have to be compiled with it.
constexpr unsigned longest_inlined = 80;

// Forms of vectors whose library function is one of single elements.
struct OwnForm {
  Function* vector;
  std::string scalar;
};

llvm::SmallVector<OwnForm> usedForms(llvm::Module& module) {
  llvm::SmallVector<OwnForm> forms;
  for (Function& function : module) {
    const auto name = parseOwnMathName(function.getName());
    if (!name || name->width == 1 || function.use_empty() || !function.isDeclaration()) continue;
    forms.push_back({&function, mathSymbol(own_math_prefix, *name, 1)});
  }
  return forms;
}

// Before it the form is called element by element, which stays so if it is more than a straight
// line.
void makeWide(Function& vector, const Function& scalar) {
  auto& body = vector.getEntryBlock();
  Function* copy = Function::Create(vector.getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                    "", vector.getParent());
  if (!widen(scalar, *copy)) {
    copy->eraseFromParent();
    return;
  }
  body.eraseFromParent();
  vector.splice(vector.end(), copy);
  for (unsigned i = 0; i < vector.arg_size(); ++i)
    copy->getArg(i)->replaceAllUsesWith(vector.getArg(i));
  copy->eraseFromParent();
  vector.setAttributes(scalar.getAttributes());
}

void inlineIfShort(Function& function) {
  const bool is_short = function.getInstructionCount() <= longest_inlined;
  function.removeFnAttr(is_short ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
  function.addFnAttr(is_short ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
}

}  // namespace

llvm::Expected<bool> linkLateMath(llvm::Module& module, const llvm::TargetMachine& machine) {
  llvm::removeFromUsedLists(
      module, [](llvm::Constant* constant) { return isLate(*constant->stripPointerCasts()); });
  if (llvm::none_of(module, [](Function& f) { return isLate(f) && !f.use_empty(); })) return false;
  const llvm::SmallVector<OwnForm> forms = usedForms(module);
  for (const OwnForm& form : forms) defineByElements(*form.vector, form.scalar);
  if (llvm::Error error = linkBuiltins(module, LateMath::linked)) return error;
  useSleefAlone(module, machine);
  for (const OwnForm& form : forms) makeWide(*form.vector, *module.getFunction(form.scalar));
  for (Function& function : module) {
    if (function.isDeclaration() || !isLate(function)) continue;
    if (parseOwnMathName(function.getName()))
      inlineIfShort(function);
    else
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  return true;
}

}  // namespace weft::compiler
