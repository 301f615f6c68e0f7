#include "compiler/gpu/native_images.h"

#include <algorithm>
#include <functional>

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/passes/analyses.h"
#include "core/ports/native_images.h"

namespace weft::compiler {
namespace {

using llvm::CallInst;
using llvm::Function;
using llvm::Value;

// PTX knows no dots in names.
constexpr llvm::StringLiteral twin_suffix = "$images";
// By how many instructions a twin may outgrow its kernel. Where each of a dozen functions calls the
// next one twice there are thousands of reads, and compiling them takes minutes.
constexpr unsigned most_inlined = 20'000;

}  // namespace

ImageReads::ImageReads(Functions functions) : functions_(std::move(functions)) {
  llvm::SmallVector<const Function*> waiting(functions_.begin(), functions_.end());
  while (!waiting.empty())
    for (const llvm::User* user : waiting.pop_back_val()->users())
      if (const auto* call = llvm::dyn_cast<CallInst>(user))
        if (callers_.insert(call->getFunction()).second) waiting.push_back(call->getFunction());
}

std::optional<KernelInfo> NativeTwin::make() {
  llvm::ValueToValueMapTy unused;
  twin_ = llvm::CloneFunction(&kernel_, unused);
  twin_->setName(freeName());
  if (inlineCallers()) {
    simplify();
    findReads();
  }
  const Parameters more = parameters();
  if (found_.empty() || !fits(more)) {
    twin_->eraseFromParent();
    return std::nullopt;
  }
  addParameters(more.types);
  for (const Read& read : found_) {
    llvm::IRBuilder<> builder(read.call);
    read.call->replaceAllUsesWith(emit(builder, read));
    read.call->eraseFromParent();
  }
  return description(more);
}

// Names that LLVM makes unique itself have dots.
std::string NativeTwin::freeName() const {
  std::string name = info_.name + twin_suffix.str();
  while (module().getNamedValue(name)) name += '$';
  return name;
}

// So that it is seen which argument an image is. False where the twin would become too large, as
// with recursion.
bool NativeTwin::inlineCallers() {
  llvm::SmallVector<llvm::CallBase*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(*twin_))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) calls.push_back(call);
  unsigned inlined = 0;
  while (!calls.empty()) {
    llvm::CallBase* const call = calls.pop_back_val();
    const Function* const callee = call->getCalledFunction();
    if (!callee || !reads_.areCalledBy(callee) || reads_.contain(callee)) continue;
    inlined += callee->getInstructionCount();
    llvm::InlineFunctionInfo info;
    if (inlined > most_inlined || !llvm::InlineFunction(*call, info).isSuccess()) return false;
    llvm::append_range(calls, info.InlinedCallSites);
  }
  return true;
}

void NativeTwin::simplify() {
  Analyses analyses(nullptr);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.run(*twin_, analyses.functions);
}

void NativeTwin::findReads() {
  for (llvm::Instruction& instruction : llvm::instructions(*twin_)) {
    auto* call = llvm::dyn_cast<CallInst>(&instruction);
    if (!call || !reads_.contain(call->getCalledFunction())) continue;
    const auto* image = llvm::dyn_cast<llvm::Argument>(call->getArgOperand(0));
    if (!image || info_.arguments[image->getArgNo()].kind != ArgumentKind::image) continue;
    Read read{call, 0, {}};
    for (const NativeSampler& sampler : samplersOf(*call))
      read.samplers.push_back(placeOf(sampler));
    const auto is_known = [&](size_t sampler) { return sampler < samplers_.size(); };
    if (read.samplers.empty() || !llvm::all_of(read.samplers, is_known)) continue;
    read.image = placeOf(image->getArgNo());
    if (read.image >= images_.size()) continue;
    for (const size_t sampler : read.samplers) images_[read.image].samplers |= 1u << sampler;
    found_.push_back(std::move(read));
  }
}

std::optional<NativeSampler> NativeTwin::samplerIn(const Value* value) {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return NativeSampler{true, argument->getArgNo()};
  if (const auto* literal = llvm::dyn_cast<llvm::ConstantInt>(value))
    return NativeSampler{false, static_cast<uint32_t>(literal->getZExtValue())};
  return std::nullopt;
}

// Behind the last one where there may be no more.
size_t NativeTwin::placeOf(uint32_t argument) {
  const auto known =
      llvm::find_if(images_, [&](const NativeImage& image) { return image.argument == argument; });
  const auto place = static_cast<size_t>(known - images_.begin());
  if (known == images_.end() && place < port::most_native_images) images_.push_back({argument, 0});
  return place;
}

size_t NativeTwin::placeOf(const NativeSampler& sampler) {
  const auto known = llvm::find(samplers_, sampler);
  const auto place = static_cast<size_t>(known - samplers_.begin());
  if (known == samplers_.end() && place < port::most_native_samplers) samplers_.push_back(sampler);
  return place;
}

void NativeTwin::addParameters(llvm::ArrayRef<llvm::Type*> added) {
  llvm::SmallVector<llvm::Type*> types(twin_->getFunctionType()->params());
  llvm::append_range(types, added);
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

KernelInfo NativeTwin::description(const Parameters& added) const {
  KernelInfo twin = info_;
  twin.name = twin_->getName();
  twin.native.symbol = info_.name;  // until it is folded
  twin.native.images = images_;
  twin.native.samplers = samplers_;
  llvm::append_range(twin.arguments, added.infos);
  return twin;
}

bool isNativeTwin(const KernelInfo& kernel) { return !kernel.native.images.empty(); }

void foldNativeTwins(std::vector<KernelInfo>& kernels) {
  const auto first = std::ranges::stable_partition(kernels, std::not_fn(isNativeTwin));
  for (KernelInfo& twin : first) {
    KernelInfo& kernel = *llvm::find_if(
        kernels, [&](const KernelInfo& each) { return each.name == twin.native.symbol; });
    kernel.native = std::move(twin.native);
    kernel.native.symbol = std::move(twin.symbol);
  }
  kernels.erase(first.begin(), first.end());
}

}  // namespace weft::compiler
