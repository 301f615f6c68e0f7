#include "compiler/spirv/types.h"

#include "compiler/spirv/checks.h"

namespace weft::compiler::spirv {
namespace {

llvm::Type* floatType(llvm::LLVMContext& context, uint32_t bits) {
  switch (bits) {
    case 16:
      return llvm::Type::getHalfTy(context);
    case 32:
      return llvm::Type::getFloatTy(context);
    case 64:
      return llvm::Type::getDoubleTy(context);
    default:
      throw Failure("floating-point numbers of " + std::to_string(bits) + " bits");
  }
}

llvm::Type* intType(llvm::LLVMContext& context, uint32_t bits) {
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    throw Failure("integers of " + std::to_string(bits) + " bits");
  return llvm::IntegerType::get(context, bits);
}

// OpenCL C's name of an image type without qualifier: "image2d_array_depth".
std::string imageName(const Type& type) {
  std::string name = "image";
  switch (type.dimension) {
    case spv::Dim::Dim1D:
      name += "1d";
      break;
    case spv::Dim::Dim2D:
      name += "2d";
      break;
    case spv::Dim::Dim3D:
      name += "3d";
      break;
    case spv::Dim::Buffer:
      return name + "1d_buffer";
    default:
      throw Failure("an image of a kind that kernels do not have");
  }
  if (type.arrayed) name += "_array";
  if (type.depth) name += "_depth";
  return name;
}

const char* accessSuffix(spv::AccessQualifier access) {
  switch (access) {
    case spv::AccessQualifier::WriteOnly:
      return "_wo";
    case spv::AccessQualifier::ReadWrite:
      return "_rw";
    default:
      return "_ro";
  }
}

// Clang abbreviates repetitions of these, as of no other builtin type.
Spelling spellOpaque(const std::string& name) { return spellEnumeration("ocl_" + name); }

const char* integerCode(uint32_t bits, Sign sign) {
  const bool is_signed = sign == Sign::signed_;
  switch (bits) {
    case 8:
      return is_signed ? "c" : "h";
    case 16:
      return is_signed ? "s" : "t";
    case 32:
      return is_signed ? "i" : "j";
    default:
      return is_signed ? "l" : "m";
  }
}

const char* floatCode(const llvm::Type* type) {
  return type->isHalfTy() ? "Dh" : type->isFloatTy() ? "f" : "d";
}

std::string integerName(uint32_t bits) {
  switch (bits) {
    case 8:
      return "uchar";
    case 16:
      return "ushort";
    case 32:
      return "uint";
    default:
      return "ulong";
  }
}

// OpenCL has 16; optimisers of translators join more.
constexpr uint32_t most_components = 1024;

// As Clang names what only builtin functions look into.
constexpr std::pair<spv::Op, const char*> opaque_types[] = {
    {spv::Op::OpTypeSampler, "spirv.Sampler"},
    {spv::Op::OpTypeEvent, "spirv.Event"},
    {spv::Op::OpTypeReserveId, "spirv.ReserveId"},
    {spv::Op::OpTypeQueue, "spirv.Queue"},
    {spv::Op::OpTypeDeviceEvent, "spirv.DeviceEvent"}};

}  // namespace

uint32_t addressSpace(spv::StorageClass storage) {
  switch (storage) {
    case spv::StorageClass::CrossWorkgroup:
      return 1;
    case spv::StorageClass::UniformConstant:
      return 2;
    case spv::StorageClass::Workgroup:
      return 3;
    case spv::StorageClass::Generic:
      return 4;
    case spv::StorageClass::Function:
    case spv::StorageClass::Private:
    case spv::StorageClass::Input:
      return 0;
    default:
      throw Failure("storage class " + std::to_string(static_cast<uint32_t>(storage)));
  }
}

const Type& Types::at(Id id) const {
  const auto found = types_.find(id);
  if (found == types_.end()) throw Failure("%" + std::to_string(id) + " is not a type");
  return found->second;
}

const Type& Types::scalar(Id id) const {
  const Type& type = at(id);
  return type.op == spv::Op::OpTypeVector ? at(type.element) : type;
}

void Types::declareArray(const Instruction& instruction, uint64_t length) {
  Type type;
  type.op = instruction.op;
  type.element = instruction.operands.at(0);
  type.count = static_cast<uint32_t>(length);
  type.llvm = llvm::ArrayType::get(checked::sized(llvm(type.element)), length);
  types_[instruction.result] = std::move(type);
}

bool Types::declareOther(const Instruction& instruction) {
  if (instruction.op == spv::Op::OpTypeForwardPointer) {
    forward_pointers_[instruction.operands.at(0)] =
        static_cast<spv::StorageClass>(instruction.operands.at(1));
    return true;
  }
  Type type = describe(instruction);
  if (!type.llvm) return false;
  type.op = instruction.op;
  types_[instruction.result] = std::move(type);
  return true;
}

// Without an LLVM type when the instruction declares none.
Type Types::describe(const Instruction& instruction) const {
  const auto& operands = instruction.operands;
  const auto opaque = [&](const char* name) { return llvm::TargetExtType::get(context_, name); };
  Type type;
  switch (instruction.op) {
    case spv::Op::OpTypeVoid:
      type.llvm = llvm::Type::getVoidTy(context_);
      break;
    case spv::Op::OpTypeBool:
      type.llvm = llvm::Type::getInt1Ty(context_);
      break;
    case spv::Op::OpTypeInt:
      type.llvm = intType(context_, operands.at(0));
      break;
    case spv::Op::OpTypeFloat:
      type.llvm = floatType(context_, operands.at(0));
      break;
    case spv::Op::OpTypeVector:
      return describeVector(operands);
    case spv::Op::OpTypePointer:
      type.storage = static_cast<spv::StorageClass>(operands.at(0));
      type.element = operands.at(1);
      at(type.element);  // or pointers might point to themselves, and names would have no end
      type.llvm = llvm::PointerType::get(context_, addressSpace(type.storage));
      break;
    case spv::Op::OpTypeStruct:
      return describeStruct(instruction);
    case spv::Op::OpTypeFunction:
      return describeFunction(operands);
    case spv::Op::OpTypeImage:
      return describeImage(operands);
    case spv::Op::OpTypeSampledImage: {
      // A pair, which never leaves the function.
      type.element = operands.at(0);
      type.llvm = llvm::StructType::get(llvm(type.element), opaque("spirv.Sampler"));
      break;
    }
    case spv::Op::OpTypePipe:
      type.access = static_cast<spv::AccessQualifier>(operands.at(0));
      type.llvm = llvm::TargetExtType::get(context_, "spirv.Pipe", {},
                                           {static_cast<unsigned>(type.access)});
      break;
    case spv::Op::OpTypePipeStorage:
      type.llvm = llvm::PointerType::get(context_, addressSpace(spv::StorageClass::CrossWorkgroup));
      break;
    case spv::Op::OpTypeNamedBarrier:
      type.llvm = llvm::PointerType::get(context_, addressSpace(spv::StorageClass::Workgroup));
      break;
    case spv::Op::OpTypeOpaque:
      type.llvm = llvm::StructType::create(context_, instruction.text(0).first);
      break;
    default:
      for (const auto& [op, name] : opaque_types)
        if (op == instruction.op) type.llvm = opaque(name);
      break;
  }
  return type;
}

Type Types::describeVector(const std::vector<uint32_t>& operands) const {
  Type type;
  type.element = operands.at(0);
  type.count = operands.at(1);
  checked::demand(llvm::VectorType::isValidElementType(llvm(type.element)) && type.count > 0 &&
                      type.count <= most_components,
                  "a vector of what vectors are not made of");
  type.llvm = llvm::FixedVectorType::get(llvm(type.element), type.count);
  return type;
}

Type Types::describeImage(const std::vector<uint32_t>& operands) const {
  Type type;
  type.op = spv::Op::OpTypeImage;
  type.dimension = static_cast<spv::Dim>(operands.at(1));
  type.depth = operands.at(2) == 1;
  type.arrayed = operands.at(3) == 1;
  if (operands.at(4) != 0) throw Failure("multi-sampled images");
  if (operands.size() > 7) type.access = static_cast<spv::AccessQualifier>(operands[7]);
  // As Clang writes them: sampling and format are the argument's business.
  const unsigned numbers[] = {
      operands[1], type.depth, type.arrayed, 0, 0, 0, static_cast<unsigned>(type.access)};
  type.llvm =
      llvm::TargetExtType::get(context_, "spirv.Image", {llvm::Type::getVoidTy(context_)}, numbers);
  return type;
}

Type Types::describeStruct(const Instruction& instruction) const {
  Type type;
  type.op = instruction.op;
  type.members = instruction.operands;
  std::vector<llvm::Type*> members;
  for (const Id member : type.members) {
    const auto forward = forward_pointers_.find(member);
    members.push_back(forward == forward_pointers_.end()
                          ? llvm(member)
                          : llvm::PointerType::get(context_, addressSpace(forward->second)));
    checked::demand(llvm::StructType::isValidElementType(members.back()),
                    "a structure of what structures are not made of");
  }
  const bool packed = module_.decoration(instruction.result, spv::Decoration::CPacked) != nullptr;
  type.llvm = llvm::StructType::get(context_, members, packed);
  return type;
}

Type Types::describeFunction(const std::vector<uint32_t>& operands) const {
  Type type;
  type.op = spv::Op::OpTypeFunction;
  type.element = operands.at(0);
  type.members.assign(operands.begin() + 1, operands.end());
  std::vector<llvm::Type*> parameters;
  for (const Id parameter : type.members) parameters.push_back(llvm(parameter));
  checked::demand(llvm::FunctionType::isValidReturnType(llvm(type.element)) &&
                      llvm::all_of(parameters, llvm::FunctionType::isValidArgumentType),
                  "a function of what functions neither take nor return");
  type.llvm = llvm::FunctionType::get(llvm(type.element), parameters, false);
  return type;
}

Spelling Types::spelling(Id id, Sign sign) const {
  const Type& type = at(id);
  switch (type.op) {
    case spv::Op::OpTypeBool:
      return spellBuiltin("b");
    case spv::Op::OpTypeInt:
      return spellBuiltin(integerCode(type.llvm->getIntegerBitWidth(), sign));
    case spv::Op::OpTypeFloat:
      return spellBuiltin(floatCode(type.llvm));
    case spv::Op::OpTypeVector:
      return spellVector(type.count, spelling(type.element, sign));
    case spv::Op::OpTypePointer:
      return pointerSpelling(id, sign, {});
    case spv::Op::OpTypeImage:
      return spellOpaque(imageName(type) + accessSuffix(type.access));
    case spv::Op::OpTypeSampler:
      return spellOpaque("sampler");
    case spv::Op::OpTypeEvent:
      return spellOpaque("event");
    case spv::Op::OpTypeReserveId:
      return spellOpaque("reserveid");
    case spv::Op::OpTypeQueue:
      return spellOpaque("queue");
    case spv::Op::OpTypeDeviceEvent:
      return spellOpaque("clkevent");
    case spv::Op::OpTypeVoid:
      return spellBuiltin("v");
    default:
      throw Failure("a builtin function is given a value of a type that none takes");
  }
}

Spelling Types::pointerSpelling(Id id, Sign sign, Qualifiers qualifiers) const {
  const Type& type = at(id);
  if (type.op != spv::Op::OpTypePointer) throw Failure("a pointer is expected");
  qualifiers.address_space = addressSpace(type.storage);
  return spellPointer(spelling(type.element, sign), qualifiers);
}

std::string Types::name(Id id) const {
  const Type& type = at(id);
  switch (type.op) {
    case spv::Op::OpTypeInt:
      return integerName(type.llvm->getIntegerBitWidth());
    case spv::Op::OpTypeFloat:
      return type.llvm->isHalfTy() ? "half" : type.llvm->isFloatTy() ? "float" : "double";
    case spv::Op::OpTypeVector:
      return name(type.element) + std::to_string(type.count);
    case spv::Op::OpTypePointer:
      return name(type.element) + "*";
    case spv::Op::OpTypeImage:
      return imageName(type) + "_t";
    case spv::Op::OpTypeSampler:
      return "sampler_t";
    case spv::Op::OpTypeEvent:
      return "event_t";
    case spv::Op::OpTypePipe:
      return "pipe";
    case spv::Op::OpTypeReserveId:
      return "reserve_id_t";
    case spv::Op::OpTypeQueue:
      return "queue_t";
    case spv::Op::OpTypeDeviceEvent:
      return "clk_event_t";
    case spv::Op::OpTypeArray:
      return name(type.element) + "[" + std::to_string(type.count) + "]";
    case spv::Op::OpTypeStruct: {
      const auto named = module_.names.find(id);
      return named == module_.names.end() ? "struct" : named->second;
    }
    default:
      return "void";
  }
}

}  // namespace weft::compiler::spirv
