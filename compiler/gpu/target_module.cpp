#include "compiler/gpu/target_module.h"

#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "compiler/passes/blocks.h"
#include "compiler/passes/work_items.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::GlobalVariable;
using llvm::Type;
using llvm::Value;

constexpr unsigned local_space = 3;
// Dynamic shared memory: local pointers are offsets into it. Aligned as core/ports/launch.h says.
constexpr const char* dynamic_local = "weft_local";
constexpr uint64_t dynamic_local_alignment = 128;

// By SPIR's number: private, global, constant, local, generic.
constexpr unsigned target_spaces[] = {0, 1, 0, local_space, 0};

unsigned targetSpace(unsigned space) {
  return space < std::size(target_spaces) ? target_spaces[space] : space;
}

// Pointers are opaque, so no type holds itself.
class Types final : public llvm::ValueMapTypeRemapper {
 public:
  Type* remapType(Type* type) override {
    Type*& known = known_[type];
    if (known) return known;
    Type* const made = remap(type);
    return known_[type] = made;  // `known` may dangle: remap() adds to the map
  }

 private:
  Type* remap(Type* type) {
    if (auto* pointer = llvm::dyn_cast<llvm::PointerType>(type))
      return llvm::PointerType::get(type->getContext(), targetSpace(pointer->getAddressSpace()));
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      return llvm::FixedVectorType::get(remapType(vector->getElementType()),
                                        vector->getNumElements());
    if (auto* function = llvm::dyn_cast<llvm::FunctionType>(type))
      return llvm::FunctionType::get(remapType(function->getReturnType()),
                                     remapAll(function->params()), function->isVarArg());
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) return remapStruct(structure);
    return type;
  }

  Type* remapStruct(llvm::StructType* type) {
    if (type->isOpaque()) return type;
    const auto members = remapAll(type->elements());
    if (llvm::ArrayRef<Type*>(members) == type->elements()) return type;
    if (type->isLiteral())
      return llvm::StructType::get(type->getContext(), members, type->isPacked());
    return llvm::StructType::create(type->getContext(), members, type->getName(), type->isPacked());
  }

  llvm::SmallVector<Type*> remapAll(llvm::ArrayRef<Type*> types) {
    llvm::SmallVector<Type*> result;
    for (Type* type : types) result.push_back(remapType(type));
    return result;
  }

  llvm::DenseMap<Type*, Type*> known_;
};

class Copier {
 public:
  Copier(llvm::Module& source, std::vector<KernelInfo>& kernels, LocalArguments local)
      : local_(local),
        source_(source),
        infos_(kernels),
        module_(std::make_unique<llvm::Module>(source.getName(), source.getContext())) {
    module_->setTargetTriple(source.getTargetTriple());
    module_->setDataLayout(source.getDataLayout());
  }

  GpuModule run() {
    expandConstants();
    for (const GlobalVariable& variable : source_.globals()) declare(variable);
    for (const Function& function : source_) declare(function);
    for (const GlobalVariable& variable : source_.globals()) initialise(variable);
    for (const Function& function : source_) copyBody(function);
    for (Function& function : *module_) dropEmptyCasts(function);
    return {std::move(module_), std::move(kernels_)};
  }

 private:
  // A cast between spaces that become one could stay inside a constant.
  void expandConstants() {
    llvm::SmallVector<llvm::Constant*> globals;
    for (GlobalVariable& variable : source_.globals()) globals.push_back(&variable);
    for (Function& function : source_) globals.push_back(&function);
    llvm::convertUsersOfConstantsToInstructions(globals);
    for (Function& function : source_)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        for (llvm::Use& operand : instruction.operands())
          if (isNullOfAnotherSpace(operand.get()))
            operand.set(llvm::Constant::getNullValue(operand->getType()));
  }

  // In OpenCL null is null in every space; to the target a cast moves it to where a space begins.
  static bool isNullOfAnotherSpace(const Value* value) {
    const Value* bare = value;
    while (const auto* cast = llvm::dyn_cast_or_null<llvm::AddrSpaceCastOperator>(bare))
      bare = llvm::isa<llvm::Constant>(cast) ? cast->getPointerOperand() : nullptr;
    return bare && bare != value && llvm::isa<llvm::ConstantPointerNull>(bare);
  }

  void declare(const GlobalVariable& variable) {
    auto* copy = new GlobalVariable(*module_, types_.remapType(variable.getValueType()),
                                    variable.isConstant(), variable.getLinkage(), nullptr,
                                    variable.getName(), nullptr, variable.getThreadLocalMode(),
                                    targetSpace(variable.getAddressSpace()));
    copy->setAlignment(variable.getAlign());
    copy->setUnnamedAddr(variable.getUnnamedAddr());
    map_[&variable] = copy;
  }

  void initialise(const GlobalVariable& variable) {
    if (variable.isDeclaration()) return;
    auto* copy = llvm::cast<GlobalVariable>(map_[&variable]);
    llvm::Constant* initialiser =
        llvm::MapValue(variable.getInitializer(), map_, llvm::RF_None, &types_);
    // Local memory has no initial contents.
    if (variable.getAddressSpace() == local_space)
      initialiser = llvm::UndefValue::get(copy->getValueType());
    copy->setInitializer(initialiser);
  }

  void declare(const Function& function) {
    if (function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL) return;
    auto* type = llvm::cast<llvm::FunctionType>(types_.remapType(function.getFunctionType()));
    Function* copy =
        Function::Create(type, function.getLinkage(), function.getName(), module_.get());
    copy->copyAttributesFrom(&function);
    if (function.isIntrinsic())
      if (const auto renamed = llvm::Intrinsic::remangleIntrinsicFunction(copy)) {
        copy->eraseFromParent();
        copy = *renamed;
      }
    map_[&function] = copy;
  }

  void copyBody(const Function& function) {
    if (function.isDeclaration()) return;
    if (function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL) return copyKernel(function);
    auto* copy = llvm::cast<Function>(map_[&function]);
    for (const llvm::Argument& argument : function.args()) {
      map_[&argument] = copy->getArg(argument.getArgNo());
      copy->getArg(argument.getArgNo())->setName(argument.getName());
    }
    clone(function, *copy);
  }

  void clone(const Function& from, Function& to) {
    llvm::SmallVector<llvm::ReturnInst*> returns;
    const auto linkage = to.getLinkage();
    const auto convention = to.getCallingConv();
    llvm::CloneFunctionInto(&to, &from, map_, llvm::CloneFunctionChangeType::DifferentModule,
                            returns, "", nullptr, &types_);
    to.setLinkage(linkage);
    to.setCallingConv(convention);
    // An image's descriptor may be copied before it is read.
    for (llvm::Instruction& instruction : llvm::instructions(to))
      instruction.setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
  }

  bool isOffset(const llvm::Argument& argument) const {
    return local_ == LocalArguments::offsets && argument.getType()->isPointerTy() &&
           argument.getType()->getPointerAddressSpace() == local_space;
  }

  KernelInfo& infoOf(const Function& kernel) {
    return *llvm::find_if(infos_, [&](const KernelInfo& k) { return k.name == kernel.getName(); });
  }

  // `argument` is passed by value as `T`, which is read at its address and never written.
  template <class T>
  void passByValue(llvm::Argument& argument) {
    static_assert(alignof(T) == sizeof(uint64_t));
    llvm::LLVMContext& context = source_.getContext();
    auto* type = llvm::ArrayType::get(Type::getInt64Ty(context), sizeof(T) / sizeof(uint64_t));
    argument.addAttr(llvm::Attribute::getWithByValType(context, type));
    argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(alignof(T))));
    if (!argument.onlyReadsMemory()) argument.addAttr(llvm::Attribute::ReadOnly);
  }

  // NVPTX reads a parameter of two chars as 32 bits, of which it takes the wrong ones.
  static bool isNarrowVector(const Type* type) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getNumElements() == 2 && vector->getElementType()->isIntegerTy(8);
  }

  Type* parameterType(const llvm::Argument& argument) {
    llvm::LLVMContext& context = source_.getContext();
    if (isOffset(argument)) return Type::getInt64Ty(context);
    if (isNarrowVector(argument.getType())) return Type::getInt16Ty(context);
    return types_.remapType(argument.getType());
  }

  Function* createKernel(const Function& kernel, const std::string& symbol) {
    llvm::SmallVector<Type*> parameters;
    for (const llvm::Argument& argument : kernel.args())
      parameters.push_back(parameterType(argument));
    parameters.push_back(llvm::PointerType::get(source_.getContext(), 0));
    auto* type = llvm::FunctionType::get(Type::getVoidTy(source_.getContext()), parameters, false);
    Function* made =
        Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module_.get());
    made->setCallingConv(llvm::CallingConv::PTX_Kernel);
    return made;
  }

  void copyKernel(const Function& kernel) {
    KernelInfo& info = infoOf(kernel);
    info.symbol = entryName(info.name);
    // Blocks of the same name are told apart by a number behind a dot, which PTX has no names with.
    std::ranges::replace(info.symbol, '.', '$');
    Function* made = createKernel(kernel, info.symbol);
    llvm::SmallVector<llvm::Instruction*> places;
    for (const llvm::Argument& argument : kernel.args()) {
      llvm::Argument* own = made->getArg(argument.getArgNo());
      own->setName(argument.getName());
      Value* value = own;
      if (isOffset(argument)) {
        places.push_back(llvm::GetElementPtrInst::Create(Type::getInt8Ty(source_.getContext()),
                                                         dynamicLocal(), {own}));
        value = places.back();
      } else if (isNarrowVector(argument.getType())) {
        places.push_back(new llvm::BitCastInst(own, argument.getType()));
        value = places.back();
      }
      map_[&argument] = value;
    }
    clone(kernel, *made);
    // With pointers for local memory the device takes pointers to images' descriptors, too: as
    // many as a kernel may have would be more than its parameters.
    // Blocks keep such pointers for kernels that run later.
    for (size_t i = 0; i < info.arguments.size(); ++i)
      if (info.arguments[i].kind == ArgumentKind::image && local_ == LocalArguments::offsets &&
          !info.uses_device_queue)
        passByValue<port::ImageDescriptor>(*made->getArg(static_cast<unsigned>(i)));
    for (llvm::Instruction* place : llvm::reverse(places))
      place->insertBefore(&*made->getEntryBlock().begin());
    llvm::Argument* launch = made->getArg(made->arg_size() - 1);
    launch->setName("launch");
    passByValue<port::GpuLaunch>(*launch);
    kernels_.push_back({made, info.name, launch});
  }

  GlobalVariable* dynamicLocal() {
    if (GlobalVariable* known = module_->getNamedGlobal(dynamic_local)) return known;
    auto* type = llvm::ArrayType::get(Type::getInt8Ty(source_.getContext()), 0);
    auto* made =
        new GlobalVariable(*module_, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                           dynamic_local, nullptr, GlobalVariable::NotThreadLocal, local_space);
    made->setAlignment(llvm::Align(dynamic_local_alignment));
    return made;
  }

  static void dropEmptyCasts(Function& function) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction);
      if (!cast || cast->getSrcTy() != cast->getDestTy()) continue;
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    }
  }

  const LocalArguments local_;
  llvm::Module& source_;
  std::vector<KernelInfo>& infos_;
  std::unique_ptr<llvm::Module> module_;
  Types types_;
  llvm::ValueToValueMapTy map_;
  std::vector<GpuKernel> kernels_;
};

}  // namespace

uint64_t parameterBytes(const KernelInfo& kernel) {
  uint64_t bytes = sizeof(port::GpuLaunch);
  for (const ArgumentInfo& argument : kernel.arguments) {
    const bool image = argument.kind == ArgumentKind::image;
    bytes = llvm::alignTo(bytes, std::max<uint64_t>(argument.alignment, 1)) +
            (image ? sizeof(port::ImageDescriptor) : argument.size);
  }
  return bytes;
}

GpuModule makeGpuModule(llvm::Module& source, std::vector<KernelInfo>& kernels,
                        LocalArguments local) {
  return Copier(source, kernels, local).run();
}

}  // namespace weft::compiler
