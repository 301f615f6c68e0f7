#include "compiler/gpu/unrolling.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace weft::compiler {
namespace {

constexpr size_t longest_body = 64;  // instructions
constexpr unsigned turns = 4;

bool isShort(const llvm::Loop& loop) {
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->sizeWithoutDebug();
  return instructions <= longest_body;
}

bool isSpokenFor(const llvm::Loop& loop) {
  const llvm::MDNode* id = loop.getLoopID();
  if (!id) return false;
  return llvm::any_of(llvm::drop_begin(id->operands()), [](const llvm::MDOperand& operand) {
    const auto* hint = llvm::dyn_cast<llvm::MDNode>(operand);
    const auto* name = hint && hint->getNumOperands() > 0
                           ? llvm::dyn_cast<llvm::MDString>(hint->getOperand(0))
                           : nullptr;
    return name && name->getString().starts_with("llvm.loop.unroll");
  });
}

llvm::MDNode* hint(llvm::LLVMContext& context, llvm::StringRef name, llvm::Metadata* value) {
  return llvm::MDNode::get(context, {llvm::MDString::get(context, name), value});
}

// What is known of the loop afterwards is that it makes progress: else the unroller would forbid
// all others to go on, and the driver's compiler is told of that.
void ask(llvm::Loop& loop) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  auto* count =
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), turns));
  auto* progress =
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.mustprogress"));
  loop.setLoopID(llvm::makePostTransformationMetadata(
      context, loop.getLoopID(), {},
      {hint(context, "llvm.loop.unroll.count", count),
       hint(context, "llvm.loop.unroll.followup_unrolled", progress)}));
}

}  // namespace

llvm::PreservedAnalyses UnrollShortLoops::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && isShort(*loop) && !isSpokenFor(*loop)) ask(*loop);
  return llvm::PreservedAnalyses::all();
}

}  // namespace weft::compiler
