#include "compiler/gpu/host_module.h"

#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ReplaceConstant.h>

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::GlobalVariable;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr unsigned local_space = 3;
constexpr uint64_t local_alignment = 128;
constexpr llvm::StringLiteral intrinsic_prefix = "llvm.nvvm.";

// Local variables as places in one block, the same in every kernel. Returns the bytes of those
// whose size is known here; what the launch adds lies behind them.
class LocalBlock {
 public:
  explicit LocalBlock(llvm::Module& module) : module_(module) {}

  uint64_t replaceVariables() {
    llvm::SmallVector<GlobalVariable*> variables;
    llvm::SmallVector<llvm::Constant*> constants;
    for (GlobalVariable& variable : module_.globals())
      if (variable.getAddressSpace() == local_space) {
        variables.push_back(&variable);
        constants.push_back(&variable);
      }
    llvm::convertUsersOfConstantsToInstructions(constants);
    for (GlobalVariable* variable : variables)
      if (!variable->isDeclaration()) replace(*variable, reserve(*variable));
    const uint64_t fixed = bytes_ = llvm::alignTo(bytes_, local_alignment);
    for (GlobalVariable* variable : variables)
      if (variable->isDeclaration()) replace(*variable, fixed);
    for (GlobalVariable* variable : variables) variable->eraseFromParent();
    return fixed;
  }

 private:
  uint64_t reserve(const GlobalVariable& variable) {
    const llvm::DataLayout& layout = module_.getDataLayout();
    const uint64_t place = llvm::alignTo(bytes_, layout.getPreferredAlign(&variable));
    bytes_ = place + layout.getTypeAllocSize(variable.getValueType());
    return place;
  }

  void replace(GlobalVariable& variable, uint64_t place) {
    for (llvm::Use& use : llvm::make_early_inc_range(variable.uses())) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      Builder builder(&*user->getFunction()->getEntryBlock().getFirstInsertionPt());
      use.set(builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base(builder), place));
    }
  }

  Value* base(Builder& builder) {
    auto* type = llvm::FunctionType::get(builder.getPtrTy(local_space), false);
    llvm::FunctionCallee callee =
        module_.getOrInsertFunction(std::string(simt_prefix) + "local", type);
    auto* function = llvm::cast<Function>(callee.getCallee());
    function->setMemoryEffects(llvm::MemoryEffects::none());
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::WillReturn);
    return builder.CreateCall(callee);
  }

  llvm::Module& module_;
  uint64_t bytes_ = 0;
};

void callIntrinsics(llvm::Module& module) {
  for (Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || !function.getName().starts_with(intrinsic_prefix)) continue;
    std::string name = simt_prefix + function.getName().substr(intrinsic_prefix.size()).str();
    std::replace(name.begin(), name.end(), '.', '_');
    auto* made =
        Function::Create(function.getFunctionType(), Function::ExternalLinkage, name, module);
    made->setAttributes(function.getAttributes());
    // Which work-items are at one place is told by the address of the call.
    if (made->hasFnAttribute(llvm::Attribute::Convergent))
      made->addFnAttr(llvm::Attribute::NoMerge);
    function.replaceAllUsesWith(made);
    function.eraseFromParent();
  }
}

// The function that unpacks the parameters of one work-item and runs it.
class Entry {
 public:
  explicit Entry(Function& kernel)
      : kernel_(kernel), layout_(kernel.getDataLayout()), builder_(kernel.getContext()) {}

  Function* emit(uint64_t local_bytes) {
    const std::string symbol = kernel_.getName().str();
    kernel_.setName(symbol + ".body");
    kernel_.setLinkage(llvm::GlobalValue::InternalLinkage);
    kernel_.setCallingConv(llvm::CallingConv::C);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
    Function* entry =
        Function::Create(type, Function::ExternalLinkage, symbol, *kernel_.getParent());
    entry->addFnAttrs(
        llvm::AttrBuilder(kernel_.getContext(), kernel_.getAttributes().getFnAttrs()));
    kernel_.addFnAttr(llvm::Attribute::AlwaysInline);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(kernel_.getContext(), "", entry));
    llvm::SmallVector<Value*> values;
    for (llvm::Argument& argument : kernel_.args())
      values.push_back(parameter(argument, entry->getArg(0)));
    builder_.CreateCall(&kernel_, values)->setAttributes(kernel_.getAttributes());
    builder_.CreateRetVoid();
    emitInfo(symbol, local_bytes);
    return entry;
  }

 private:
  Value* parameter(llvm::Argument& argument, Value* parameters) {
    llvm::Type* by_value = argument.getParamByValType();
    llvm::Type* type = by_value ? by_value : argument.getType();
    llvm::Align alignment = layout_.getABITypeAlign(type);
    if (by_value) alignment = std::max(alignment, argument.getParamAlign().valueOrOne());
    const uint64_t size = layout_.getTypeStoreSize(type);
    const uint64_t offset = llvm::alignTo(end_, alignment);
    end_ = offset + size;
    places_.push_back(static_cast<uint32_t>(offset));
    places_.push_back(static_cast<uint32_t>(size));
    Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), parameters, offset);
    // Nobody writes it.
    if (by_value && argument.onlyReadsMemory()) argument.removeAttr(llvm::Attribute::ByVal);
    return by_value ? place : builder_.CreateAlignedLoad(type, place, alignment);
  }

  void emitInfo(const std::string& symbol, uint64_t local_bytes) {
    llvm::SmallVector<uint32_t> words{static_cast<uint32_t>(llvm::alignTo(end_, 8)),
                                      static_cast<uint32_t>(local_bytes),
                                      static_cast<uint32_t>(places_.size() / 2)};
    llvm::append_range(words, places_);
    auto* value = llvm::ConstantDataArray::get(kernel_.getContext(), words);
    new GlobalVariable(*kernel_.getParent(), value->getType(), true,
                       llvm::GlobalValue::ExternalLinkage, value, symbol + ".info");
  }

  Function& kernel_;
  const llvm::DataLayout& layout_;
  Builder builder_;
  uint64_t end_ = 0;
  llvm::SmallVector<uint32_t> places_;
};

}  // namespace

void makeHostModule(GpuModule& gpu) {
  const uint64_t local_bytes = LocalBlock(*gpu.module).replaceVariables();
  callIntrinsics(*gpu.module);
  for (GpuKernel& kernel : gpu.kernels) kernel.function = Entry(*kernel.function).emit(local_bytes);
}

}  // namespace weft::compiler
