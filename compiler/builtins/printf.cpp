// printf calls become calls of HostServices::print with the arguments packed as core/printf.h says.
#include <cstddef>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/host_services.h"
#include "compiler/builtins/printf_arguments.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::Value;

class CallLowering {
 public:
  explicit CallLowering(llvm::CallInst& call)
      : call_(call), module_(*call.getModule()), builder_(&call) {}

  void lower() {
    uint64_t bytes = 0;
    for (unsigned i = 1; i < call_.arg_size(); ++i)
      bytes +=
          packedBytes(describeArgument(call_.getArgOperand(i)->getType(), module_.getDataLayout()));
    Value* buffer = bytes ? allocate(bytes) : llvm::ConstantPointerNull::get(builder_.getPtrTy());
    pack(buffer);
    callPrint(buffer, bytes);
    if (bytes) builder_.CreateLifetimeEnd(buffer, builder_.getInt64(bytes));
    call_.replaceAllUsesWith(llvm::ConstantInt::get(call_.getType(), 0));
    call_.eraseFromParent();
  }

 private:
  // In the entry block: one place in the frame, however often the call runs.
  Value* allocate(uint64_t bytes) {
    llvm::BasicBlock& entry = call_.getFunction()->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    auto* buffer = at_entry.CreateAlloca(at_entry.getInt64Ty(), at_entry.getInt64(bytes / 8));
    builder_.CreateLifetimeStart(buffer, builder_.getInt64(bytes));
    return buffer;
  }

  void pack(Value* buffer) {
    uint64_t offset = 0;
    for (unsigned i = 1; i < call_.arg_size(); ++i) {
      Value* value = call_.getArgOperand(i);
      storeArgument(builder_,
                    builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), buffer, offset),
                    value);
      offset += packedBytes(describeArgument(value->getType(), module_.getDataLayout()));
    }
  }

  void callPrint(Value* buffer, uint64_t bytes) {
    llvm::Type* pointer = builder_.getPtrTy();
    const HostService service = hostService(builder_, module_, offsetof(port::HostServices, print));
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(),
                                         {pointer, pointer, builder_.getInt64Ty()}, false);
    Value* format = builder_.CreatePointerBitCastOrAddrSpaceCast(call_.getArgOperand(0), pointer);
    builder_.CreateCall(type, service.function, {format, buffer, builder_.getInt64(bytes)})
        ->setDoesNotThrow();
  }

  llvm::CallInst& call_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

bool lowerPrintf(llvm::Module& module) {
  llvm::Function* function = module.getFunction("printf");
  if (!function || !function->isDeclaration()) return false;
  bool any = false;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledOperand() != function) continue;
    CallLowering(*call).lower();
    any = true;
  }
  if (function->use_empty()) function->eraseFromParent();
  return any;
}

}  // namespace weft::compiler
