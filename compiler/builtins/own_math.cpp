// Math symbols of the builtin library (cl/sleef.def) as calls of its own scalar functions
// (cl/own_*.cl): "__weft_sleef_sin_u35_float4" is four of "__weft_own_sin_float".
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"
#include "compiler/builtins/math_names.h"

namespace weft::compiler {
namespace {

std::string ownName(const MathName& name) {
  return ("__weft_own_" + name.function + (name.is_double ? "_double" : "_float")).str();
}

// The library has code of its own for CPUs (cl/inline_math.cl), or SLEEF's is about as fast: what
// is inlined in each form of a kernel takes its time to build.
bool isFaster(const MathName& name) {
  constexpr llvm::StringLiteral others[] = {"sin",  "cos", "exp",  "log",  "tan",
                                            "log2", "pow", "cbrt", "atan2"};
  constexpr llvm::StringLiteral rough[] = {"asin", "acos", "atan"};
  return !name.is_double && !llvm::is_contained(others, name.function) &&
         !(name.accuracy == "u35" && llvm::is_contained(rough, name.function));
}

void define(llvm::Function& function, const MathName& name) {
  llvm::Module& module = *function.getParent();
  llvm::Type* element = function.getReturnType()->getScalarType();
  const llvm::SmallVector<llvm::Type*> parameters(function.arg_size(), element);
  llvm::FunctionCallee scalar = module.getOrInsertFunction(
      ownName(name), llvm::FunctionType::get(element, parameters, false));
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", &function));
  llvm::Value* result = llvm::PoisonValue::get(function.getReturnType());
  for (unsigned i = 0; i < name.width; ++i) {
    llvm::SmallVector<llvm::Value*> values;
    for (llvm::Argument& argument : function.args())
      values.push_back(name.width > 1 ? builder.CreateExtractElement(&argument, i) : &argument);
    llvm::Value* value = builder.CreateCall(scalar, values);
    result = name.width > 1 ? builder.CreateInsertElement(result, value, i) : value;
  }
  builder.CreateRet(result);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
}

}  // namespace

llvm::Error defineOwnMath(llvm::Module& module, OwnMath which) {
  llvm::SmallVector<std::pair<llvm::Function*, MathName>> found;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    const auto name = parseMathName(function.getName());
    if (!name || (which == OwnMath::faster && !isFaster(*name))) continue;
    if (findBuiltinModule(ownName(*name))) found.push_back({&function, *name});
  }
  // The names are part of the functions that `define` gives bodies to.
  for (auto& [function, name] : found) define(*function, name);
  return linkBuiltins(module);
}

}  // namespace weft::compiler
