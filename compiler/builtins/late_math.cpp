// The library's own math functions that were calls while lanes became vectors.
#include <optional>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"
#include "compiler/builtins/math_names.h"
#include "compiler/builtins/number_parts.h"
#include "compiler/builtins/own_math.h"
#include "compiler/builtins/vector_math.h"
#include "compiler/builtins/widening.h"

namespace weft::compiler {
namespace {

using llvm::Function;

constexpr llvm::StringLiteral rare_prefix = "weft.rare.";

bool isLate(const llvm::Value& value) { return isLateMath(value.getName()); }

// Instructions. Longer functions stay calls: kernels have many forms, and each would have to be
// compiled with them. So do all in a function that would grow by more: what its registers and its
// schedule take grows faster than it does.
constexpr unsigned longest_inlined = 80, most_inlined = 500;

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

// Where the machine has what they are made of, and the library has them (cl/own_fast.cl).
void useFastFunctions(llvm::Module& module, llvm::MutableArrayRef<OwnForm> forms) {
  constexpr llvm::StringLiteral prefix = "__weft_own_fast_";
  const auto fast = [&](llvm::StringRef symbol) -> std::optional<std::string> {
    const auto name = parseOwnMathName(symbol);
    if (!name) return std::nullopt;
    std::string other = mathSymbol(prefix, *name, name->width);
    return findBuiltinModule(other) ? std::optional(std::move(other)) : std::nullopt;
  };
  for (OwnForm& form : forms)
    if (const auto other = fast(form.scalar)) form.scalar = *other;
  for (Function& function : module)
    if (const auto other = fast(function.getName()); other && function.isDeclaration())
      function.setName(*other);
}

// Vectors' forms of functions of single elements.
class Forms {
 public:
  Forms(llvm::Module& module, const llvm::TargetMachine& machine)
      : module_(module), machine_(machine) {}

  // Before it the form calls the function for each element, and goes on to where that cannot be
  // widened.
  void makeWide(Function& vector, const Function& scalar) {
    auto& body = vector.getEntryBlock();
    Function* copy = Function::Create(vector.getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                      "", &module_);
    const unsigned width =
        llvm::cast<llvm::FixedVectorType>(vector.getReturnType())->getNumElements();
    const auto makeForm = [&](const Function& other) { return formOf(other, width); };
    if (!widen(scalar, *copy, machine_, makeForm)) {
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

 private:
  // Called where few elements need it.
  Function* formOf(const Function& scalar, unsigned width) {
    Function*& form = made_[{&scalar, width}];
    if (form) return form;
    llvm::SmallVector<llvm::Type*> parameters;
    for (llvm::Type* type : scalar.getFunctionType()->params())
      parameters.push_back(llvm::FixedVectorType::get(type, width));
    auto* type = llvm::FunctionType::get(llvm::FixedVectorType::get(scalar.getReturnType(), width),
                                         parameters, false);
    Function* const made = Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                            rare_prefix + scalar.getName(), module_);
    form = made;
    defineByElements(*made, scalar.getName());
    makeWide(*made, scalar);
    made->removeFnAttr(llvm::Attribute::AlwaysInline);
    made->addFnAttr(llvm::Attribute::NoInline);
    return made;
  }

  llvm::Module& module_;
  const llvm::TargetMachine& machine_;
  llvm::DenseMap<std::pair<const Function*, unsigned>, Function*> made_;
};

bool isShortOwn(const Function& function) {
  return !function.isDeclaration() && parseOwnMathName(function.getName()) &&
         function.getInstructionCount() <= longest_inlined;
}

// Says of each function and each call whether it is to be inlined.
void chooseInlined(llvm::Module& module) {
  for (Function& function : module) {
    if (function.isDeclaration() || !isLate(function)) continue;
    const bool is_inlined = isShortOwn(function) || !parseOwnMathName(function.getName());
    function.removeFnAttr(is_inlined ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
    function.addFnAttr(is_inlined ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
  }
  for (Function& caller : module) {
    llvm::SmallVector<llvm::CallBase*> calls;
    size_t growth = 0;
    for (llvm::Instruction& instruction : llvm::instructions(caller)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call || !call->getCalledFunction() || !isShortOwn(*call->getCalledFunction())) continue;
      calls.push_back(call);
      growth += call->getCalledFunction()->getInstructionCount();
    }
    if (growth <= most_inlined) continue;
    for (llvm::CallBase* call : calls) call->addFnAttr(llvm::Attribute::NoInline);
  }
}

// Does it compute vectors, by itself or by others that do so? It has no use for more than a few of
// the other registers then.
bool isOfVectors(const Function& function) {
  if (function.isDeclaration() || !function.getReturnType()->isVectorTy()) return false;
  constexpr size_t few = 8;
  size_t others = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call && !llvm::isa<llvm::IntrinsicInst>(call) &&
        !(call->getCalledFunction() && isOfVectors(*call->getCalledFunction())))
      return false;
    others += !instruction.isTerminator() && !instruction.getType()->isVectorTy();
  }
  return others <= few;
}

// Calls of them keep half of the registers for vectors, by the convention that x86 has for OpenCL's
// builtins; by C's all that a kernel has there is spilled around each.
void keepRegisters(llvm::Module& module) {
  for (Function& function : module) {
    if (!function.hasLocalLinkage() || !isOfVectors(function) ||
        !(isLate(function) || function.getName().starts_with(rare_prefix)))
      continue;
    function.setCallingConv(llvm::CallingConv::Intel_OCL_BI);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
        call->setCallingConv(llvm::CallingConv::Intel_OCL_BI);
  }
}

}  // namespace

llvm::Expected<bool> linkLateMath(llvm::Module& module, const llvm::TargetMachine& machine) {
  llvm::removeFromUsedLists(
      module, [](llvm::Constant* constant) { return isLate(*constant->stripPointerCasts()); });
  if (llvm::none_of(module, [](Function& f) { return isLate(f) && !f.use_empty(); })) return false;
  llvm::SmallVector<OwnForm> forms = usedForms(module);
  if (hasNumberParts(machine, 512)) useFastFunctions(module, forms);
  for (const OwnForm& form : forms) defineByElements(*form.vector, form.scalar);
  if (llvm::Error error = linkBuiltins(module, LateMath::linked)) return error;
  useSleefAlone(module, machine);
  Forms wide(module, machine);
  for (const OwnForm& form : forms) wide.makeWide(*form.vector, *module.getFunction(form.scalar));
  chooseInlined(module);
  if (machine.getTargetTriple().isX86()) keepRegisters(module);
  return true;
}

}  // namespace weft::compiler
