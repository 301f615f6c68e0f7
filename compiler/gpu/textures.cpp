#include "compiler/gpu/textures.h"

#include <array>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"
#include "compiler/gpu/host_module.h"
#include "compiler/gpu/native_images.h"
#include "compiler/gpu/target_module.h"
#include "core/ports/launch.h"
#include "core/ports/native_images.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::StringRef;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

// The library's functions for twins have the names of those that they stand for, with this in front
// and two handles behind.
constexpr StringRef name_prefix = "weft_texture_", handles = "mm";

// "_Z11read_imagef..." -> "_Z24weft_texture_read_imagef...mm"; empty for other names.
std::string textureName(StringRef symbol) {
  size_t length = 0;
  if (!symbol.consume_front("_Z") || symbol.consumeInteger(10, length) ||
      !symbol.starts_with("read_image"))
    return {};
  return ("_Z" + llvm::Twine(length + name_prefix.size()) + name_prefix + symbol + handles).str();
}

ImageReads readsOf(const llvm::Module& module) {
  ImageReads::Functions reads;
  for (const Function& function : module)
    if (const std::string name = textureName(function.getName());
        !name.empty() && findBuiltinModule(name))
      reads.insert(&function);
  return ImageReads(std::move(reads));
}

constexpr NativeSampler texels{false, port::sampler_filter_nearest};

class TextureTwin final : public NativeTwin {
 public:
  using NativeTwin::NativeTwin;

 private:
  struct Use {
    bool takes_texels, filters;
  };
  static bool hasSampler(const llvm::CallInst& read) { return read.arg_size() == 3; }
  static bool isPlane(const llvm::CallInst& read) {
    const StringRef name = read.getCalledFunction()->getName();
    return name.contains("14ocl_image1d_ro") || name.contains("14ocl_image2d_ro");
  }
  static Use useOf(const llvm::CallInst& read) {
    Value* const coordinate = read.getArgOperand(read.arg_size() - 1);
    const bool floats = read.getType()->getScalarType()->isFloatingPointTy();
    if (!hasSampler(read) || !isPlane(read) || !floats ||
        !coordinate->getType()->getScalarType()->isFloatTy())
      return {true, false};
    const auto* literal = llvm::dyn_cast<llvm::ConstantInt>(read.getArgOperand(1));
    if (!literal) return {true, true};
    const bool filters = (literal->getZExtValue() & port::sampler_filter_linear) != 0;
    return {!filters, filters};
  }

  llvm::SmallVector<NativeSampler, 2> samplersOf(const llvm::CallInst& read) const override {
    const Use use = useOf(read);
    llvm::SmallVector<NativeSampler, 2> result;
    if (use.takes_texels) result.push_back(texels);
    if (!use.filters) return result;
    const auto sampler = samplerIn(read.getArgOperand(1));
    if (!sampler) return {};
    result.push_back(*sampler);
    return result;
  }

  Parameters parameters() const override {
    Parameters result;
    ArgumentInfo handle;
    handle.size = handle.alignment = sizeof(uint64_t);
    for (const NativeImage& image : images())
      for (int i = 0; i < llvm::popcount(image.samplers); ++i) {
        result.types.push_back(llvm::Type::getInt64Ty(module().getContext()));
        result.infos.push_back(handle);
      }
    return result;
  }

  bool fits(const Parameters& more) const override {
    const uint64_t bytes = parameterBytes(info());
    return bytes > usual_parameter_bytes ||
           bytes + more.infos.size() * sizeof(uint64_t) <= usual_parameter_bytes;
  }

  Value* textureOf(size_t image, size_t sampler) const {
    size_t before = 0;
    for (size_t i = 0; i < image; ++i)
      before += static_cast<size_t>(llvm::popcount(images()[i].samplers));
    const uint32_t lower = images()[image].samplers & ((1u << sampler) - 1);
    return added(before + static_cast<size_t>(llvm::popcount(lower)));
  }

  Value* emit(llvm::IRBuilder<>& builder, const Read& read) const override {
    const Use use = useOf(*read.call);
    const Function& function = *read.call->getCalledFunction();
    llvm::SmallVector<Value*> arguments(read.call->args());
    llvm::SmallVector<llvm::Type*> types(function.getFunctionType()->params());
    types.append(2, builder.getInt64Ty());
    Value* const none = builder.getInt64(0);
    arguments.push_back(use.takes_texels ? textureOf(read.image, read.samplers.front()) : none);
    arguments.push_back(use.filters ? textureOf(read.image, read.samplers.back()) : none);
    auto* type = llvm::FunctionType::get(function.getReturnType(), types, false);
    return builder.CreateCall(module().getOrInsertFunction(textureName(function.getName()), type),
                              arguments);
  }
};

// How a texture can be read: what NVIDIA's GPUs do it by, and what software GPUs call.
struct TextureRead {
  llvm::StringLiteral name;
  Intrinsic::ID instruction;
};
constexpr std::array texture_reads = {
    TextureRead{"filtered", Intrinsic::nvvm_tex_unified_2d_v4f32_f32},
    TextureRead{"texel", Intrinsic::nvvm_tex_unified_2d_v4f32_s32},
    TextureRead{"signed_texel", Intrinsic::nvvm_tex_unified_2d_v4s32_s32},
    TextureRead{"unsigned_texel", Intrinsic::nvvm_tex_unified_2d_v4u32_s32},
};

Value* readByInstruction(llvm::IRBuilder<>& builder, const TextureRead& read,
                         llvm::ArrayRef<Value*> arguments, llvm::Type* result) {
  llvm::CallInst* const call = builder.CreateIntrinsic(read.instruction, {}, arguments);
  // Nobody writes an image while it is read so.
  call->setMemoryEffects(llvm::MemoryEffects::none());
  Value* colour = llvm::PoisonValue::get(result);
  for (unsigned i = 0; i < 4; ++i)
    colour = builder.CreateInsertElement(colour, builder.CreateExtractValue(call, i), i);
  return colour;
}

Value* readBySoftware(llvm::IRBuilder<>& builder, const TextureRead& read,
                      llvm::ArrayRef<Value*> arguments, llvm::Type* result) {
  Value* const colour = builder.CreateAlloca(result);
  llvm::SmallVector<Value*> all(arguments);
  all.insert(all.begin(), colour);
  llvm::SmallVector<llvm::Type*> types;
  for (Value* argument : all) types.push_back(argument->getType());
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  builder.CreateCall(
      module.getOrInsertFunction((simt_prefix + ("texture_" + read.name)).str(),
                                 llvm::FunctionType::get(builder.getVoidTy(), types, false)),
      all);
  return builder.CreateLoad(result, colour);
}

void define(Function& function, const TextureRead& read, TextureUnit unit) {
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.removeFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
  Value* const at = function.getArg(1);
  const llvm::SmallVector<Value*> arguments{function.getArg(0),
                                            builder.CreateExtractElement(at, uint64_t{0}),
                                            builder.CreateExtractElement(at, uint64_t{1})};
  const auto make = unit == TextureUnit::nvidia ? readByInstruction : readBySoftware;
  builder.CreateRet(make(builder, read, arguments, function.getReturnType()));
}

}  // namespace

llvm::Error addTextureTwins(llvm::Module& module, std::vector<KernelInfo>& kernels) {
  const size_t before = kernels.size();
  addNativeTwins<TextureTwin>(module, readsOf(module), kernels);
  return kernels.size() == before ? llvm::Error::success() : linkBuiltins(module);
}

void defineTextureReads(llvm::Module& module, TextureUnit unit) {
  for (const TextureRead& read : texture_reads)
    if (Function* function = module.getFunction((texture_read_prefix + read.name).str()))
      define(*function, read, unit);
}

void shareFormats(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (function.getName().contains("weft_load_any") ||
        function.getName().contains("weft_store_any"))
      function.addFnAttr(llvm::Attribute::NoInline);
}

}  // namespace weft::compiler
