// Functions of OpenCL C as calls of the library's own: "_Z21work_group_reduce_addi" is
// "_Z32__weft_own_work_group_reduce_addi". Those of groups are for devices that run a group's
// work-items side by side (cl/own_work_group.cl, cl/own_async_copy.cl, cl/own_sub_group.cl), those
// of sub-groups also for CPUs where the lanes of a sub-group are a vector; those of math for GPUs
// and, where they are faster, for CPUs. The request about device queues has a form for GPUs, too
// (cl/own_device_queue.cl).
#include "compiler/builtins/own_functions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

constexpr llvm::StringLiteral choice_prefix = "__weft_either.";

enum Kind : unsigned { sub_group = 1, work_group = 2, math = 4 };

Kind kindOf(llvm::StringRef name) {
  if (name.starts_with("work_group_") || name.starts_with("async_work_group_")) return work_group;
  const bool of_sub_group = name.starts_with("sub_group_") || name.starts_with("get_sub_group_") ||
                            name.starts_with("get_num_sub_groups");
  return of_sub_group ? sub_group : math;
}

// Empty for what is no function of these kinds.
std::string ownName(llvm::StringRef symbol, unsigned kinds) {
  size_t length = 0;
  if (!symbol.consume_front("_Z") || symbol.consumeInteger(10, length)) return {};
  if (length > symbol.size() || !(kindOf(symbol.take_front(length)) & kinds)) return {};
  const std::string name = "__weft_own_" + symbol.take_front(length).str();
  return "_Z" + std::to_string(name.size()) + name + symbol.drop_front(length).str();
}

// On CPUs a branch for small exponents (cl/math_power.cl), sine and cosine that are inlined
// (cl/inline_math.cl) and what needs no loops are faster.
bool isSlower(llvm::StringRef symbol) {
  constexpr llvm::StringLiteral names[] = {"_Z4pown", "_Z6sincos", "_Z6tgamma", "_Z6lgamma"};
  return llvm::any_of(names, [&](llvm::StringRef name) { return symbol.starts_with(name); });
}

template <class Predicate>
void useOwn(llvm::Module& module, unsigned kinds, Predicate&& isWanted) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    const std::string name = ownName(function.getName(), kinds);
    if (!findBuiltinModule(name) || !isWanted(function.getName())) continue;
    if (llvm::Function* known = module.getFunction(name)) {
      function.replaceAllUsesWith(known);
      function.eraseFromParent();
    } else {
      function.setName(name);
    }
  }
}

// A function that calls `function` or `own`, instead of the former.
void defineChoice(llvm::Function& function, llvm::FunctionCallee own, const llvm::Twine& name) {
  llvm::Module& module = *function.getParent();
  auto* choice = llvm::Function::Create(function.getFunctionType(),
                                        llvm::GlobalValue::InternalLinkage, name, module);
  choice->copyAttributesFrom(&function);
  choice->addFnAttr(llvm::Attribute::Convergent);
  choice->addFnAttr(llvm::Attribute::NoInline);
  function.replaceAllUsesWith(choice);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", choice));
  llvm::FunctionCallee query = module.getOrInsertFunction(side_by_side_query, builder.getInt1Ty());
  auto* asked = llvm::cast<llvm::Function>(query.getCallee());
  asked->setDoesNotAccessMemory();
  asked->setDoesNotThrow();
  asked->addFnAttr(llvm::Attribute::WillReturn);
  llvm::CallInst* condition = builder.CreateCall(query);
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : choice->args()) arguments.push_back(&argument);
  llvm::BasicBlock* ways[2];
  for (llvm::BasicBlock*& way : ways)
    way = llvm::BasicBlock::Create(module.getContext(), "", choice);
  builder.CreateCondBr(condition, ways[0], ways[1]);
  for (const bool is_own : {true, false}) {
    builder.SetInsertPoint(ways[is_own ? 0 : 1]);
    llvm::CallInst* call =
        is_own ? builder.CreateCall(own, arguments) : builder.CreateCall(&function, arguments);
    call->setCallingConv(function.getCallingConv());
    call->setAttributes(function.getAttributes());
    if (call->getType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
  }
}

}  // namespace

void useOwnGroupFunctions(llvm::Module& module) {
  useOwn(module, sub_group | work_group, [](llvm::StringRef) { return true; });
  if (llvm::Function* request = module.getFunction(device_queue_call))
    request->setName(own_device_queue_call);
}
void offerOwnSubGroupFunctions(llvm::Module& module) {
  llvm::SmallVector<llvm::Function*> found;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && !function.use_empty() &&
        findBuiltinModule(ownName(function.getName(), sub_group)))
      found.push_back(&function);
  for (llvm::Function* function : found) {
    const std::string name = choice_prefix.str() + function->getName().str();
    if (module.getFunction(name)) continue;  // it is what that one calls
    const std::string own_name = ownName(function->getName(), sub_group);
    llvm::FunctionCallee own = module.getOrInsertFunction(own_name, function->getFunctionType());
    auto* declared = llvm::cast<llvm::Function>(own.getCallee());
    declared->setCallingConv(function->getCallingConv());
    declared->setAttributes(function->getAttributes());
    defineChoice(*function, own, name);
  }
}
void useOwnMath(llvm::Module& module, OwnMath which) {
  useOwn(module, math,
         [which](llvm::StringRef symbol) { return which == OwnMath::all || !isSlower(symbol); });
}

}  // namespace weft::compiler
