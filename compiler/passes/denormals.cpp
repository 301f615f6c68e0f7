#include "compiler/passes/denormals.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

constexpr unsigned denormals_are_zero = 1u << 6, flush_to_zero = 1u << 15;  // of MXCSR

}  // namespace

void flushWithin(llvm::Function& entry) {
  llvm::BasicBlock& first = entry.getEntryBlock();
  llvm::IRBuilder<> builder(&first, first.getFirstInsertionPt());
  llvm::AllocaInst* const before = builder.CreateAlloca(builder.getInt32Ty());
  llvm::AllocaInst* const within = builder.CreateAlloca(builder.getInt32Ty());
  const auto use = [&](llvm::Value* state) {
    builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {}, {state});
  };
  builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_stmxcsr, {}, {before});
  llvm::Value* const state = builder.CreateLoad(builder.getInt32Ty(), before);
  builder.CreateStore(builder.CreateOr(state, denormals_are_zero | flush_to_zero), within);
  use(within);
  for (llvm::BasicBlock& block : entry) {
    if (!llvm::isa<llvm::ReturnInst>(block.getTerminator())) continue;
    builder.SetInsertPoint(block.getTerminator());
    use(before);
  }
}

void useFlushingInstructions(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isIntrinsic())
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

}  // namespace weft::compiler
