// Atomic operations by all lanes of which nobody wants the old values.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

// Processors keep in mind what each instruction in a loop that writes memory has met, and of so
// many only: on Zen 4 an update takes 0.5 ns where a loop has up to 32, 7.5 ns where it has 48.
constexpr unsigned most_updates = 16;

}  // namespace

// Clang's are volatile, as what the atomic functions take is. Each lane does its own either way.
bool isUpdate(const Instruction& instruction) {
  return llvm::isa<llvm::AtomicRMWInst>(instruction) && instruction.use_empty();
}

// Not one lane after the other in a loop: there the lanes' addresses come through memory, and each
// waited for a store, where here they come out of registers.
void VectorBody::emitUpdates(Instruction& update) {
  if (options_.width <= most_updates) {
    updateLanes(update, options_.width, [&](Value* operand) { return wide(operand); });
    return;
  }
  llvm::DenseMap<Value*, llvm::AllocaInst*> kept;
  llvm::IRBuilder<> variables(entry_, entry_->begin());
  for (Value* operand : update.operands()) {
    if (isScalar(operand)) continue;
    kept[operand] = variables.CreateAlloca(vectorOf(operand->getType()), nullptr, "lanes");
    builder_.CreateStore(wide(operand), kept[operand]);
  }
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* loop = newBlock("updates");
  BasicBlock* after = newBlock("after");
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* first = builder_.CreatePHI(builder_.getInt64Ty(), 2, "first");
  first->addIncoming(builder_.getInt64(0), before);
  updateLanes(update, most_updates, [&](Value* operand) {
    llvm::Type* type = operand->getType();
    return builder_.CreateLoad(llvm::FixedVectorType::get(type, most_updates),
                               builder_.CreateGEP(type, kept[operand], first));
  });
  Value* next = builder_.CreateAdd(first, builder_.getInt64(most_updates));
  first->addIncoming(next, loop);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(options_.width)), loop,
                        after);
  builder_.SetInsertPoint(after);
}

void VectorBody::updateLanes(const Instruction& update, unsigned count,
                             llvm::function_ref<Value*(Value*)> lanes) {
  llvm::DenseMap<Value*, Value*> wide_operands;
  for (Value* operand : update.operands())
    if (!isScalar(operand)) wide_operands[operand] = lanes(operand);
  for (unsigned i = 0; i < count; ++i) {
    Instruction* copy = update.clone();
    for (llvm::Use& operand : copy->operands()) {
      Value* const all = wide_operands.lookup(operand.get());
      operand.set(all ? builder_.CreateExtractElement(all, i) : scalar(operand.get()));
    }
    builder_.Insert(copy);
  }
}

// Loops with updates have no more of them than they were made with.
void VectorBody::keepUpdatesFew(const llvm::DominatorTree& tree) {
  const llvm::LoopInfo loops(tree);
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    if (llvm::any_of(loop->blocks(), [&](BasicBlock* block) {
          return loops.getLoopFor(block) == loop && llvm::any_of(*block, isUpdate);
        }))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
}

}  // namespace weft::compiler
