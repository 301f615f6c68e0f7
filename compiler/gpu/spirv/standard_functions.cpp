#include "compiler/gpu/spirv/standard_functions.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <spirv/unified1/OpenCL.std.h>

#include "compiler/builtins/math_names.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Value;

constexpr llvm::StringLiteral prefix = "weft.std.";

struct Row {
  llvm::StringLiteral name;
  uint32_t instruction;
  bool whole = false;  // takes vectors as vectors
};

constexpr Row rows[] = {
    {"acos", OpenCLLIB::Acos},
    {"acosh", OpenCLLIB::Acosh},
    {"acospi", OpenCLLIB::Acospi},
    {"asin", OpenCLLIB::Asin},
    {"asinh", OpenCLLIB::Asinh},
    {"asinpi", OpenCLLIB::Asinpi},
    {"atan", OpenCLLIB::Atan},
    {"atan2", OpenCLLIB::Atan2},
    {"atan2pi", OpenCLLIB::Atan2pi},
    {"atanh", OpenCLLIB::Atanh},
    {"atanpi", OpenCLLIB::Atanpi},
    {"cbrt", OpenCLLIB::Cbrt},
    {"cos", OpenCLLIB::Cos},
    {"cosh", OpenCLLIB::Cosh},
    {"cospi", OpenCLLIB::Cospi},
    {"distance", OpenCLLIB::Distance, true},
    {"erf", OpenCLLIB::Erf},
    {"erfc", OpenCLLIB::Erfc},
    {"exp", OpenCLLIB::Exp},
    {"exp10", OpenCLLIB::Exp10},
    {"exp2", OpenCLLIB::Exp2},
    {"expm1", OpenCLLIB::Expm1},
    {"fmod", OpenCLLIB::Fmod},
    {"half_cos", OpenCLLIB::Half_cos},
    {"half_divide", OpenCLLIB::Half_divide},
    {"half_exp", OpenCLLIB::Half_exp},
    {"half_exp10", OpenCLLIB::Half_exp10},
    {"half_exp2", OpenCLLIB::Half_exp2},
    {"half_log", OpenCLLIB::Half_log},
    {"half_log10", OpenCLLIB::Half_log10},
    {"half_log2", OpenCLLIB::Half_log2},
    {"half_powr", OpenCLLIB::Half_powr},
    {"half_recip", OpenCLLIB::Half_recip},
    {"half_rsqrt", OpenCLLIB::Half_rsqrt},
    {"half_sin", OpenCLLIB::Half_sin},
    {"half_sqrt", OpenCLLIB::Half_sqrt},
    {"half_tan", OpenCLLIB::Half_tan},
    {"hypot", OpenCLLIB::Hypot},
    {"ldexp", OpenCLLIB::Ldexp},
    {"length", OpenCLLIB::Length, true},
    {"lgamma", OpenCLLIB::Lgamma},
    {"log", OpenCLLIB::Log},
    {"log10", OpenCLLIB::Log10},
    {"log1p", OpenCLLIB::Log1p},
    {"log2", OpenCLLIB::Log2},
    {"native_cos", OpenCLLIB::Native_cos},
    {"native_divide", OpenCLLIB::Native_divide},
    {"native_exp", OpenCLLIB::Native_exp},
    {"native_exp10", OpenCLLIB::Native_exp10},
    {"native_exp2", OpenCLLIB::Native_exp2},
    {"native_log", OpenCLLIB::Native_log},
    {"native_log10", OpenCLLIB::Native_log10},
    {"native_log2", OpenCLLIB::Native_log2},
    {"native_powr", OpenCLLIB::Native_powr},
    {"native_recip", OpenCLLIB::Native_recip},
    {"native_rsqrt", OpenCLLIB::Native_rsqrt},
    {"native_sin", OpenCLLIB::Native_sin},
    {"native_sqrt", OpenCLLIB::Native_sqrt},
    {"native_tan", OpenCLLIB::Native_tan},
    {"normalize", OpenCLLIB::Normalize, true},
    {"pow", OpenCLLIB::Pow},
    {"pown", OpenCLLIB::Pown},
    {"powr", OpenCLLIB::Powr},
    {"remainder", OpenCLLIB::Remainder},
    {"rootn", OpenCLLIB::Rootn},
    {"sin", OpenCLLIB::Sin},
    {"sinh", OpenCLLIB::Sinh},
    {"sinpi", OpenCLLIB::Sinpi},
    {"tan", OpenCLLIB::Tan},
    {"tanh", OpenCLLIB::Tanh},
    {"tanpi", OpenCLLIB::Tanpi},
    {"tgamma", OpenCLLIB::Tgamma},
};

// "_Z3sinDv4_f" is "sin"; empty where the name is none of OpenCL C's.
llvm::StringRef plainName(llvm::StringRef symbol) {
  if (const auto math = parseMathName(symbol)) return math->function;
  unsigned length = 0;
  if (!symbol.consume_front("_Z") || symbol.consumeInteger(10, length)) return {};
  return symbol.take_front(length);
}

bool takesNumbers(const Function& function) {
  llvm::Type* result = function.getReturnType()->getScalarType();
  return (result->isFloatTy() || result->isDoubleTy()) && !function.isVarArg() &&
         llvm::all_of(function.args(), [](const llvm::Argument& argument) {
           llvm::Type* type = argument.getType()->getScalarType();
           return type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy();
         });
}

std::string typeName(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return (vector ? "v" + std::to_string(vector->getNumElements()) : "") +
         (type->getScalarType()->isIntegerTy() ? "i" : "f") +
         std::to_string(type->getScalarSizeInBits());
}

llvm::CallInst* callStandard(llvm::IRBuilder<>& builder, llvm::Module& module, uint32_t instruction,
                             llvm::Type* result, llvm::ArrayRef<Value*> values) {
  llvm::SmallVector<llvm::Type*> types;
  std::string name = prefix.str() + std::to_string(instruction) + "." + typeName(result);
  for (Value* value : values) {
    types.push_back(value->getType());
    name += "." + typeName(value->getType());
  }
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  auto* function = llvm::cast<Function>(callee.getCallee());
  function->setMemoryEffects(llvm::MemoryEffects::none());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  return builder.CreateCall(callee, values);
}

void define(Function& function, const Row& row) {
  llvm::Module& module = *function.getParent();
  function.deleteBody();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", &function));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(function.getReturnType());
  const unsigned width = vector && !row.whole ? vector->getNumElements() : 1;
  Value* result = llvm::PoisonValue::get(function.getReturnType());
  for (unsigned i = 0; i < width; ++i) {
    llvm::SmallVector<Value*> values;
    for (llvm::Argument& argument : function.args())
      values.push_back(!row.whole && argument.getType()->isVectorTy()
                           ? builder.CreateExtractElement(&argument, i)
                           : &argument);
    llvm::Type* type = width > 1 ? vector->getElementType() : function.getReturnType();
    Value* value = callStandard(builder, module, row.instruction, type, values);
    result = width > 1 ? builder.CreateInsertElement(result, value, i) : value;
  }
  builder.CreateRet(result);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setComdat(nullptr);
  function.removeFnAttr(llvm::Attribute::NoInline);
  function.removeFnAttr(llvm::Attribute::OptimizeNone);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
}

}  // namespace

void useStandardFunctions(llvm::Module& module, const llvm::StringSet<>& own) {
  llvm::SmallVector<std::pair<Function*, const Row*>> found;
  for (Function& function : module) {
    if (function.isIntrinsic() || own.contains(function.getName()) || function.use_empty())
      continue;
    const llvm::StringRef name = plainName(function.getName());
    const Row* const row = llvm::find_if(rows, [&](const Row& each) { return each.name == name; });
    if (row != std::end(rows) && takesNumbers(function)) found.push_back({&function, row});
  }
  for (const auto& [function, row] : found) define(*function, *row);
}

std::optional<uint32_t> standardInstruction(llvm::StringRef name) {
  uint32_t number = 0;
  if (!name.consume_front(prefix) || name.consumeInteger(10, number)) return std::nullopt;
  return number;
}

}  // namespace weft::compiler
