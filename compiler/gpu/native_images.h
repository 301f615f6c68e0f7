// Kernels that read images through the device's own, for devices that have such.
//
// A kernel that reads such images gets a twin: the same code, with what the device reads them by
// as further parameters. Everything else, its other parameters and what it asks of images included,
// stays as it is, so the twin can run wherever the images that it reads so are the device's, too
// (KernelInfo::native). How a target reads is its own (spirv/native_images.h, textures.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "core/image.h"

namespace weft::compiler {

// The functions of the builtin library that a target has another way for, and who calls them,
// however indirectly.
class ImageReads {
 public:
  using Functions = llvm::SmallPtrSet<const llvm::Function*, 16>;

  explicit ImageReads(Functions functions);
  bool contain(const llvm::Function* function) const { return functions_.contains(function); }
  bool areCalledBy(const llvm::Function* function) const { return callers_.contains(function); }

 private:
  const Functions functions_;
  Functions callers_;
};

// The twin of one kernel.
class NativeTwin {
 public:
  NativeTwin(llvm::Function& kernel, const KernelInfo& info, const ImageReads& reads)
      : kernel_(kernel), info_(info), reads_(reads) {}
  virtual ~NativeTwin() = default;

  // Adds it to the kernel's module. Its description as a kernel of its own; nullopt, and nothing
  // added, where it would be no better.
  std::optional<KernelInfo> make();

 protected:
  struct Read {
    llvm::CallInst* call;
    size_t image;                           // of the twin's own
    llvm::SmallVector<size_t, 2> samplers;  // likewise
  };
  // What is added to the kernel's parameters.
  struct Parameters {
    llvm::SmallVector<llvm::Type*> types;
    std::vector<ArgumentInfo> infos;
  };

  // What the read's image is sampled with. None: it stays as it is.
  virtual llvm::SmallVector<NativeSampler, 2> samplersOf(const llvm::CallInst& read) const = 0;
  virtual Parameters parameters() const = 0;
  // Can the target's kernels have so many more?
  virtual bool fits(const Parameters& more) const = 0;
  virtual llvm::Value* emit(llvm::IRBuilder<>& builder, const Read& read) const = 0;

  // The sampler that a call is given, where it is an argument or a literal.
  static std::optional<NativeSampler> samplerIn(const llvm::Value* value);
  const std::vector<NativeImage>& images() const { return images_; }
  const std::vector<NativeSampler>& samplers() const { return samplers_; }
  const std::vector<Read>& reads() const { return found_; }
  const KernelInfo& info() const { return info_; }
  llvm::Module& module() const { return *kernel_.getParent(); }
  // Of those that parameters() says.
  llvm::Argument* added(size_t index) const {
    return twin_->getArg(static_cast<unsigned>(kernel_.arg_size() + index));
  }

 private:
  std::string freeName() const;
  bool inlineCallers();
  void simplify();
  void findReads();
  size_t placeOf(uint32_t argument);
  size_t placeOf(const NativeSampler& sampler);
  void addParameters(llvm::ArrayRef<llvm::Type*> types);
  KernelInfo description(const Parameters& added) const;

  llvm::Function& kernel_;
  const KernelInfo& info_;
  const ImageReads& reads_;
  llvm::Function* twin_ = nullptr;
  std::vector<NativeImage> images_;
  std::vector<NativeSampler> samplers_;
  std::vector<Read> found_;
};

// Adds the twins and, to `kernels`, a description of each as a kernel of its own. The builtin
// library has been linked, and nothing was inlined yet.
template <class Twin>
void addNativeTwins(llvm::Module& module, const ImageReads& reads,
                    std::vector<KernelInfo>& kernels) {
  std::vector<KernelInfo> twins;
  for (const KernelInfo& info : kernels) {
    llvm::Function* const kernel = module.getFunction(info.name);
    if (!kernel || info.is_block || info.uses_printf || info.uses_device_queue ||
        !reads.areCalledBy(kernel))
      continue;
    if (auto twin = Twin(*kernel, info, reads).make()) twins.push_back(std::move(*twin));
  }
  for (KernelInfo& twin : twins) kernels.push_back(std::move(twin));
}

// Is that the description of a twin?
bool isNativeTwin(const KernelInfo& kernel);
// Moves what has become of the twins to the descriptions of the kernels that they are twins of.
void foldNativeTwins(std::vector<KernelInfo>& kernels);

}  // namespace weft::compiler
