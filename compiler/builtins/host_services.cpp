#include "compiler/builtins/host_services.h"

#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

// Answered by the lowering to lanes with the launch record's HostServices.
constexpr const char* services_query = "__weft_host_services";

}  // namespace

HostService hostService(llvm::IRBuilder<>& builder, llvm::Module& module, size_t offset) {
  llvm::Type* pointer = builder.getPtrTy();
  llvm::FunctionCallee query = module.getOrInsertFunction(services_query, pointer);
  auto* function = llvm::cast<llvm::Function>(query.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  llvm::Value* services = builder.CreateCall(query);
  llvm::Value* entry = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), services, offset);
  return {services, builder.CreateLoad(pointer, entry)};
}

}  // namespace weft::compiler
