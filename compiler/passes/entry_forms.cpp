#include "compiler/passes/entry_forms.h"

#include <cstddef>

#include <llvm/IR/IRBuilder.h>

#include "compiler/passes/joint_groups.h"
#include "compiler/passes/regions.h"
#include "compiler/passes/turned_body.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr unsigned record_argument = 1, box_argument = 2;

// In the launch's own dimensions, as all entries are called.
Value* element(Builder& builder, Value* structure, size_t offset, unsigned dimension) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), structure,
                                            offset + dimension * sizeof(uint64_t));
}

Value* load(Builder& builder, Value* structure, size_t offset, unsigned dimension = 0) {
  return builder.CreateLoad(builder.getInt64Ty(), element(builder, structure, offset, dimension));
}

// Cuts the entry before its code: returns what follows, to which its first block has no way yet.
BasicBlock* openEntry(Function& entry) {
  BasicBlock& first = entry.getEntryBlock();
  BasicBlock* usual = first.splitBasicBlock(first.getFirstNonPHIOrDbgOrAlloca(), "usual");
  first.getTerminator()->eraseFromParent();
  return usual;
}

void call(Builder& builder, Function& entry, Function& form, Value* box) {
  form.setLinkage(llvm::GlobalValue::InternalLinkage);
  form.addFnAttr(llvm::Attribute::NoInline);
  llvm::SmallVector<Value*> arguments;
  for (llvm::Argument& argument : entry.args()) arguments.push_back(&argument);
  arguments[box_argument] = box;
  llvm::CallInst* call = builder.CreateCall(&form, arguments);
  if (llvm::DISubprogram* place = entry.getSubprogram())
    call->setDebugLoc(llvm::DILocation::get(entry.getContext(), place->getLine(), 0, place));
}

// How many groups of the box, from its first in dimension 0 on, make whole pairs.
Value* groupsInPairs(Builder& builder, Value* record, Value* box) {
  using Record = port::LaunchRecord;
  Value* count = load(builder, record, offsetof(Record, group_count));
  Value* lanes = builder.CreateMul(count, load(builder, record, offsetof(Record, local_size)));
  Value* cut = builder.CreateICmpUGT(lanes, load(builder, record, offsetof(Record, global_size)));
  Value* whole = builder.CreateSub(count, builder.CreateZExt(cut, builder.getInt64Ty()));
  Value* end = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, whole,
                                             load(builder, box, offsetof(port::GroupBox, end)));
  Value* groups = builder.CreateBinaryIntrinsic(
      llvm::Intrinsic::usub_sat, end, load(builder, box, offsetof(port::GroupBox, begin)));
  return builder.CreateAnd(groups, ~uint64_t{joint_groups - 1});
}

}  // namespace

void addTurned(Function& entry, Function& turned) {
  BasicBlock* usual = openEntry(entry);
  BasicBlock* other = BasicBlock::Create(entry.getContext(), "turned", &entry);
  Builder builder(&entry.getEntryBlock());
  const auto size = [&](unsigned dimension) {
    return load(builder, entry.getArg(record_argument), offsetof(port::LaunchRecord, local_size),
                dimension);
  };
  Value *x = size(0), *y = size(1);
  Value* suits = builder.CreateOr(builder.CreateICmpUGE(y, x),
                                  builder.CreateICmpUGE(y, builder.getInt64(long_row)));
  builder.CreateCondBr(suits, other, usual);
  builder.SetInsertPoint(other);
  call(builder, entry, turned, entry.getArg(box_argument));
  builder.CreateRetVoid();
}

void addSubGroupVectors(Function& entry, Function& vectors, uint32_t width, uint32_t least_row) {
  using Record = port::LaunchRecord;
  BasicBlock* usual = openEntry(entry);
  BasicBlock* other = BasicBlock::Create(entry.getContext(), "sub_group_vectors", &entry);
  Builder builder(&entry.getEntryBlock());
  Value* record = entry.getArg(record_argument);
  Value* size = load(builder, record, offsetof(Record, global_size));
  const auto isWhole = [&](Value* row) {
    return builder.CreateIsNull(builder.CreateAnd(row, builder.getInt64(width - 1)));
  };
  const auto isOne = [&](unsigned dimension) {
    return builder.CreateICmpEQ(load(builder, record, offsetof(Record, local_size), dimension),
                                builder.getInt64(1));
  };
  Value* row = load(builder, record, offsetof(Record, local_size));
  Value* whole_rows = builder.CreateAnd(isWhole(row), isWhole(size));
  Value* suits = builder.CreateOr(whole_rows, builder.CreateAnd(isOne(1), isOne(2)));
  suits = builder.CreateAnd(suits, builder.CreateICmpUGE(row, builder.getInt64(least_row)));
  Value* end = builder.CreateAdd(load(builder, record, offsetof(Record, global_offset)), size);
  constexpr uint64_t most = (uint64_t{1} << 31) - most_narrowed_offset;
  suits = builder.CreateAnd(suits, builder.CreateICmpULE(end, builder.getInt64(most)));
  builder.CreateCondBr(suits, other, usual);
  builder.SetInsertPoint(other);
  call(builder, entry, vectors, entry.getArg(box_argument));
  builder.CreateRetVoid();
}

void addJoint(Function& entry, Function& joint, uint64_t row_length) {
  BasicBlock* usual = openEntry(entry);
  BasicBlock& first = entry.getEntryBlock();
  BasicBlock* pairs = BasicBlock::Create(entry.getContext(), "pairs", &entry, usual);
  Builder builder(&first);
  Value *record = entry.getArg(record_argument), *box = entry.getArg(box_argument);
  auto* type = llvm::ArrayType::get(builder.getInt8Ty(), sizeof(port::GroupBox));
  llvm::AllocaInst* part = builder.CreateAlloca(type, nullptr, "part");
  part->setAlignment(llvm::Align(alignof(port::GroupBox)));
  Value* groups = groupsInPairs(builder, record, box);
  Value* suits = builder.CreateIsNotNull(groups);
  if (row_length) {
    Value* row = load(builder, record, offsetof(port::LaunchRecord, local_size));
    suits = builder.CreateAnd(suits, builder.CreateICmpEQ(row, builder.getInt64(row_length)));
  }
  builder.CreateCondBr(suits, pairs, usual);

  builder.SetInsertPoint(pairs);
  const auto place = [&](size_t offset) { return element(builder, part, offset, 0); };
  Value* begin = load(builder, box, offsetof(port::GroupBox, begin));
  Value* rest = builder.CreateAdd(begin, groups, "", true, true);
  const auto copy = [&] {
    builder.CreateMemCpy(part, part->getAlign(), box, llvm::Align(alignof(port::GroupBox)),
                         sizeof(port::GroupBox));
  };
  copy();
  builder.CreateStore(rest, place(offsetof(port::GroupBox, end)));
  call(builder, entry, joint, part);
  copy();
  builder.CreateStore(rest, place(offsetof(port::GroupBox, begin)));
  builder.CreateBr(usual);

  builder.SetInsertPoint(usual, usual->begin());
  llvm::PHINode* remaining = builder.CreatePHI(builder.getPtrTy(), 2, "box");
  box->replaceUsesWithIf(remaining, [&](llvm::Use& use) {
    const BasicBlock* user = llvm::cast<llvm::Instruction>(use.getUser())->getParent();
    return user != &first && user != pairs;
  });
  remaining->addIncoming(box, &first);
  remaining->addIncoming(part, pairs);
}

}  // namespace weft::compiler
