#include "compiler/passes/image_accesses.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::StringRef;
using llvm::Value;

constexpr unsigned descriptor_space = 2;

// What a coordinate's components are: first so many dimensions, then perhaps a layer.
struct Shape {
  StringRef type;
  unsigned dimensions;
  bool layered;
};
constexpr Shape shapes[] = {
    {"1d", 1, false},       {"1d_buffer", 1, false}, {"1d_array", 1, true},       {"2d", 2, false},
    {"2d_depth", 2, false}, {"2d_array", 2, true},   {"2d_array_depth", 2, true}, {"3d", 3, false},
};

constexpr StringRef reads[] = {"read_imagef", "read_imagei", "read_imageui", "read_imageh"};
constexpr StringRef writes[] = {"write_imagef", "write_imagei", "write_imageui", "write_imageh"};

// "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i"
struct Name {
  bool writes, integers;
  StringRef image;  // "2d"
  bool sampled;
};

// Programs may have functions of other parameters under the same name.
bool isCoordinate(StringRef& types) {
  if (!types.consume_front("Dv2_")) types.consume_front("Dv4_");
  return types.consume_front("i") || types.consume_front("f");
}

// In full, or as the same type as a parameter before: "S0_".
bool isColour(StringRef types) {
  if (types.consume_front("S") && types.consume_back("_"))
    return llvm::all_of(types, llvm::isAlnum);
  constexpr StringRef spelled[] = {"f", "Dv4_f", "Dv4_i", "Dv4_j", "Dv4_Dh"};
  return llvm::is_contained(spelled, types);
}

std::optional<Name> parse(StringRef symbol) {
  Name name;
  size_t length = 0;
  if (!symbol.consume_front("_Z") || symbol.consumeInteger(10, length)) return std::nullopt;
  const StringRef function = symbol.take_front(length);
  name.writes = llvm::is_contained(writes, function);
  if (!name.writes && !llvm::is_contained(reads, function)) return std::nullopt;
  name.integers = function.ends_with("i");
  symbol = symbol.drop_front(function.size());
  if (symbol.consumeInteger(10, length)) return std::nullopt;
  name.image = symbol.take_front(length);
  symbol = symbol.drop_front(name.image.size());
  if (!name.image.consume_front("ocl_image")) return std::nullopt;
  if (!name.image.consume_back("_ro") && !name.image.consume_back("_wo") &&
      !name.image.consume_back("_rw"))
    return std::nullopt;
  name.sampled = symbol.consume_front("11ocl_sampler");
  if (!isCoordinate(symbol) || !(name.writes ? isColour(symbol) : symbol.empty()))
    return std::nullopt;
  return name;
}

const Shape* shapeOf(StringRef image) {
  const auto* const shape =
      llvm::find_if(shapes, [&](const Shape& each) { return each.type == image; });
  return shape == std::end(shapes) ? nullptr : shape;
}

// A call of a function that touches one pixel of the first level, at integer coordinates.
struct PixelCall {
  llvm::CallInst* call;
  const Shape* shape;
  Value* coordinate;
  bool writes, sampled;
};

std::optional<PixelCall> pixelCall(llvm::Instruction& instruction) {
  auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* const callee = call ? call->getCalledFunction() : nullptr;
  const auto name = callee ? parse(callee->getName()) : std::nullopt;
  if (!name || !llvm::isa<llvm::Argument>(call->getArgOperand(0)) ||
      call->getArgOperand(0)->getType()->getPointerAddressSpace() != descriptor_space)
    return std::nullopt;
  const Shape* const shape = shapeOf(name->image);
  if (!shape) return std::nullopt;
  PixelCall pixel{call, shape, nullptr, name->writes, name->sampled};
  pixel.coordinate = call->getArgOperand(pixel.sampled ? 2 : 1);
  if (!pixel.coordinate->getType()->getScalarType()->isIntegerTy(32)) return std::nullopt;
  return pixel;
}

// Code before a call that says where its pixel lies.
class PixelPlace {
 public:
  explicit PixelPlace(const PixelCall& pixel) : pixel_(pixel), builder_(pixel.call) {}

  Value* bytes() { return size(offsetof(Descriptor, pixel_bytes), builder_.getInt16Ty()); }
  // The offset, and whether it is one of the image's.
  std::pair<Value*, Value*> offset();

 private:
  using Descriptor = port::ImageDescriptor;

  Value* image() const { return pixel_.call->getArgOperand(0); }
  Value* field(size_t offset, llvm::Type* type);
  Value* size(size_t offset, llvm::Type* type) {
    return builder_.CreateZExt(field(offset, type), builder_.getInt64Ty());
  }
  Value* component(unsigned index);
  Value* step(Value* coordinate, size_t pitch) {
    return builder_.CreateMul(builder_.CreateZExt(coordinate, builder_.getInt64Ty()),
                              field(pitch, builder_.getInt64Ty()));
  }
  Value* within(unsigned index, size_t extent);

  const PixelCall& pixel_;
  llvm::IRBuilder<> builder_;
  Value* inside_ = nullptr;
};

Value* PixelPlace::field(size_t offset, llvm::Type* type) {
  Value* const address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), image(), offset);
  llvm::LoadInst* const load = builder_.CreateLoad(type, address);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(builder_.getContext(), {}));
  return load;
}

Value* PixelPlace::component(unsigned index) {
  Value* const all = pixel_.coordinate;
  return all->getType()->isVectorTy() ? builder_.CreateExtractElement(all, index) : all;
}

// A component of the coordinate. A sampler may fold what is beyond the image to its edge; without
// one, nothing is touched there.
Value* PixelPlace::within(unsigned index, size_t extent) {
  Value* const at = component(index);
  Value* const count = field(extent, builder_.getInt32Ty());
  Value* const zero = builder_.getInt32(0);
  if (pixel_.sampled) {
    Value* const last = builder_.CreateSub(count, builder_.getInt32(1));
    Value* const low = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, zero);
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, low, last);
  }
  // Two conditions that may each narrow a range, of images less than 2^31 wide.
  for (Value* const condition :
       {builder_.CreateICmpSGE(at, zero), builder_.CreateICmpSLT(at, count)})
    inside_ = inside_ ? builder_.CreateLogicalAnd(inside_, condition) : condition;
  return at;
}

std::pair<Value*, Value*> PixelPlace::offset() {
  constexpr size_t extents[] = {offsetof(Descriptor, width), offsetof(Descriptor, height),
                                offsetof(Descriptor, depth)};
  const auto [type, dimensions, layered] = *pixel_.shape;
  Value* const x = within(0, extents[0]);
  Value* const pixel = builder_.CreateTrunc(bytes(), builder_.getInt32Ty());
  Value* offset = builder_.CreateZExt(builder_.CreateMul(x, pixel), builder_.getInt64Ty());
  if (dimensions > 1)
    offset =
        builder_.CreateAdd(offset, step(within(1, extents[1]), offsetof(Descriptor, row_pitch)));
  if (dimensions > 2 || layered) {
    const size_t extent = layered ? offsetof(Descriptor, array_size) : extents[2];
    offset = builder_.CreateAdd(
        offset, step(within(layered ? dimensions : 2, extent), offsetof(Descriptor, slice_pitch)));
  }
  return {offset, inside_};
}

}  // namespace

std::optional<ImageFunction> imageFunction(const llvm::Function& function) {
  const auto name = parse(function.getName());
  const Shape* const shape = name ? shapeOf(name->image) : nullptr;
  if (!shape) return std::nullopt;
  return ImageFunction{name->writes, name->sampled, name->integers, shape->dimensions,
                       shape->layered};
}

PixelNotes::PixelNotes(llvm::Module& module) : module_(module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const offset = llvm::Type::getInt64Ty(context);
  llvm::Type* const parameters[] = {llvm::PointerType::get(context, descriptor_space), offset,
                                    offset};
  auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false);
  for (llvm::Function** const note : {&read_, &written_}) {
    *note = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "weft_pixel", module);
    (*note)->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    (*note)->addFnAttrs(llvm::AttrBuilder(context)
                            .addAttribute(llvm::Attribute::NoUnwind)
                            .addAttribute(llvm::Attribute::WillReturn));
  }
}

PixelNotes::~PixelNotes() {
  for (llvm::Function* const function : values_) function->eraseFromParent();
  read_->eraseFromParent();
  written_->eraseFromParent();
}

llvm::FunctionCallee PixelNotes::valueFunction(llvm::Type* result, llvm::ArrayRef<llvm::Type*> of) {
  auto* const type = llvm::FunctionType::get(result, of, false);
  values_.push_back(
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, "weft_value", module_));
  values_.back()->setAttributes(read_->getAttributes());
  return values_.back();
}

// What is written came from somewhere, too, so it stays in use. What is read is each time another
// value, of which nothing is known.
void PixelNotes::replaceValue(llvm::CallInst& call, bool writes) {
  llvm::IRBuilder<> builder(&call);
  llvm::Type* const type = call.getType();
  if (!writes) return call.replaceAllUsesWith(builder.CreateCall(valueFunction(type, {})));
  Value* const value = call.getArgOperand(call.arg_size() - 1);
  builder.CreateCall(valueFunction(builder.getVoidTy(), value->getType()), value);
}

void PixelNotes::addTo(llvm::Function& function) {
  llvm::SmallVector<PixelCall> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto pixel = pixelCall(instruction)) calls.push_back(*pixel);
  for (const PixelCall& pixel : calls) {
    PixelPlace place(pixel);
    Value* const bytes = place.bytes();
    const auto [offset, inside] = place.offset();
    replaceValue(*pixel.call, pixel.writes);
    llvm::Instruction* before = pixel.call;
    if (inside) before = llvm::SplitBlockAndInsertIfThen(inside, pixel.call->getIterator(), false);
    llvm::CallInst::Create(pixel.writes ? written_ : read_,
                           {pixel.call->getArgOperand(0), offset, bytes}, "",
                           before->getIterator());
    pixel.call->eraseFromParent();
  }
}

std::optional<PixelNotes::Note> PixelNotes::noteOf(const llvm::CallBase& call) const {
  const llvm::Function* const callee = call.getCalledFunction();
  if (callee != read_ && callee != written_) return std::nullopt;
  return Note{call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2),
              callee == written_};
}

}  // namespace weft::compiler
