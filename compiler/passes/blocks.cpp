#include "compiler/passes/blocks.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "core/image.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::Function;

constexpr const char* kernel_mark = "weft-block-kernel";
constexpr const char* function_mark = "weft-block-function";

// Clang tells of each argument of a kernel that the program wrote.
bool isUndescribed(const Function& function) {
  return function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL && !function.isDeclaration() &&
         !function.getMetadata("kernel_arg_addr_space");
}

// By the name that Clang gives it; a program's own function is not the module's alone.
bool isBlockFunction(const Function& function) {
  return function.hasLocalLinkage() && function.getName().contains("_block_invoke");
}

// -cl-uniform-work-group-size, which Clang notes on the other kernels.
bool hasUniformGroups(const llvm::Module& module) {
  return llvm::any_of(module, [](const Function& function) {
    return function.getFnAttribute("uniform-work-group-size").getValueAsBool();
  });
}

// The range is passed by value in one of the functions that take it and by address in the others.
void passRangeByAddress(Function* enqueue) {
  if (!enqueue) return;
  for (llvm::User* user : enqueue->users())
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
      for (unsigned i = 0; i < call->arg_size(); ++i)
        call->removeParamAttr(i, llvm::Attribute::ByVal);
}

bool isServiceCall(const llvm::CallBase& call) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(call.getCalledOperand());
  if (!load) return false;
  const auto* query =
      llvm::dyn_cast<llvm::CallBase>(load->getPointerOperand()->stripInBoundsOffsets());
  return query && query->getCalledFunction();
}

// Through a pointer that is not one of the host's services.
bool callsThroughPointers(llvm::Module& module) {
  for (Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && !call->getCalledFunction() && !call->isInlineAsm() && !isServiceCall(*call))
        return true;
    }
  return false;
}

}  // namespace

void markBlocks(llvm::Module& module) {
  const bool uniform = hasUniformGroups(module);
  for (Function& function : module) {
    if (isBlockFunction(function)) function.addFnAttr(function_mark);
    if (!isUndescribed(function)) continue;
    function.addFnAttr(kernel_mark);
    if (uniform) function.addFnAttr("uniform-work-group-size", "true");
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  passRangeByAddress(module.getFunction("__enqueue_kernel_basic"));
}

std::string entryName(llvm::StringRef kernel) {
  std::string name = entry_prefix;
  for (const char character : kernel) {
    if (llvm::isAlnum(character) || character == '_' || character == '.' || character == '$')
      name += character;
    else
      name += "$" + llvm::utohexstr(static_cast<uint8_t>(character), /*LowerCase=*/true, 2);
  }
  return name;
}

bool isBlockKernel(const Function& function) { return function.hasFnAttribute(kernel_mark); }

void nameBlockKernels(llvm::Module& module) {
  for (Function& kernel : llvm::make_early_inc_range(module)) {
    if (!isBlockKernel(kernel)) continue;
    kernel.setLinkage(llvm::GlobalValue::ExternalLinkage);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false);
    Function* entry = Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       entryName(kernel.getName()), module);
    kernel.replaceAllUsesWith(entry);
  }
}

void numberBlockKernels(llvm::Module& module, const std::vector<KernelInfo>& kernels) {
  uint64_t number = 0;
  for (const KernelInfo& info : kernels) {
    if (!info.is_block) continue;
    ++number;
    Function* kernel = module.getFunction(info.name);
    if (!kernel) continue;
    kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
    auto* constant = llvm::ConstantInt::get(llvm::Type::getInt64Ty(module.getContext()), number);
    for (llvm::User* user : llvm::make_early_inc_range(kernel->users()))
      if (auto* cast = llvm::dyn_cast<llvm::ConstantExpr>(user))
        cast->replaceAllUsesWith(llvm::ConstantExpr::getIntToPtr(constant, cast->getType()));
    kernel->removeDeadConstantUsers();
    kernel->replaceAllUsesWith(llvm::ConstantExpr::getIntToPtr(constant, kernel->getType()));
  }
}

void addProfileWriter(llvm::Module& module, std::vector<KernelInfo>& kernels) {
  constexpr unsigned global_space = 1, values = 2;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const number = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(context),
      {llvm::PointerType::get(context, global_space), number, number}, false);
  Function* kernel = Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                      port::profile_writer_symbol, module);
  kernel->setCallingConv(llvm::CallingConv::SPIR_KERNEL);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", kernel));
  for (unsigned i = 0; i < values; ++i)
    builder.CreateStore(kernel->getArg(i + 1),
                        builder.CreateConstGEP1_64(number, kernel->getArg(0), i));
  builder.CreateRetVoid();
  KernelInfo& info = kernels.emplace_back();
  info.name = port::profile_writer_symbol;
  info.is_block = true;
  info.arguments.resize(kernel->arg_size());
  for (ArgumentInfo& argument : info.arguments)
    argument.size = argument.alignment = sizeof(uint64_t);
}

void forgetBlockFunctions(llvm::Module& module) {
  if (callsThroughPointers(module)) return;
  for (Function& function : module) {
    if (!function.hasFnAttribute(function_mark)) continue;
    llvm::SmallVector<llvm::CallBase*> calls;
    for (llvm::Use& use : function.uses())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser()); call && call->isCallee(&use))
        calls.push_back(call);
    function.replaceAllUsesWith(llvm::ConstantPointerNull::get(function.getType()));
    for (llvm::CallBase* call : calls) call->setCalledOperand(&function);
  }
}

}  // namespace weft::compiler
