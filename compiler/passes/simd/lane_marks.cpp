#include "compiler/passes/simd/lane_marks.h"

#include <array>

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

constexpr llvm::StringLiteral prefix = "weft.lanes.";
constexpr std::array<llvm::StringLiteral, 6> names = {"are_neighbours", "are_same", "neighbour",
                                                      "first",          "least",    "greatest"};

bool isQuestion(LaneMark mark) {
  return mark == LaneMark::are_neighbours || mark == LaneMark::are_same;
}

llvm::Function* define(llvm::Module& module, LaneMark mark, llvm::Type* type,
                       const llvm::Twine& name) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type* result = isQuestion(mark) ? builder.getInt1Ty() : type;
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, {type}, false),
                                          llvm::Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  builder.CreateRet(isQuestion(mark) ? builder.getFalse()
                                     : static_cast<llvm::Value*>(function->getArg(0)));
  return function;
}

}  // namespace

llvm::Value* createLaneMark(llvm::IRBuilder<>& builder, LaneMark mark, llvm::Value* number) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::Type* type = number->getType();
  const std::string name =
      (prefix + names[static_cast<size_t>(mark)] + ".i" + llvm::Twine(type->getIntegerBitWidth()))
          .str();
  llvm::Function* function = module.getFunction(name);
  if (!function) function = define(module, mark, type, name);
  return builder.CreateCall(function, {number});
}

std::optional<LaneMark> laneMark(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  llvm::StringRef name = callee ? callee->getName() : llvm::StringRef();
  if (!name.consume_front(prefix)) return std::nullopt;
  const auto* found = llvm::find(names, name.split('.').first);
  if (found == names.end()) return std::nullopt;
  return static_cast<LaneMark>(found - names.begin());
}

}  // namespace weft::compiler
