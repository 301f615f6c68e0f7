#include "compiler/gpu/spirv/native_images.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DerivedTypes.h>
#include <spirv/unified1/spirv.hpp11>

#include "compiler/gpu/native_images.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Value;

struct Shape {
  llvm::StringLiteral name;         // as in names of functions
  llvm::StringLiteral coordinates;  // before the letter of their type
  spv::Dim dimension;
  bool layered;
};
constexpr Shape shapes[] = {{"14ocl_image1d_ro", "", spv::Dim::Dim1D, false},
                            {"14ocl_image2d_ro", "Dv2_", spv::Dim::Dim2D, false},
                            {"20ocl_image2d_array_ro", "Dv4_", spv::Dim::Dim2D, true},
                            {"14ocl_image3d_ro", "Dv4_", spv::Dim::Dim3D, false}};

// The functions of OpenCL C that read through a sampler, of the first level, as far as the module
// has them.
ImageReads readsOf(const llvm::Module& module) {
  ImageReads::Functions reads;
  for (const Shape& shape : shapes)
    for (const char* read : {"_Z11read_imagef", "_Z11read_imagei", "_Z12read_imageui"})
      for (const char* number : {"f", "i"}) {
        const std::string name =
            (read + shape.name + "11ocl_sampler" + shape.coordinates + number).str();
        if (const Function* function = module.getFunction(name)) reads.insert(function);
      }
  return ImageReads(std::move(reads));
}

class SpirvTwin final : public NativeTwin {
 public:
  using NativeTwin::NativeTwin;

 private:
  llvm::SmallVector<NativeSampler, 2> samplersOf(const llvm::CallInst& read) const override {
    const auto sampler = samplerIn(read.getArgOperand(1));
    return sampler ? llvm::SmallVector<NativeSampler, 2>{*sampler}
                   : llvm::SmallVector<NativeSampler, 2>{};
  }

  Parameters parameters() const override {
    Parameters result;
    for (size_t i = 0; i < images().size(); ++i) {
      result.types.push_back(imageType(i));
      result.infos.push_back(info().arguments[images()[i].argument]);
    }
    for (size_t i = 0; i < samplers().size(); ++i) {
      result.types.push_back(llvm::TargetExtType::get(module().getContext(), "spirv.Sampler"));
      result.infos.emplace_back().kind = ArgumentKind::sampler;
    }
    return result;
  }

  bool fits(const Parameters&) const override { return true; }

  // As Clang writes it.
  llvm::Type* imageType(size_t image) const {
    const Read& read = *llvm::find_if(reads(), [&](const Read& r) { return r.image == image; });
    const llvm::StringRef name = read.call->getCalledFunction()->getName();
    const Shape& shape =
        *llvm::find_if(shapes, [&](const Shape& row) { return name.contains(row.name); });
    llvm::LLVMContext& context = module().getContext();
    return llvm::TargetExtType::get(
        context, "spirv.Image", {llvm::Type::getVoidTy(context)},
        {static_cast<unsigned>(shape.dimension), 0, shape.layered, 0, 0, 0, 0});
  }

  Value* emit(llvm::IRBuilder<>& builder, const Read& read) const override {
    Value* const image = added(read.image);
    Value* const sampler = added(images().size() + read.samplers.front());
    Value* const coordinate = read.call->getArgOperand(2);
    const std::string name =
        (spirv_sample_prefix + read.call->getCalledFunction()->getName()).str();
    auto* type = llvm::FunctionType::get(
        read.call->getType(), {image->getType(), sampler->getType(), coordinate->getType()}, false);
    llvm::FunctionCallee callee = module().getOrInsertFunction(name, type);
    auto* function = llvm::cast<Function>(callee.getCallee());
    // Nobody writes an image while it is read through a sampler.
    function->setMemoryEffects(llvm::MemoryEffects::none());
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::WillReturn);
    return builder.CreateCall(callee, {image, sampler, coordinate});
  }
};

}  // namespace

void addSpirvTwins(llvm::Module& module, std::vector<KernelInfo>& kernels) {
  addNativeTwins<SpirvTwin>(module, readsOf(module), kernels);
}

}  // namespace weft::compiler
