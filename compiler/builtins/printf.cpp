// printf calls become calls of HostServices::print with the arguments packed as core/printf.h says.
#include "core/printf.h"

#include <cstddef>
#include <cstring>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::Value;

// Answered by the lowering to lanes with the launch record's HostServices.
constexpr const char* services_query = "__weft_host_services";

PrintfArgument describe(const llvm::Type* type, const llvm::DataLayout& layout) {
  PrintfArgument argument{};
  const llvm::Type* element = type->getScalarType();
  argument.kind = element->isPointerTy()         ? PrintfKind::pointer
                  : element->isFloatingPointTy() ? PrintfKind::floating
                                                 : PrintfKind::integer;
  argument.element_bytes =
      static_cast<uint8_t>(layout.getTypeStoreSize(const_cast<llvm::Type*>(element)));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  argument.count = vector ? vector->getNumElements() : 1;
  return argument;
}

uint64_t packedBytes(const PrintfArgument& argument) {
  const uint64_t data = uint64_t{argument.element_bytes} * argument.count;
  return sizeof argument + (data + 7) / 8 * 8;
}

class CallLowering {
 public:
  explicit CallLowering(llvm::CallInst& call)
      : call_(call), module_(*call.getModule()), builder_(&call) {}

  void lower() {
    uint64_t bytes = 0;
    for (unsigned i = 1; i < call_.arg_size(); ++i)
      bytes += packedBytes(describe(call_.getArgOperand(i)->getType(), module_.getDataLayout()));
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
      const PrintfArgument argument = describe(value->getType(), module_.getDataLayout());
      uint64_t head = 0;
      std::memcpy(&head, &argument, sizeof head);
      store(buffer, offset, builder_.getInt64(head));
      if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType()))
        // Element by element: a three-element vector's store would be four wide.
        for (unsigned e = 0; e < vector->getNumElements(); ++e)
          store(buffer, offset + sizeof head + uint64_t{e} * argument.element_bytes,
                builder_.CreateExtractElement(value, e));
      else
        store(buffer, offset + sizeof head, value);
      offset += packedBytes(argument);
    }
  }

  void store(Value* buffer, uint64_t offset, Value* value) {
    Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), buffer, offset);
    builder_.CreateAlignedStore(value, address, llvm::MaybeAlign(1));
  }

  void callPrint(Value* buffer, uint64_t bytes) {
    llvm::Type* pointer = builder_.getPtrTy();
    llvm::FunctionCallee query = module_.getOrInsertFunction(services_query, pointer);
    auto* function = llvm::cast<llvm::Function>(query.getCallee());
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    Value* services = builder_.CreateCall(query);
    Value* entry = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), services,
                                                       offsetof(port::HostServices, print));
    Value* print = builder_.CreateLoad(pointer, entry);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(),
                                         {pointer, pointer, builder_.getInt64Ty()}, false);
    Value* format = builder_.CreatePointerBitCastOrAddrSpaceCast(call_.getArgOperand(0), pointer);
    builder_.CreateCall(type, print, {format, buffer, builder_.getInt64(bytes)})->setDoesNotThrow();
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
