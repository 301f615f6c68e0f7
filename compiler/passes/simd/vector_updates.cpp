// Atomic operations by all lanes: on one object, or such that nobody wants the old values.
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

// What changes nothing.
llvm::Constant* neutral(const llvm::AtomicRMWInst& update) {
  using llvm::AtomicRMWInst;
  const auto bits = update.getType()->getIntegerBitWidth();
  switch (update.getOperation()) {
    case AtomicRMWInst::And:
    case AtomicRMWInst::UMin:
      return llvm::Constant::getAllOnesValue(update.getType());
    case AtomicRMWInst::Min:
      return llvm::ConstantInt::get(update.getType(), llvm::APInt::getSignedMaxValue(bits));
    case AtomicRMWInst::Max:
      return llvm::ConstantInt::get(update.getType(), llvm::APInt::getSignedMinValue(bits));
    default:
      return llvm::Constant::getNullValue(update.getType());
  }
}

// What all lanes together do to what is there.
Value* combined(llvm::IRBuilder<>& builder, const llvm::AtomicRMWInst& update, Value* lanes) {
  using llvm::AtomicRMWInst;
  switch (const auto operation = update.getOperation()) {
    case AtomicRMWInst::And:
      return builder.CreateAndReduce(lanes);
    case AtomicRMWInst::Or:
      return builder.CreateOrReduce(lanes);
    case AtomicRMWInst::Xor:
      return builder.CreateXorReduce(lanes);
    case AtomicRMWInst::Max:
    case AtomicRMWInst::UMax:
      return builder.CreateIntMaxReduce(lanes, operation == AtomicRMWInst::Max);
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMin:
      return builder.CreateIntMinReduce(lanes, operation == AtomicRMWInst::Min);
    default:
      return builder.CreateAddReduce(lanes);
  }
}

// Sums of the lanes up to each, itself included.
Value* runningSums(llvm::IRBuilder<>& builder, Value* lanes, unsigned width) {
  Value* const zeros = llvm::Constant::getNullValue(lanes->getType());
  for (unsigned distance = 1; distance < width; distance *= 2) {
    llvm::SmallVector<int> moved(width);
    for (unsigned i = 0; i < width; ++i)
      moved[i] = static_cast<int>(i < distance ? i : width + i - distance);
    lanes = builder.CreateAdd(lanes, builder.CreateShuffleVector(zeros, lanes, moved));
  }
  return lanes;
}

}  // namespace

bool unitesLanes(const Instruction& instruction, const LaneShapes& shapes) {
  using llvm::AtomicRMWInst;
  auto* update = llvm::dyn_cast<AtomicRMWInst>(&instruction);
  if (!update || !update->getType()->isIntegerTy() ||
      !shapes.isUniform(update->getPointerOperand()))
    return false;
  switch (update->getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
      return true;
    case AtomicRMWInst::And:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::Max:
    case AtomicRMWInst::UMax:
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMin:
      return update->use_empty();
    default:
      return false;
  }
}

// Clang's are volatile, as what the atomic functions take is. Each lane does its own either way.
bool isUpdate(const Instruction& instruction) {
  return llvm::isa<llvm::AtomicRMWInst>(instruction) && instruction.use_empty();
}

// All lanes update one object: as if nobody else did meanwhile.
void VectorBody::emitUnited(llvm::AtomicRMWInst& update) {
  Value* lanes = wide(update.getValOperand());
  if (mask_)
    lanes = builder_.CreateSelect(mask_, lanes,
                                  builder_.CreateVectorSplat(options_.width, neutral(update)));
  Value* sums = nullptr;
  if (!update.use_empty()) sums = runningSums(builder_, lanes, options_.width);
  auto* const once = llvm::cast<llvm::AtomicRMWInst>(update.clone());
  once->setOperand(0, scalar(update.getPointerOperand()));
  once->setOperand(1, sums ? builder_.CreateExtractElement(sums, options_.width - 1)
                           : combined(builder_, update, lanes));
  builder_.Insert(once);
  if (!sums) return;
  Value* const old = builder_.CreateVectorSplat(options_.width, once);
  Value* const before = builder_.CreateSub(sums, lanes);
  setParts(update,
           {update.getOperation() == llvm::AtomicRMWInst::Add ? builder_.CreateAdd(old, before)
                                                              : builder_.CreateSub(old, before)});
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

namespace {

bool isCallOf(const Instruction& instruction, llvm::Intrinsic::ID id) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == id;
}

}  // namespace

// Loops with updates have no more of them than they were made with; nor have those of gathers and
// scatters, each of which is so many loads and stores.
void VectorBody::keepUpdatesFew(const llvm::DominatorTree& tree) {
  const llvm::LoopInfo loops(tree);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    bool updates = false, gathers = false, scatters = false;
    for (const BasicBlock* block : loop->blocks()) {
      if (loops.getLoopFor(block) != loop) continue;
      for (const Instruction& instruction : *block) {
        updates |= isUpdate(instruction);
        gathers |= isCallOf(instruction, llvm::Intrinsic::masked_gather);
        scatters |= isCallOf(instruction, llvm::Intrinsic::masked_scatter);
      }
    }
    if (updates || (gathers && scatters))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
  }
}

}  // namespace weft::compiler
