#include "compiler/gpu/private_variables.h"

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace weft::compiler {
namespace {

// At least.
void setAlignment(llvm::Instruction& access, llvm::Align alignment) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access))
    load->setAlignment(std::max(load->getAlign(), alignment));
  else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access))
    store->setAlignment(std::max(store->getAlign(), alignment));
}

}  // namespace

void moveVariables(llvm::Function& function, unsigned space) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        call && call->isLifetimeStartOrEnd()) {
      call->eraseFromParent();
      continue;
    }
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || variable->getAddressSpace() == space) continue;
    llvm::IRBuilder<> builder(variable);
    auto* moved =
        builder.CreateAlloca(variable->getAllocatedType(), space, variable->getArraySize());
    moved->setAlignment(variable->getAlign());
    variable->replaceAllUsesWith(builder.CreateAddrSpaceCast(moved, variable->getType()));
    variable->eraseFromParent();
  }
}

void nameVariables(llvm::Function& function, unsigned space) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || !variable->isStaticAlloca()) continue;
    llvm::IRBuilder<> builder(variable->getNextNode());
    auto* named = builder.CreateAddrSpaceCast(variable, builder.getPtrTy(space));
    auto* generic = builder.CreateAddrSpaceCast(named, variable->getType());
    variable->replaceUsesWithIf(generic, [&](const llvm::Use& use) {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(use.getUser());
      return use.getUser() != named && !(call && call->isLifetimeStartOrEnd());
    });
  }
}

llvm::PreservedAnalyses AlignArrays::run(llvm::Function& function,
                                         llvm::FunctionAnalysisManager& analyses) {
  const llvm::Align widest_access(16);
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    const auto size = variable ? variable->getAllocationSize(layout) : std::nullopt;
    if (size && size->getKnownMinValue() >= widest_access.value() &&
        variable->getAlign() < widest_access)
      variable->setAlignment(widest_access);
  }
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Instruction& access : llvm::instructions(function)) {
    llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
    const llvm::SCEV* place = pointer ? evolution.getSCEV(pointer) : nullptr;
    const auto* base =
        place ? llvm::dyn_cast<llvm::SCEVUnknown>(evolution.getPointerBase(place)) : nullptr;
    if (!base || !llvm::isa<llvm::AllocaInst>(base->getValue())) continue;
    const uint32_t zeros = evolution.getMinTrailingZeros(place);
    setAlignment(access, std::min(llvm::Align(uint64_t{1} << std::min(zeros, 8u)), widest_access));
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace weft::compiler
