#include "compiler/passes/lane_loops.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;

// A loop that runs at least once; its body is emitted between construction and close().
class CountedLoop {
 public:
  CountedLoop(llvm::IRBuilder<>& builder, llvm::Value* count, const char* name)
      : builder_(builder), count_(count) {
    BasicBlock* before = builder.GetInsertBlock();
    header_ = BasicBlock::Create(builder.getContext(), name, before->getParent());
    builder.CreateBr(header_);
    builder.SetInsertPoint(header_);
    counter_ = builder.CreatePHI(builder.getInt64Ty(), 2, name);
    counter_->addIncoming(builder.getInt64(0), before);
  }

  llvm::Value* counter() const { return counter_; }

  void close(llvm::MDNode* properties) {
    llvm::Value* next = builder_.CreateAdd(counter_, builder_.getInt64(1), "", true, true);
    BasicBlock* latch = builder_.GetInsertBlock();
    BasicBlock* after = BasicBlock::Create(builder_.getContext(), "after", latch->getParent());
    llvm::BranchInst* branch =
        builder_.CreateCondBr(builder_.CreateICmpULT(next, count_), header_, after);
    branch->setMetadata(llvm::LLVMContext::MD_loop, properties);
    counter_->addIncoming(next, latch);
    builder_.SetInsertPoint(after);
  }

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Value* count_;
  BasicBlock* header_;
  llvm::PHINode* counter_;
};

llvm::MDNode* property(llvm::LLVMContext& context, const char* name, llvm::Metadata* value) {
  llvm::SmallVector<llvm::Metadata*, 2> operands{llvm::MDString::get(context, name)};
  if (value) operands.push_back(value);
  return llvm::MDNode::get(context, operands);
}

llvm::MDNode* loopOf(llvm::LLVMContext& context, llvm::ArrayRef<llvm::Metadata*> properties) {
  llvm::SmallVector<llvm::Metadata*, 4> operands{
      nullptr, property(context, "llvm.loop.unroll.disable", nullptr)};
  llvm::append_range(operands, properties);
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, operands);
  loop->replaceOperandWith(0, loop);
  return loop;
}

llvm::Metadata* one(llvm::LLVMContext& context) {
  return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
}

// Rows of lanes are short (16 is common): interleaving would leave most of them to the scalar
// remainder, and unrolling only makes more code of it.
llvm::MDNode* loopProperties(llvm::LLVMContext& context, llvm::MDNode* access_group) {
  if (!access_group) return loopOf(context, {});
  return loopOf(context, {property(context, "llvm.loop.interleave.count", one(context)),
                          property(context, "llvm.loop.parallel_accesses", access_group)});
}

// One lane after the other.
llvm::MDNode* scalarLoop(llvm::LLVMContext& context) {
  return loopOf(context, {property(context, "llvm.loop.vectorize.width", one(context)),
                          property(context, "llvm.loop.interleave.count", one(context))});
}

}  // namespace

llvm::MDNode* rolledLoop(llvm::LLVMContext& context) { return loopProperties(context, nullptr); }

namespace {

// A loop over the rows of lanes, with what `emit_row` makes as its body: from the row's first lane
// and its ids.
void emitRows(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
              llvm::function_ref<void(const Lane&)> emit_row) {
  CountedLoop z(builder, local_size[2], "z");
  CountedLoop y(builder, local_size[1], "y");
  llvm::Value* row = builder.CreateMul(z.counter(), local_size[1], "", true, true);
  row = builder.CreateAdd(row, y.counter(), "", true, true);
  row = builder.CreateMul(row, local_size[0], "", true, true);
  emit_row({{builder.getInt64(0), y.counter(), z.counter()}, row});
  y.close(loopProperties(builder.getContext(), nullptr));
  z.close(loopProperties(builder.getContext(), nullptr));
}

// The lanes of a work-group in blocks.
class BlockLoops {
 public:
  BlockLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
             const LaneBlockEmitter& emit)
      : builder_(builder), local_size_(local_size), emit_(emit) {}

  void run(llvm::ArrayRef<LaneBlock> blocks);

 private:
  // Vectors of one width in each row.
  struct Stretch {
    unsigned width;
    llvm::Value* begin;
    llvm::Value* count;
  };
  struct Division {
    llvm::SmallVector<Stretch, 2> stretches;
    llvm::Value *rest_begin, *rest;
  };

  Division divide(const LaneBlock& block);
  void emitBlock(const LaneBlock& block, const Division& division, const Lane& first);
  void emitVectors(const LaneBlock& block, const Division& division, const Lane& first);
  void emitIf(llvm::Value* count, llvm::function_ref<void()> emit);
  Lane moved(const Lane& lane, llvm::Value* x, llvm::Value* y);
  BasicBlock* newBlock(const char* name) {
    return BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
  }

  llvm::IRBuilder<>& builder_;
  const std::array<llvm::Value*, 3>& local_size_;
  const LaneBlockEmitter& emit_;
};

BlockLoops::Division BlockLoops::divide(const LaneBlock& block) {
  Division result;
  llvm::Value* begin = builder_.getInt64(0);
  llvm::Value* rest = local_size_[0];
  for (const unsigned width : block.widths) {
    llvm::Value* count = builder_.CreateUDiv(rest, builder_.getInt64(width));
    result.stretches.push_back({width, begin, count});
    llvm::Value* lanes = builder_.CreateMul(count, builder_.getInt64(width), "", true, true);
    begin = builder_.CreateAdd(begin, lanes, "", true, true);
    rest = builder_.CreateSub(rest, lanes, "", true, true);
  }
  result.rest_begin = begin;
  result.rest = rest;
  return result;
}

void BlockLoops::emitIf(llvm::Value* count, llvm::function_ref<void()> emit) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(count)) {
    if (!known->isZero()) emit();
    return;
  }
  BasicBlock *some = newBlock("some"), *next = newBlock("next");
  builder_.CreateCondBr(builder_.CreateIsNotNull(count), some, next);
  builder_.SetInsertPoint(some);
  emit();
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
}

// The lane that is `x` further in its row, `y` rows on.
Lane BlockLoops::moved(const Lane& lane, llvm::Value* x, llvm::Value* y) {
  const auto sum = [&](llvm::Value* a, llvm::Value* b) {
    return builder_.CreateAdd(a, b, "lane", true, true);
  };
  llvm::Value* place = sum(lane.lane, builder_.CreateMul(y, local_size_[0], "", true, true));
  return {{sum(lane.local_id[0], x), sum(lane.local_id[1], y), lane.local_id[2]}, sum(place, x)};
}

void BlockLoops::emitBlock(const LaneBlock& block, const Division& division, const Lane& first) {
  llvm::Value* wanted = block.rows == 1 ? emit_.wanted(first) : nullptr;
  if (!wanted) return emitVectors(block, division, first);
  emitIf(wanted, [&] { emitVectors(block, division, first); });
}

void BlockLoops::emitVectors(const LaneBlock& block, const Division& division, const Lane& first) {
  llvm::Value* zero = builder_.getInt64(0);
  for (const Stretch& stretch : division.stretches)
    emitIf(stretch.count, [&] {
      CountedLoop loop(builder_, stretch.count, "vector");
      llvm::Value* step =
          builder_.CreateMul(loop.counter(), builder_.getInt64(stretch.width), "", true, true);
      llvm::Value* x = builder_.CreateAdd(stretch.begin, step, "", true, true);
      // Values that are the same in all vectors of a row would otherwise be kept for the next one,
      // those of all rows: more than there are registers.
      if (block.rows > 1)
        builder_.CreateFence(llvm::AtomicOrdering::AcquireRelease, llvm::SyncScope::SingleThread);
      emit_.vectors(moved(first, x, zero), block, stretch.width);
      loop.close(loopProperties(builder_.getContext(), nullptr));
    });
  emitIf(division.rest, [&] {
    if (block.rows == 1) return emit_.rest(moved(first, division.rest_begin, zero), division.rest);
    CountedLoop row(builder_, builder_.getInt64(block.rows), "row");
    emit_.rest(moved(first, division.rest_begin, row.counter()), division.rest);
    row.close(loopProperties(builder_.getContext(), nullptr));
  });
}

void BlockLoops::run(llvm::ArrayRef<LaneBlock> blocks) {
  llvm::SmallVector<Division, 3> divisions;
  for (const LaneBlock& block : blocks) divisions.push_back(divide(block));
  llvm::Value* zero = builder_.getInt64(0);
  CountedLoop z(builder_, local_size_[2], "z");
  BasicBlock *before = builder_.GetInsertBlock(), *header = newBlock("y"),
             *latch = newBlock("y.next");
  builder_.CreateBr(header);
  builder_.SetInsertPoint(header);
  llvm::PHINode* y = builder_.CreatePHI(builder_.getInt64Ty(), 2, "y");
  y->addIncoming(zero, before);
  llvm::Value* row = builder_.CreateMul(z.counter(), local_size_[1], "", true, true);
  row = builder_.CreateAdd(row, y, "", true, true);
  const Lane first{{zero, y, z.counter()}, builder_.CreateMul(row, local_size_[0], "", true, true)};
  llvm::SmallVector<std::pair<llvm::Value*, BasicBlock*>, 3> nexts;
  for (auto [block, division] : llvm::zip_equal(blocks, divisions)) {
    BasicBlock* other = nullptr;
    llvm::Value* next = builder_.CreateAdd(y, builder_.getInt64(block.rows), "", true, true);
    if (block.rows > 1) {
      BasicBlock *fit = newBlock("fit"), *here = newBlock("rows");
      other = newBlock("other");
      builder_.CreateCondBr(builder_.CreateICmpULE(next, local_size_[1]), fit, other);
      builder_.SetInsertPoint(fit);
      // Asked only then: it takes as long as some vectors of a short row.
      llvm::Value* suits = emit_.suits(first, block);
      builder_.CreateCondBr(suits ? suits : builder_.getTrue(), here, other);
      builder_.SetInsertPoint(here);
    }
    emitBlock(block, division, first);
    nexts.push_back({next, builder_.GetInsertBlock()});
    builder_.CreateBr(latch);
    if (other) builder_.SetInsertPoint(other);
  }
  builder_.SetInsertPoint(latch);
  llvm::PHINode* next = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  for (auto [value, from] : nexts) next->addIncoming(value, from);
  y->addIncoming(next, latch);
  BasicBlock* after = newBlock("after");
  builder_.CreateCondBr(builder_.CreateICmpULT(next, local_size_[1]), header, after)
      ->setMetadata(llvm::LLVMContext::MD_loop, loopProperties(builder_.getContext(), nullptr));
  builder_.SetInsertPoint(after);
  z.close(loopProperties(builder_.getContext(), nullptr));
}

}  // namespace

void emitCounted(llvm::IRBuilder<>& builder, llvm::Value* count, const char* name,
                 llvm::function_ref<void(llvm::Value*)> emit) {
  CountedLoop loop(builder, count, name);
  emit(loop.counter());
  loop.close(loopProperties(builder.getContext(), nullptr));
}

void emitVectorLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                     llvm::ArrayRef<LaneBlock> blocks, const LaneBlockEmitter& emit) {
  const auto* rows = llvm::dyn_cast<llvm::ConstantInt>(local_size[1]);
  llvm::SmallVector<LaneBlock, 3> possible(blocks);
  if (rows)
    llvm::erase_if(possible, [&](const LaneBlock& b) { return b.rows > rows->getZExtValue(); });
  BlockLoops(builder, local_size, emit).run(possible);
}

void emitLaneLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                   llvm::MDNode* access_group, llvm::function_ref<void(const Lane&)> emit) {
  emitRows(builder, local_size, [&](const Lane& row) {
    CountedLoop x(builder, local_size[0], "x");
    llvm::Value* lane = builder.CreateAdd(row.lane, x.counter(), "lane", true, true);
    emit({{x.counter(), row.local_id[1], row.local_id[2]}, lane});
    x.close(access_group ? loopProperties(builder.getContext(), access_group)
                         : scalarLoop(builder.getContext()));
  });
}

}  // namespace weft::compiler
