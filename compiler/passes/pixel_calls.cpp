#include "compiler/passes/pixel_calls.h"

#include <array>

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Instructions.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "compiler/passes/image_accesses.h"
#include "core/ports/pixels.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::StringRef;
using llvm::Value;

void addAttributes(Function& declaration) {
  declaration.setDoesNotThrow();
  declaration.setWillReturn();
  declaration.setNoSync();
  declaration.setDoesNotFreeMemory();
}

// Gives the library's function its body.
class ImageFunctionBody {
 public:
  ImageFunctionBody(Function& function, const ImageFunction& is)
      : function_(function),
        is_(is),
        builder_(llvm::BasicBlock::Create(function.getContext(), "", &function)) {}

  void define() {
    Value* const shape =
        builder_.getInt32(is_.dimensions | (is_.layered ? port::pixel_layered : 0) |
                          (is_.integers ? port::pixel_integers : 0));
    Value* const coordinate = function_.getArg(is_.sampled ? 2 : 1);
    const auto [x, y, z] = places(coordinate);
    if (is_.writes) {
      Value* const colour = wide(function_.getArg(2));
      call("store", builder_.getVoidTy(), {function_.getArg(0), shape, x, y, z, colour});
      builder_.CreateRetVoid();
    } else {
      Value* sampler = builder_.getInt32(0);
      if (is_.sampled) sampler = function_.getArg(1);
      const bool between = coordinate->getType()->getScalarType()->isFloatTy();
      Value* const colour = call(between       ? "sample"
                                 : is_.sampled ? "read"
                                               : "fetch",
                                 element(), {function_.getArg(0), shape, sampler, x, y, z});
      builder_.CreateRet(narrow(colour));
    }
    function_.setLinkage(llvm::GlobalValue::InternalLinkage);
    function_.setCallingConv(llvm::CallingConv::C);
    for (llvm::User* user : function_.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
        call->setCallingConv(llvm::CallingConv::C);
  }

 private:
  // The coordinate as (x, y, z or layer), 0 where there is none.
  std::array<Value*, 3> places(Value* coordinate) {
    llvm::Type* const type = coordinate->getType();
    std::array<Value*, 3> result;
    result.fill(llvm::Constant::getNullValue(type->getScalarType()));
    for (unsigned i = 0; i < is_.dimensions + is_.layered; ++i)
      result[i < is_.dimensions ? i : 2] =
          type->isVectorTy() ? builder_.CreateExtractElement(coordinate, i) : coordinate;
    return result;
  }

  llvm::Type* element() { return is_.integers ? builder_.getInt32Ty() : builder_.getFloatTy(); }

  Value* call(StringRef kind, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
    if (!result->isVoidTy()) result = llvm::FixedVectorType::get(result, 4);
    llvm::SmallVector<llvm::Type*> types;
    for (Value* const argument : arguments) types.push_back(argument->getType());
    auto* const type = llvm::FunctionType::get(result, types, false);
    const std::string name =
        (pixel_call_prefix + kind + (is_.integers ? "_integer" : "_float")).str();
    llvm::FunctionCallee callee = function_.getParent()->getOrInsertFunction(name, type);
    auto* const declaration = llvm::cast<Function>(callee.getCallee());
    addAttributes(*declaration);
    if (result->isVoidTy())
      declaration->setOnlyWritesMemory();
    else
      declaration->setOnlyReadsMemory();
    return builder_.CreateCall(callee, arguments);
  }

  // Four of 32 bits, from fewer or shorter ones, and back.
  Value* wide(Value* colour) {
    if (!colour->getType()->isVectorTy())
      return builder_.CreateInsertElement(
          llvm::Constant::getNullValue(llvm::FixedVectorType::get(colour->getType(), 4)), colour,
          uint64_t{0});
    if (colour->getType()->getScalarType()->isHalfTy())
      return builder_.CreateFPExt(colour, llvm::FixedVectorType::get(builder_.getFloatTy(), 4));
    return colour;
  }
  Value* narrow(Value* colour) {
    llvm::Type* const type = function_.getReturnType();
    if (!type->isVectorTy()) return builder_.CreateExtractElement(colour, uint64_t{0});
    return type->getScalarType()->isHalfTy() ? builder_.CreateFPTrunc(colour, type) : colour;
  }

  Function& function_;
  const ImageFunction& is_;
  llvm::IRBuilder<> builder_;
};

// "__weft_pixel_read_float.16"
struct MarkerName {
  StringRef kind;
  unsigned lanes = 1;
};

std::optional<MarkerName> parse(StringRef name) {
  if (!name.consume_front(pixel_call_prefix)) return std::nullopt;
  const auto [base, lanes] = name.split('.');
  MarkerName result{base.split('_').first};
  if (!lanes.empty() && lanes.getAsInteger(10, result.lanes)) return std::nullopt;
  return result;
}

size_t offsetOf(const MarkerName& name) {
  const size_t forms = llvm::StringSwitch<size_t>(name.kind)
                           .Case("fetch", offsetof(port::PixelFunctions, fetch))
                           .Case("read", offsetof(port::PixelFunctions, read))
                           .Case("sample", offsetof(port::PixelFunctions, sample))
                           .Default(offsetof(port::PixelFunctions, store));
  return forms + sizeof(void*) * llvm::Log2_32(name.lanes);
}

void lower(llvm::CallInst& call, size_t offset) {
  llvm::IRBuilder<> builder(&call);
  const auto load = [&](Value* base, size_t at) {
    Value* const address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, at);
    return builder.CreateLoad(builder.getPtrTy(), address);
  };
  Value* const functions = load(call.getArgOperand(0), port::pixel_functions_offset);
  call.setCalledOperand(load(functions, offset));
}

}  // namespace

void defineImageFunctions(llvm::Module& module) {
  for (Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    if (const auto image = imageFunction(function)) ImageFunctionBody(function, *image).define();
  }
}

bool isPixelCall(const llvm::CallBase& call) {
  const Function* const callee = call.getCalledFunction();
  return callee && callee->isDeclaration() && callee->getName().starts_with(pixel_call_prefix);
}

unsigned pixelLanes(const llvm::TargetMachine& machine) {
  const auto has = [&](const char* features) {
    return machine.getMCSubtargetInfo()->checkFeatures(features);
  };
  if (!machine.getTargetTriple().isX86()) return 0;
  if (has("+avx512f,+avx512bw,+avx512dq,+avx512vl")) return 16;
  if (has("+avx2,+f16c")) return 8;
  return has("+sse4.1") ? 4 : 0;
}

PixelCall::PixelCall(const llvm::CallBase& call)
    : image(call.getArgOperand(0)), shape(call.getArgOperand(1)) {
  const bool reads = !call.getType()->isVoidTy();
  sampler = reads ? call.getArgOperand(2) : nullptr;
  for (unsigned i = 0; i < 3; ++i) coordinate[i] = call.getArgOperand((reads ? 3 : 2) + i);
  colour = reads ? nullptr : call.getArgOperand(5);
}

void callForLanes(llvm::IRBuilderBase& builder, const llvm::CallBase& call, const PixelCall& all,
                  Value* lanes, Value* result, llvm::ArrayRef<Value*> coordinate,
                  llvm::ArrayRef<Value*> colour) {
  llvm::SmallVector<Value*> arguments{all.image, all.shape, lanes};
  if (all.sampler) arguments.append({result, all.sampler});
  arguments.append(coordinate.begin(), coordinate.end());
  arguments.append(colour.begin(), colour.end());
  llvm::SmallVector<llvm::Type*> types;
  for (Value* const argument : arguments) types.push_back(argument->getType());
  const unsigned width =
      llvm::cast<llvm::FixedVectorType>(coordinate.front()->getType())->getNumElements();
  Function& callee = *call.getCalledFunction();
  const std::string name = (callee.getName() + "." + llvm::Twine(width)).str();
  llvm::FunctionCallee vector = callee.getParent()->getOrInsertFunction(
      name, llvm::FunctionType::get(builder.getVoidTy(), types, false));
  addAttributes(*llvm::cast<Function>(vector.getCallee()));
  builder.CreateCall(vector, arguments);
}

void lowerPixelCalls(llvm::Module& module) {
  for (Function& function : llvm::make_early_inc_range(module)) {
    const auto name = parse(function.getName());
    if (!name || !function.isDeclaration()) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users()))
      lower(*llvm::cast<llvm::CallInst>(user), offsetOf(*name));
    function.eraseFromParent();
  }
}

}  // namespace weft::compiler
