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
    if (properties) branch->setMetadata(llvm::LLVMContext::MD_loop, properties);
    counter_->addIncoming(next, latch);
    builder_.SetInsertPoint(after);
  }

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Value* count_;
  BasicBlock* header_;
  llvm::PHINode* counter_;
};

llvm::MDNode* loopProperties(llvm::LLVMContext& context, llvm::MDNode* access_group) {
  if (!access_group) return nullptr;
  auto* parallel = llvm::MDNode::get(
      context, {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), access_group});
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, parallel});
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
  y.close(nullptr);
  z.close(nullptr);
}

}  // namespace weft::compiler
