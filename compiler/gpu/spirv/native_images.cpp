#include "compiler/gpu/spirv/native_images.h"

#include <algorithm>
#include <functional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <spirv/unified1/spirv.hpp11>

#include "compiler/passes/analyses.h"
#include "core/ports/spirv_target.h"

namespace weft::compiler {
namespace {

using llvm::CallInst;
using llvm::Function;
using llvm::Value;

constexpr llvm::StringLiteral twin_suffix = ".images";
// More than any kernel calls: only recursion does.
constexpr unsigned most_inlined = 10'000;

struct Shape {
  const char* name;         // as in names of functions
  const char* coordinates;  // before the letter of their type
  spv::Dim dimension;
  bool layered;
};
constexpr Shape shapes[] = {{"14ocl_image1d_ro", "", spv::Dim::Dim1D, false},
                            {"14ocl_image2d_ro", "Dv2_", spv::Dim::Dim2D, false},
                            {"20ocl_image2d_array_ro", "Dv4_", spv::Dim::Dim2D, true},
                            {"14ocl_image3d_ro", "Dv4_", spv::Dim::Dim3D, false}};

// The functions of OpenCL C that read through a sampler, of the first level, as far as the module
// has them.
using Reads = llvm::DenseMap<const Function*, const Shape*>;
Reads readsOf(const llvm::Module& module) {
  Reads reads;
  for (const Shape& shape : shapes)
    for (const char* read : {"_Z11read_imagef", "_Z11read_imagei", "_Z12read_imageui"})
      for (const char* number : {"f", "i"}) {
        const std::string name =
            std::string(read) + shape.name + "11ocl_sampler" + shape.coordinates + number;
        if (const Function* function = module.getFunction(name)) reads[function] = &shape;
      }
  return reads;
}

using Functions = llvm::SmallPtrSet<const Function*, 16>;
Functions callersOf(const Reads& reads) {
  Functions callers;
  llvm::SmallVector<const Function*> waiting;
  for (const auto& [function, shape] : reads) waiting.push_back(function);
  while (!waiting.empty())
    for (const llvm::User* user : waiting.pop_back_val()->users())
      if (const auto* call = llvm::dyn_cast<CallInst>(user))
        if (callers.insert(call->getFunction()).second) waiting.push_back(call->getFunction());
  return callers;
}

class Twin {
 public:
  Twin(Function& kernel, const KernelInfo& info, const Reads& reads, const Functions& callers)
      : kernel_(kernel), info_(info), reads_(reads), callers_(callers) {}

  // The twin's description; nullopt where it would be no better.
  std::optional<KernelInfo> make() {
    llvm::ValueToValueMapTy unused;
    twin_ = llvm::CloneFunction(&kernel_, unused);
    twin_->setName(info_.name + twin_suffix.str());
    if (inlineCallers()) {
      simplify();
      findSamples();
    }
    if (samples_.empty()) {
      twin_->eraseFromParent();
      return std::nullopt;
    }
    addParameters();
    for (const Sample& sample : samples_) replace(sample);
    return description();
  }

 private:
  struct Sample {
    CallInst* call;
    size_t image, sampler;  // of the twin's own
  };

  // So that it is seen which argument an image is.
  bool inlineCallers() {
    for (unsigned count = 0; count < most_inlined; ++count) {
      CallInst* next = nullptr;
      for (llvm::Instruction& instruction : llvm::instructions(*twin_)) {
        auto* call = llvm::dyn_cast<CallInst>(&instruction);
        const Function* callee = call ? call->getCalledFunction() : nullptr;
        if (!callee || !callers_.contains(callee) || reads_.contains(callee)) continue;
        next = call;
        break;
      }
      if (!next) return true;
      llvm::InlineFunctionInfo info;
      if (!llvm::InlineFunction(*next, info).isSuccess()) return false;
    }
    return false;
  }

  void simplify() {
    Analyses analyses(nullptr);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    passes.run(*twin_, analyses.functions);
  }

  void findSamples() {
    for (llvm::Instruction& instruction : llvm::instructions(*twin_)) {
      auto* call = llvm::dyn_cast<CallInst>(&instruction);
      const auto read = call ? reads_.find(call->getCalledFunction()) : reads_.end();
      if (read == reads_.end()) continue;
      const auto* image = llvm::dyn_cast<llvm::Argument>(call->getArgOperand(0));
      const auto sampler = samplerOf(call->getArgOperand(1));
      if (!image || !sampler || info_.arguments[image->getArgNo()].kind != ArgumentKind::image)
        continue;
      const size_t by = placeOf(*sampler);
      const size_t of = placeOf(image->getArgNo(), *read->second);
      if (by >= samplers_.size() || of >= images_.size()) continue;
      images_[of].samplers |= 1u << by;
      samples_.push_back({call, of, by});
    }
  }

  static std::optional<NativeSampler> samplerOf(const Value* value) {
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value))
      return NativeSampler{true, argument->getArgNo()};
    if (const auto* literal = llvm::dyn_cast<llvm::ConstantInt>(value))
      return NativeSampler{false, static_cast<uint32_t>(literal->getZExtValue())};
    return std::nullopt;
  }

  // Behind the last one where there may be no more.
  size_t placeOf(uint32_t argument, const Shape& shape) {
    const auto known = llvm::find_if(
        images_, [&](const NativeImage& image) { return image.argument == argument; });
    const auto place = static_cast<size_t>(known - images_.begin());
    if (known != images_.end() || place == port::most_native_images) return place;
    images_.push_back({argument, 0});
    types_.push_back(typeOf(shape));
    return place;
  }

  size_t placeOf(const NativeSampler& sampler) {
    const auto known = llvm::find(samplers_, sampler);
    const auto place = static_cast<size_t>(known - samplers_.begin());
    if (known == samplers_.end() && place < port::most_native_samplers)
      samplers_.push_back(sampler);
    return place;
  }

  llvm::LLVMContext& context() const { return kernel_.getContext(); }
  // As Clang writes them.
  llvm::Type* typeOf(const Shape& shape) const {
    return llvm::TargetExtType::get(
        context(), "spirv.Image", {llvm::Type::getVoidTy(context())},
        {static_cast<unsigned>(shape.dimension), 0, shape.layered, 0, 0, 0, 0});
  }
  llvm::Type* samplerType() const { return llvm::TargetExtType::get(context(), "spirv.Sampler"); }

  void addParameters() {
    llvm::SmallVector<llvm::Type*> types(twin_->getFunctionType()->params());
    llvm::append_range(types, types_);
    types.append(samplers_.size(), samplerType());
    auto* type = llvm::FunctionType::get(twin_->getReturnType(), types, false);
    Function* made = Function::Create(type, twin_->getLinkage(), twin_->getAddressSpace(), "",
                                      kernel_.getParent());
    made->takeName(twin_);
    made->copyAttributesFrom(twin_);
    made->splice(made->begin(), twin_);
    for (llvm::Argument& argument : twin_->args()) {
      argument.replaceAllUsesWith(made->getArg(argument.getArgNo()));
      made->getArg(argument.getArgNo())->takeName(&argument);
    }
    twin_->eraseFromParent();
    twin_ = made;
  }

  void replace(const Sample& sample) {
    const size_t own = kernel_.arg_size();
    Value* const image = twin_->getArg(static_cast<unsigned>(own + sample.image));
    Value* const sampler =
        twin_->getArg(static_cast<unsigned>(own + images_.size() + sample.sampler));
    Value* const coordinate = sample.call->getArgOperand(2);
    llvm::Module& module = *kernel_.getParent();
    const std::string name =
        (spirv_sample_prefix + sample.call->getCalledFunction()->getName()).str();
    auto* type = llvm::FunctionType::get(
        sample.call->getType(), {image->getType(), sampler->getType(), coordinate->getType()},
        false);
    llvm::FunctionCallee callee = module.getOrInsertFunction(name, type);
    auto* function = llvm::cast<Function>(callee.getCallee());
    // Nobody writes an image while it is read through a sampler.
    function->setMemoryEffects(llvm::MemoryEffects::none());
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::WillReturn);
    llvm::IRBuilder<> builder(sample.call);
    sample.call->replaceAllUsesWith(builder.CreateCall(callee, {image, sampler, coordinate}));
    sample.call->eraseFromParent();
  }

  KernelInfo description() const {
    KernelInfo twin = info_;
    twin.name = twin_->getName();
    twin.native.symbol = info_.name;  // until it is folded
    twin.native.images = images_;
    twin.native.samplers = samplers_;
    for (const NativeImage& image : images_)
      twin.arguments.push_back(info_.arguments[image.argument]);
    for (size_t i = 0; i < samplers_.size(); ++i) {
      ArgumentInfo sampler;
      sampler.kind = ArgumentKind::sampler;
      twin.arguments.push_back(sampler);
    }
    return twin;
  }

  Function& kernel_;
  const KernelInfo& info_;
  const Reads& reads_;
  const Functions& callers_;
  Function* twin_ = nullptr;
  std::vector<NativeImage> images_;
  std::vector<llvm::Type*> types_;
  std::vector<NativeSampler> samplers_;
  std::vector<Sample> samples_;
};

}  // namespace

void addNativeImageKernels(llvm::Module& module, std::vector<KernelInfo>& kernels) {
  const Reads reads = readsOf(module);
  const Functions callers = callersOf(reads);
  std::vector<KernelInfo> twins;
  for (const KernelInfo& info : kernels) {
    Function* const kernel = module.getFunction(info.name);
    if (!kernel || info.is_block || info.uses_printf || !callers.contains(kernel)) continue;
    if (auto twin = Twin(*kernel, info, reads, callers).make()) twins.push_back(std::move(*twin));
  }
  for (KernelInfo& twin : twins) kernels.push_back(std::move(twin));
}

bool isNativeImageKernel(const KernelInfo& kernel) { return !kernel.native.images.empty(); }

void foldNativeImageKernels(std::vector<KernelInfo>& kernels) {
  const auto first = std::ranges::stable_partition(kernels, std::not_fn(isNativeImageKernel));
  for (KernelInfo& twin : first) {
    KernelInfo& kernel = *llvm::find_if(
        kernels, [&](const KernelInfo& each) { return each.name == twin.native.symbol; });
    kernel.native = std::move(twin.native);
    kernel.native.symbol = std::move(twin.symbol);
  }
  kernels.erase(first.begin(), first.end());
}

}  // namespace weft::compiler
