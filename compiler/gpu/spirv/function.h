// One function as SPIR-V.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/gpu/spirv/types.h"

namespace weft::compiler::emit {

// What functions ask of the module that they are in.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual Id functionId(const llvm::Function& function) = 0;
  virtual Id variableId(const llvm::GlobalVariable& variable) = 0;
  // An input of every entry point, of that type.
  virtual Id builtIn(spv::BuiltIn which, Id type) = 0;
  virtual Id extendedInstructions() = 0;
};

class FunctionWriter {
 public:
  FunctionWriter(const llvm::Function& function, Types& types, Surroundings& surroundings)
      : function_(function), types_(types), module_(surroundings) {}

  // With OpFunction and OpFunctionEnd. Throws Inexpressible.
  Words write();

 private:
  using Writer = void (FunctionWriter::*)(const llvm::Instruction&);
  struct Row {
    unsigned opcode;
    Writer write;
  };
  static const Row rows[];
  struct CallRow;
  static const CallRow call_rows[];

  Id parameterType(const llvm::Argument& argument);
  void write(const llvm::Instruction& instruction);

  void alloca_(const llvm::Instruction& instruction);
  void load(const llvm::Instruction& instruction);
  void store(const llvm::Instruction& instruction);
  void elementPointer(const llvm::Instruction& instruction);
  void binary(const llvm::Instruction& instruction);
  void booleans(const llvm::Instruction& instruction);
  void negate(const llvm::Instruction& instruction);
  void cast(const llvm::Instruction& instruction);
  void fromBoolean(const llvm::Instruction& instruction);
  void toBoolean(const llvm::Instruction& instruction);
  void changeSpace(const llvm::Instruction& instruction);
  void compare(const llvm::Instruction& instruction);
  void select(const llvm::Instruction& instruction);
  void phi(const llvm::Instruction& instruction);
  void freeze(const llvm::Instruction& instruction);
  void extractElement(const llvm::Instruction& instruction);
  void insertElement(const llvm::Instruction& instruction);
  void shuffle(const llvm::Instruction& instruction);
  void extractValue(const llvm::Instruction& instruction);
  void insertValue(const llvm::Instruction& instruction);
  void readModifyWrite(const llvm::Instruction& instruction);
  void compareExchange(const llvm::Instruction& instruction);
  void branch(const llvm::Instruction& instruction);
  void switch_(const llvm::Instruction& instruction);
  void return_(const llvm::Instruction& instruction);
  void unreachable(const llvm::Instruction& instruction);
  void call(const llvm::Instruction& instruction);

  // Calls of what the target has.
  void nothing(const llvm::CallInst& call, uint32_t with);
  void extended(const llvm::CallInst& call, uint32_t with);
  void standard(const llvm::CallInst& call, uint32_t with);
  void saturate(const llvm::CallInst& call, uint32_t with);
  void place(const llvm::CallInst& call, uint32_t with);
  void barrier(const llvm::CallInst& call, uint32_t with);
  void ofSubGroup(const llvm::CallInst& call, uint32_t with);
  void ballot(const llvm::CallInst& call, uint32_t with);
  void takeFromLane(const llvm::CallInst& call, uint32_t with);
  void fence(const llvm::CallInst& call, uint32_t with);
  void isInSpace(const llvm::CallInst& call, uint32_t with);
  void sample(const llvm::CallInst& call, uint32_t with);
  void callFunction(const llvm::CallInst& call);

  Id type(const llvm::Value& value) { return types_.type(value.getType()); }
  Id number(uint32_t value) { return types_.number(function_.getContext(), value); }
  Id id(const llvm::Value* value);
  Id block(const llvm::BasicBlock* block);
  // A new result in the current block.
  Id result(spv::Op op, Id type, llvm::ArrayRef<uint32_t> operands);
  void define(const llvm::Instruction& instruction, spv::Op op, llvm::ArrayRef<uint32_t> operands);
  Id spread(Id condition, llvm::Type* chosen);
  Id selectMembers(llvm::Type* type, Id condition, Id yes, Id no);
  // The pointer as one to `type`.
  Id typed(const llvm::Value* pointer, llvm::Type* type);
  Id as64(const llvm::Value* index);
  Id long_(uint64_t value);
  Id addressOf(const llvm::Value* pointer);
  // Of numbers of that type.
  void needAtomics(llvm::Type* type);
  std::vector<uint32_t> access(llvm::Align alignment, bool is_volatile) const;

  const llvm::Function& function_;
  Types& types_;
  Surroundings& module_;
  llvm::DenseMap<const llvm::Value*, Id> ids_;
  Words body_;       // of the current function, behind the prologue
  Words variables_;  // those of the entry block
  Words prologue_;   // pointers to variables as pointers to bytes
};

}  // namespace weft::compiler::emit
