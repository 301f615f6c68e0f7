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

// Rows of lanes are short (16 is common): interleaving would leave most of them to the scalar
// remainder, and unrolling only makes more code of it.
llvm::MDNode* loopProperties(llvm::LLVMContext& context, llvm::MDNode* access_group) {
  llvm::SmallVector<llvm::Metadata*, 4> properties{nullptr};
  properties.push_back(property(context, "llvm.loop.unroll.disable", nullptr));
  if (access_group) {
    auto* one =
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
    properties.push_back(property(context, "llvm.loop.interleave.count", one));
    properties.push_back(property(context, "llvm.loop.parallel_accesses", access_group));
  }
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, properties);
  loop->replaceOperandWith(0, loop);
  return loop;
}

}  // namespace

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

// Vectors of one width in each row.
struct VectorStretch {
  unsigned width;
  llvm::Value* begin;
  llvm::Value* count;
};

}  // namespace

void emitCounted(llvm::IRBuilder<>& builder, llvm::Value* count, const char* name,
                 llvm::function_ref<void(llvm::Value*)> emit) {
  CountedLoop loop(builder, count, name);
  emit(loop.counter());
  loop.close(loopProperties(builder.getContext(), nullptr));
}

void emitVectorLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                     llvm::ArrayRef<unsigned> widths,
                     llvm::function_ref<void(const Lane&, unsigned, llvm::Value*)> emit) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  const auto newBlock = [&](const char* name) {
    return BasicBlock::Create(builder.getContext(), name, function);
  };
  llvm::SmallVector<VectorStretch, 2> stretches;
  llvm::Value* begin = builder.getInt64(0);
  llvm::Value* rest = local_size[0];
  for (const unsigned width : widths) {
    llvm::Value* count = builder.CreateUDiv(rest, builder.getInt64(width));
    stretches.push_back({width, begin, count});
    llvm::Value* lanes = builder.CreateMul(count, builder.getInt64(width), "", true, true);
    begin = builder.CreateAdd(begin, lanes, "", true, true);
    rest = builder.CreateSub(rest, lanes, "", true, true);
  }
  emitRows(builder, local_size, [&](const Lane& row) {
    const auto laneAt = [&](llvm::Value* x) {
      return Lane{{x, row.local_id[1], row.local_id[2]},
                  builder.CreateAdd(row.lane, x, "lane", true, true)};
    };
    const auto emitIf = [&](llvm::Value* count, llvm::function_ref<void()> emit_some) {
      BasicBlock *some = newBlock("some"), *next = newBlock("next");
      builder.CreateCondBr(builder.CreateIsNotNull(count), some, next);
      builder.SetInsertPoint(some);
      emit_some();
      builder.CreateBr(next);
      builder.SetInsertPoint(next);
    };
    for (const VectorStretch& stretch : stretches)
      emitIf(stretch.count, [&] {
        CountedLoop loop(builder, stretch.count, "vector");
        llvm::Value* step =
            builder.CreateMul(loop.counter(), builder.getInt64(stretch.width), "", true, true);
        emit(laneAt(builder.CreateAdd(stretch.begin, step, "", true, true)), stretch.width,
             nullptr);
        loop.close(loopProperties(builder.getContext(), nullptr));
      });
    emitIf(rest, [&] { emit(laneAt(begin), widths.back(), rest); });
  });
}

void emitLaneLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                   llvm::MDNode* access_group, llvm::function_ref<void(const Lane&)> emit) {
  emitRows(builder, local_size, [&](const Lane& row) {
    CountedLoop x(builder, local_size[0], "x");
    llvm::Value* lane = builder.CreateAdd(row.lane, x.counter(), "lane", true, true);
    emit({{x.counter(), row.local_id[1], row.local_id[2]}, lane});
    x.close(loopProperties(builder.getContext(), access_group));
  });
}

}  // namespace weft::compiler
