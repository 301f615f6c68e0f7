// Math symbols of the builtin library (cl/sleef.def) as calls of its own scalar functions
// (cl/own_*.cl): "__weft_sleef_sin_u35_float4" is four of "__weft_own_sin_float".
#include "compiler/builtins/own_math.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"
#include "compiler/builtins/math_names.h"

namespace weft::compiler {

bool hasFasterForm(const MathName& name, bool has_parts) {
  // Made of instructions that take doubles apart.
  if (has_parts && name.is_double && name.function == "log") return true;
  // The library has more code for CPUs (cl/inline_math.cl), or SLEEF's is about as fast.
  constexpr llvm::StringLiteral others[] = {"sin", "cos", "tan", "exp", "log"};
  constexpr llvm::StringLiteral others_of_double[] = {"sin",  "cos",  "tan",   "log",    "asin",
                                                      "acos", "atan", "atan2", "tgamma", "lgamma"};
  constexpr llvm::StringLiteral rough[] = {"asin", "acos", "atan", "log2"};
  const bool is_slower =
      name.is_double ? llvm::is_contained(others_of_double, name.function)
                     : llvm::is_contained(others, name.function) ||
                           (name.accuracy == "u35" && llvm::is_contained(rough, name.function));
  return !is_slower && findBuiltinModule(mathSymbol(own_math_prefix, name, 1));
}

void defineByElements(llvm::Function& function, llvm::StringRef element_function) {
  llvm::Module& module = *function.getParent();
  llvm::SmallVector<llvm::Type*> parameters;
  for (llvm::Argument& argument : function.args())
    parameters.push_back(argument.getType()->getScalarType());
  llvm::Type* element = function.getReturnType()->getScalarType();
  llvm::FunctionCallee scalar = module.getOrInsertFunction(
      element_function, llvm::FunctionType::get(element, parameters, false));
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", &function));
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(function.getReturnType());
  llvm::Value* result = llvm::PoisonValue::get(function.getReturnType());
  for (unsigned i = 0; i < (vector ? vector->getNumElements() : 1); ++i) {
    llvm::SmallVector<llvm::Value*> values;
    for (llvm::Argument& argument : function.args())
      values.push_back(vector ? builder.CreateExtractElement(&argument, i) : &argument);
    llvm::Value* value = builder.CreateCall(scalar, values);
    result = vector ? builder.CreateInsertElement(result, value, i) : value;
  }
  builder.CreateRet(result);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
}

llvm::Error defineOwnMath(llvm::Module& module) {
  llvm::SmallVector<std::pair<llvm::Function*, std::string>> found;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    const auto name = parseMathName(function.getName());
    if (!name) continue;
    const std::string own = mathSymbol(own_math_prefix, *name, 1);
    if (findBuiltinModule(own)) found.push_back({&function, own});
  }
  for (auto& [function, own] : found) defineByElements(*function, own);
  return linkBuiltins(module, LateMath::linked);
}

}  // namespace weft::compiler
