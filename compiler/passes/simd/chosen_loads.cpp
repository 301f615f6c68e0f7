#include "compiler/passes/simd/chosen_loads.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/passes/simd/neighbours.h"

namespace weft::compiler {
namespace {

using llvm::GetElementPtrInst;
using llvm::LoadInst;
using llvm::Value;

// The choice that an address is made of, which each lane makes for itself between places where
// lanes are neighbours; null if there is none.
llvm::SelectInst* choiceIn(Value* pointer, const LaneShapes& shapes) {
  while (auto* element = llvm::dyn_cast<GetElementPtrInst>(pointer)) {
    if (!llvm::all_of(element->indices(), [&](Value* index) {
          return !shapes.isVarying(index) || mayBeNeighbours(index, shapes);
        }))
      return nullptr;
    pointer = element->getPointerOperand();
  }
  auto* choice = llvm::dyn_cast<llvm::SelectInst>(pointer);
  if (!choice || !shapes.isVarying(choice) || !choice->getCondition()->getType()->isIntegerTy(1) ||
      shapes.isVarying(choice->getTrueValue()) || shapes.isVarying(choice->getFalseValue()))
    return nullptr;
  return choice;
}

// The address with `place` for the choice.
Value* addressWith(llvm::IRBuilder<>& builder, Value* pointer, const llvm::SelectInst& choice,
                   Value* place) {
  if (pointer == &choice) return place;
  auto* copy = llvm::cast<GetElementPtrInst>(pointer)->clone();
  copy->setOperand(GetElementPtrInst::getPointerOperandIndex(),
                   addressWith(builder, copy->getOperand(0), choice, place));
  return builder.Insert(copy);
}

void branchTo(LoadInst& load, llvm::SelectInst& choice) {
  llvm::Instruction *chosen = nullptr, *other = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(choice.getCondition(), load.getIterator(), &chosen, &other);
  llvm::IRBuilder<> builder(&load);
  llvm::PHINode* either = builder.CreatePHI(load.getType(), 2);
  for (auto [end, place] :
       {std::pair(chosen, choice.getTrueValue()), std::pair(other, choice.getFalseValue())}) {
    builder.SetInsertPoint(end);
    auto* copy = llvm::cast<LoadInst>(load.clone());
    copy->setOperand(LoadInst::getPointerOperandIndex(),
                     addressWith(builder, load.getPointerOperand(), choice, place));
    builder.Insert(copy);
    either->addIncoming(copy, end->getParent());
  }
  either->takeName(&load);
  load.replaceAllUsesWith(either);
  Value* pointer = load.getPointerOperand();
  load.eraseFromParent();
  llvm::RecursivelyDeleteTriviallyDeadInstructions(pointer);
}

}  // namespace

bool branchToChosenLoads(llvm::Function& lane, const LaneShapes& shapes) {
  llvm::SmallVector<std::pair<LoadInst*, llvm::SelectInst*>> found;
  for (llvm::Instruction& instruction : llvm::instructions(lane))
    if (auto* load = llvm::dyn_cast<LoadInst>(&instruction); load && load->isSimple())
      if (llvm::SelectInst* choice = choiceIn(load->getPointerOperand(), shapes))
        found.emplace_back(load, choice);
  for (const auto& [load, choice] : found) branchTo(*load, *choice);
  return !found.empty();
}

}  // namespace weft::compiler
