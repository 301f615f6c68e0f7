// Images and samplers, as the functions of OpenCL C that do the same.
#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

// Bits of the image operands, and the number of operands that each brings.
constexpr uint32_t bias = 0x1, lod = 0x2, gradients = 0x4, sign_extend = 0x1000,
                   zero_extend = 0x2000;

uint32_t imageOperands(const Instruction& instruction, size_t first) {
  return instruction.operands.size() > first ? instruction.operands[first] : 0;
}

// read_imagef, read_imagei, ...: by what a texel is made of.
std::string withType(const char* name, const llvm::Type* texel, uint32_t operands) {
  const llvm::Type* scalar = texel->getScalarType();
  if (scalar->isHalfTy()) return std::string(name) + "h";
  if (scalar->isFloatingPointTy()) return std::string(name) + "f";
  return std::string(name) + (operands & zero_extend ? "ui" : "i");
}

bool isZero(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  return constant && constant->isZeroValue();
}

}  // namespace

Id FunctionReader::imageOf(Id id) const {
  const auto found = images_.find(id);
  if (found == images_.end()) throw Failure("%" + std::to_string(id) + " is no sampled image");
  return found->second;
}

llvm::Value* FunctionReader::emitImage(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  // OpenCL C counts from 0x10B0 and 0x10D0, SPIR-V from zero.
  constexpr uint32_t first_order = 0x10B0, first_data_type = 0x10D0;
  const auto query = [&](const char* name) {
    return callTyped(name, builder_.getInt32Ty(), {argument(operands.at(0))});
  };
  switch (instruction.op) {
    case Op::OpSampledImage:
      images_[instruction.result] = operands.at(0);
      samplers_[instruction.result] = operands.at(1);
      return llvm::PoisonValue::get(llvmType(instruction));
    case Op::OpImage:
      return value(imageOf(operands.at(0)));
    case Op::OpImageSampleExplicitLod:
      return emitSample(instruction);
    case Op::OpImageRead:
      return emitRead(instruction);
    case Op::OpImageWrite:
      return emitWrite(instruction);
    case Op::OpImageQuerySize:
    case Op::OpImageQuerySizeLod:
      return emitSize(instruction);
    case Op::OpImageQueryFormat:
      return builder_.CreateSub(query("get_image_channel_data_type"),
                                builder_.getInt32(first_data_type));
    case Op::OpImageQueryOrder:
      return builder_.CreateSub(query("get_image_channel_order"), builder_.getInt32(first_order));
    case Op::OpImageQueryLevels:
      return query("get_image_num_mip_levels");
    default:
      return nullptr;
  }
}

llvm::Value* FunctionReader::emitSample(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const Id image = imageOf(operands.at(0));
  const uint32_t bits = imageOperands(instruction, 2);
  Arguments arguments = {argument(image), argument(samplers_.at(operands[0])),
                         argument(operands.at(1))};
  if (bits & bias) throw Failure("a sample with a bias");
  if (bits & lod && !isZero(value(operands.at(3)))) arguments.push_back(argument(operands[3]));
  if (bits & gradients) {
    arguments.push_back(argument(operands.at(3)));
    arguments.push_back(argument(operands.at(4)));
  }
  llvm::Type* texel = llvmType(instruction);
  const std::string name = withType("read_image", texel, bits);
  if (!types_.at(typeOf(image)).depth) return callTyped(name, texel, arguments);
  // OpenCL C's depth images have one channel.
  llvm::Value* depth = callTyped(name, texel->getScalarType(), arguments);
  return texel->isVectorTy() ? builder_.CreateInsertElement(texel, depth, uint64_t{0}) : depth;
}

llvm::Value* FunctionReader::emitRead(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  llvm::Type* texel = llvmType(instruction);
  const std::string name = withType("read_image", texel, imageOperands(instruction, 2));
  const Arguments arguments = {argument(operands.at(0)), argument(operands.at(1))};
  if (!types_.at(typeOf(operands[0])).depth) return callTyped(name, texel, arguments);
  llvm::Value* depth = callTyped(name, texel->getScalarType(), arguments);
  return texel->isVectorTy() ? builder_.CreateInsertElement(texel, depth, uint64_t{0}) : depth;
}

llvm::Value* FunctionReader::emitWrite(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const uint32_t bits = imageOperands(instruction, 3);
  const Sign sign = bits & zero_extend ? Sign::unsigned_ : Sign::signed_;
  Argument texel = argument(operands.at(2), sign);
  if (types_.at(typeOf(operands.at(0))).depth && texel.value->getType()->isVectorTy())
    texel = {builder_.CreateExtractElement(texel.value, uint64_t{0}), spellBuiltin("f")};
  Arguments arguments = {argument(operands[0]), argument(operands.at(1))};
  if (bits & lod) arguments.push_back(smallNumber(operands.at(4), "i"));
  arguments.push_back(texel);
  return callTyped(withType("write_image", texel.value->getType(), bits), builder_.getVoidTy(),
                   arguments);
}

// Each level is half the size of the one before, and at least 1.
llvm::Value* FunctionReader::atLevel(llvm::Value* size, llvm::Value* level) {
  llvm::Type* type = size->getType();
  llvm::Value* shrunk =
      builder_.CreateLShr(size, builder_.CreateZExtOrTrunc(checked::integer(level), type));
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, shrunk,
                                        llvm::ConstantInt::get(type, 1));
}

llvm::Value* FunctionReader::emitSize(const Instruction& instruction) {
  const Id image = instruction.operands.at(0);
  const Type& type = types_.at(typeOf(image));
  std::vector<const char*> names = {"get_image_width"};
  if (type.dimension == spv::Dim::Dim2D || type.dimension == spv::Dim::Dim3D)
    names.push_back("get_image_height");
  if (type.dimension == spv::Dim::Dim3D) names.push_back("get_image_depth");
  if (type.arrayed) names.push_back("get_image_array_size");
  const bool has_level =
      instruction.op == Op::OpImageQuerySizeLod && !isZero(value(instruction.operands.at(1)));
  llvm::Type* result = llvmType(instruction);
  checked::demand(result->isIntOrIntVectorTy(), "a size that is no integer");
  llvm::Value* made = nullptr;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool layers = type.arrayed && i + 1 == names.size();
    llvm::Type* returned = layers ? builder_.getInt64Ty() : builder_.getInt32Ty();
    llvm::Value* one = callTyped(names[i], returned, {argument(image)});
    if (has_level && !layers) one = atLevel(one, value(instruction.operands[1]));
    one = builder_.CreateZExtOrTrunc(one, result->getScalarType());
    if (!result->isVectorTy()) return one;
    checked::member(result, static_cast<unsigned>(i));
    made = builder_.CreateInsertElement(made ? made : llvm::PoisonValue::get(result), one, i);
  }
  return made;
}

}  // namespace weft::compiler::spirv
