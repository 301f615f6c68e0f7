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

void emitLaneLoops(llvm::IRBuilder<>& builder, const std::array<llvm::Value*, 3>& local_size,
                   llvm::MDNode* access_group, llvm::function_ref<void(const Lane&)> emit) {
  CountedLoop z(builder, local_size[2], "z");
  CountedLoop y(builder, local_size[1], "y");
  llvm::Value* row = builder.CreateMul(z.counter(), local_size[1], "", true, true);
  row = builder.CreateAdd(row, y.counter(), "", true, true);
  row = builder.CreateMul(row, local_size[0], "", true, true);
  CountedLoop x(builder, local_size[0], "x");
  llvm::Value* lane = builder.CreateAdd(row, x.counter(), "lane", true, true);
  emit({{x.counter(), y.counter(), z.counter()}, lane});
  x.close(loopProperties(builder.getContext(), access_group));
  y.close(loopProperties(builder.getContext(), nullptr));
  z.close(loopProperties(builder.getContext(), nullptr));
}

}  // namespace weft::compiler
