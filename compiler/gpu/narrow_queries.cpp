#include "compiler/gpu/narrow_queries.h"

#include <array>

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Function;

constexpr std::array<llvm::StringLiteral, 8> queries = {
    "_Z13get_global_idj",     "_Z12get_local_idj",
    "_Z12get_group_idj",      "_Z14get_num_groupsj",
    "_Z15get_global_sizej",   "_Z14get_local_sizej",
    "_Z17get_global_offsetj", "_Z23get_enqueued_local_sizej",
};

Function& declaredLike(Function& query, const llvm::Twine& name, unsigned bits) {
  auto* type = llvm::FunctionType::get(llvm::IntegerType::get(query.getContext(), bits),
                                       query.getFunctionType()->params(), false);
  auto* made =
      llvm::cast<Function>(query.getParent()->getOrInsertFunction(name.str(), type).getCallee());
  made->copyAttributesFrom(&query);
  return *made;
}

llvm::CallInst* callLike(llvm::IRBuilder<>& builder, llvm::CallInst& call, Function& callee) {
  llvm::CallInst* made = builder.CreateCall(&callee, {call.getArgOperand(0)});
  made->setAttributes(call.getAttributes());
  made->setCallingConv(call.getCallingConv());
  return made;
}

// The calls of `query` itself.
llvm::SmallVector<llvm::CallInst*> callsOf(Function& query) {
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::User* user : query.users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user);
        call && call->getCalledFunction() == &query)
      calls.push_back(call);
  return calls;
}

void narrow(Function& query) {
  for (llvm::CallInst* call : callsOf(query)) {
    const auto* dimension = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
    if (!dimension || dimension->getZExtValue() > 2) continue;
    for (llvm::User* user : llvm::make_early_inc_range(call->users())) {
      auto* half = llvm::dyn_cast<llvm::TruncInst>(user);
      if (!half || !half->getType()->isIntegerTy(32)) continue;
      llvm::IRBuilder<> builder(call);
      half->replaceAllUsesWith(
          callLike(builder, *call, declaredLike(query, narrow_query + query.getName(), 32)));
      half->eraseFromParent();
    }
    if (call->use_empty()) call->eraseFromParent();
  }
}

void widen(Function& query) {
  for (llvm::CallInst* call : callsOf(query)) {
    llvm::IRBuilder<> builder(call);
    Function& wide = declaredLike(query, query.getName().drop_front(narrow_query.size()), 64);
    call->replaceAllUsesWith(builder.CreateTrunc(callLike(builder, *call, wide), call->getType()));
    call->eraseFromParent();
  }
}

}  // namespace

void narrowQueries(llvm::Module& module) {
  for (llvm::StringRef name : queries)
    if (Function* query = module.getFunction(name); query && query->isDeclaration()) narrow(*query);
}

void widenQueries(llvm::Module& module) {
  for (Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.getName().starts_with(narrow_query)) widen(function);
}

}  // namespace weft::compiler
