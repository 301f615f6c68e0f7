#include "compiler/gpu/named_barriers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/builtins/builtins.h"
#include "core/ports/capabilities.h"

namespace weft::compiler {
namespace {

constexpr llvm::StringLiteral number_query = "__weft_barrier_number";

llvm::SmallVector<llvm::GlobalVariable*> barriersOf(llvm::Function& kernel) {
  llvm::SmallVector<llvm::GlobalVariable*> found;
  for (llvm::GlobalVariable& variable : kernel.getParent()->globals()) {
    if (!variable.getName().starts_with(named_barrier_variable)) continue;
    const bool used = llvm::any_of(variable.users(), [&](const llvm::User* user) {
      return llvm::cast<llvm::Instruction>(user)->getFunction() == &kernel;
    });
    if (used) found.push_back(&variable);
  }
  return found;
}

// Mostly the place of one of them, whose number is a constant then.
llvm::Value* numberOf(llvm::CallInst& query, llvm::ArrayRef<llvm::GlobalVariable*> barriers) {
  llvm::IRBuilder<> builder(&query);
  llvm::Value* number = builder.getInt32(1);
  for (uint32_t i = 1; i < barriers.size(); ++i) {
    llvm::Value* is = builder.CreateICmpEQ(query.getArgOperand(0), barriers[i]);
    number = builder.CreateSelect(is, builder.getInt32(i + 1), number);
  }
  return number;
}

}  // namespace

void chooseNamedBarriers(llvm::Module& module, NamedBarriers kind) {
  if (llvm::Function* barrier = module.getFunction(named_barrier_call))
    barrier->setName(kind == NamedBarriers::of_hardware ? "__weft_warps_named_barrier"
                                                        : "__weft_counted_named_barrier");
}

llvm::Error numberNamedBarriers(const GpuKernel& kernel) {
  llvm::SmallVector<llvm::CallInst*> queries;
  for (llvm::Instruction& instruction : llvm::instructions(*kernel.function)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && call->getCalledFunction() && call->getCalledFunction()->getName() == number_query)
      queries.push_back(call);
  }
  if (queries.empty()) return llvm::Error::success();
  const auto barriers = barriersOf(*kernel.function);
  if (barriers.size() > port::gpu_named_barriers)
    return llvm::createStringError("kernel '" + kernel.name + "': the device has no more than " +
                                   std::to_string(port::gpu_named_barriers) + " named barriers");
  for (llvm::CallInst* query : queries) {
    query->replaceAllUsesWith(numberOf(*query, barriers));
    query->eraseFromParent();
  }
  return llvm::Error::success();
}

}  // namespace weft::compiler
