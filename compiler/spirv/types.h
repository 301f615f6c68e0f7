// The types of a SPIR-V module: in LLVM, in the names of builtin functions, and in OpenCL C.
#pragma once

#include <stdexcept>
#include <unordered_map>

#include <llvm/IR/DerivedTypes.h>

#include "compiler/spirv/instructions.h"
#include "compiler/spirv/mangling.h"

namespace weft::compiler::spirv {

// The module is damaged, or asks for what is not supported.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Kernels' integers have no sign; the functions they are given to do.
enum class Sign : uint8_t { signed_, unsigned_ };

struct Type {
  spv::Op op = spv::Op::OpTypeVoid;
  llvm::Type* llvm = nullptr;
  Id element = 0;  // of vectors, arrays, pointers; what a function returns
  uint32_t count = 0;
  std::vector<Id> members;  // of structures; parameters of functions
  spv::StorageClass storage = spv::StorageClass::Function;
  spv::Dim dimension = spv::Dim::Dim1D;
  bool depth = false, arrayed = false;
  spv::AccessQualifier access = spv::AccessQualifier::ReadOnly;
};

uint32_t addressSpace(spv::StorageClass storage);

class Types {
 public:
  Types(llvm::LLVMContext& context, const Instructions& module)
      : context_(context), module_(module) {}

  // False unless the instruction declares a type. `length` knows the value of a constant.
  template <typename Length>
  bool declare(const Instruction& instruction, const Length& length) {
    if (instruction.op == spv::Op::OpTypeArray)
      declareArray(instruction, length(instruction.operands.at(1)));
    else if (!declareOther(instruction))
      return false;
    return true;
  }

  const Type& at(Id id) const;
  llvm::Type* llvm(Id id) const { return at(id).llvm; }
  // The type, or what its elements are.
  const Type& scalar(Id id) const;
  bool isVector(Id id) const { return at(id).op == spv::Op::OpTypeVector; }

  Spelling spelling(Id id, Sign sign) const;
  Spelling pointerSpelling(Id id, Sign sign, Qualifiers qualifiers) const;
  // "uint4", "float*", "image2d_t", "struct name".
  std::string name(Id id) const;

 private:
  void declareArray(const Instruction& instruction, uint64_t length);
  bool declareOther(const Instruction& instruction);
  Type describe(const Instruction& instruction) const;
  Type describeVector(const std::vector<uint32_t>& operands) const;
  Type describeImage(const std::vector<uint32_t>& operands) const;
  Type describeStruct(const Instruction& instruction) const;
  Type describeFunction(const std::vector<uint32_t>& operands) const;

  llvm::LLVMContext& context_;
  const Instructions& module_;
  std::unordered_map<Id, Type> types_;
  std::unordered_map<Id, spv::StorageClass> forward_pointers_;
};

}  // namespace weft::compiler::spirv
