// The builtin library's requests to the host about device queues (cl/device_queue.cl).
#include <cstddef>

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/host_services.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

constexpr const char* names_errors = "_Z17weft_names_errorsv";

template <class Rewrite>
void rewriteCalls(llvm::Function* function, Rewrite&& rewrite) {
  if (!function || !function->isDeclaration()) return;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    call->replaceAllUsesWith(rewrite(*call));
    call->eraseFromParent();
  }
  function->eraseFromParent();
}

llvm::Value* callHost(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  const HostService service =
      hostService(builder, *call.getModule(), offsetof(port::HostServices, device_queue));
  auto* type = llvm::FunctionType::get(builder.getInt64Ty(),
                                       {builder.getPtrTy(), builder.getPtrTy()}, false);
  llvm::CallInst* made =
      builder.CreateCall(type, service.function, {service.services, call.getArgOperand(0)});
  made->setDoesNotThrow();
  return made;
}

}  // namespace

bool isDebugged(const llvm::Module& module) {
  return module.getNamedMetadata("llvm.dbg.cu") != nullptr;
}

void chooseErrors(llvm::Module& module, bool named) {
  rewriteCalls(module.getFunction(names_errors),
               [&](llvm::CallInst& call) { return llvm::ConstantInt::get(call.getType(), named); });
}

void lowerDeviceQueueCalls(llvm::Module& module) {
  chooseErrors(module, isDebugged(module));
  rewriteCalls(module.getFunction(device_queue_call), callHost);
}

}  // namespace weft::compiler
