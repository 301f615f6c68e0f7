// One function of a SPIR-V module to LLVM IR, instruction by instruction.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/spirv/checks.h"
#include "compiler/spirv/reader.h"

namespace weft::compiler::spirv {

class FunctionReader {
 public:
  FunctionReader(Reader& module, llvm::Function& function)
      : module_(module), types_(module.types()), function_(function), builder_(module.context()) {}

  // From OpFunction up to, not with, OpFunctionEnd.
  void read(std::span<const Instruction> body);
  std::span<const Id> parameters() const { return parameters_; }

  // One instruction by itself, in a function made for it.
  llvm::Value* evaluate(const Instruction& instruction);

 private:
  // An argument of a builtin function: its value and how the name spells its type.
  struct Argument {
    llvm::Value* value;
    Spelling spelling;
  };
  using Arguments = std::vector<Argument>;

  // --- function_reader.cpp
  void readParameter(const Instruction& instruction);
  void emit(const Instruction& instruction);
  llvm::Value* emitValue(const Instruction& instruction);
  bool emitControl(const Instruction& instruction);
  void emitSwitch(const Instruction& instruction);
  void emitReturn(const Instruction& instruction);
  void finishPhis();
  llvm::Value* emitCall(const Instruction& instruction);
  llvm::BasicBlock* block(Id id) const;
  llvm::BasicBlock* target(Id id) const;
  llvm::Value* value(Id id);
  unsigned wordsOfLiterals(const Instruction& choice) const;
  Id typeOf(Id id) const;
  llvm::Type* llvmType(const Instruction& instruction) const {
    return types_.llvm(instruction.type);
  }
  llvm::Value* builtinVariable(Id id, spv::BuiltIn builtin);

  // --- blocks.cpp
  using Block = std::span<const Instruction>;  // from its label on
  std::vector<Block> makeBlocks(Block body);
  std::vector<Block> reachable(const std::vector<Block>& blocks) const;
  std::vector<Id> successors(const Instruction& end) const;

  // --- memory.cpp
  llvm::Value* emitMemory(const Instruction& instruction);
  llvm::Type* pointee(Id pointer) const;
  llvm::Value* emitVariable(const Instruction& instruction);
  llvm::Value* emitLoad(const Instruction& instruction);
  void emitStore(const Instruction& instruction);
  void emitCopy(const Instruction& instruction);
  llvm::Value* emitAccessChain(const Instruction& instruction, bool pointer_first);
  llvm::Value* emitPointerDifference(const Instruction& instruction);

  // --- arithmetic.cpp
  llvm::Value* emitArithmetic(const Instruction& instruction);
  llvm::Value* emitConversion(const Instruction& instruction);
  llvm::Value* emitCast(const Instruction& instruction);
  llvm::Value* cast(llvm::Instruction::CastOps op, llvm::Value* from, llvm::Type* to);
  llvm::Value* emitRelation(const Instruction& instruction);
  llvm::Value* emitClassification(const Instruction& instruction);
  llvm::Value* emitExtended(const Instruction& instruction);
  llvm::Value* emitBits(const Instruction& instruction);
  llvm::Value* emitDot(const Instruction& instruction);
  llvm::Value* emitModulo(const Instruction& instruction);
  void setFastMath(const Instruction& instruction);

  // --- composites.cpp
  llvm::Value* emitComposite(const Instruction& instruction);
  llvm::Value* emitConstruct(const Instruction& instruction);
  llvm::Value* emitShuffle(const Instruction& instruction);

  // --- builtin_calls.cpp
  llvm::Value* call(std::string_view name, Id result, const Arguments& arguments);
  llvm::Value* callTyped(std::string_view name, llvm::Type* result, const Arguments& arguments);
  Argument argument(Id id, Sign sign = Sign::signed_);
  Argument constantPointer(Id id, Sign sign = Sign::signed_);
  Argument size(Id id);  // as size_t
  Argument unsignedNumber(uint32_t value);
  Argument enumeration(std::string_view name, uint32_t value);
  llvm::Value* emitAtomic(const Instruction& instruction);
  llvm::Value* emitCompareExchange(const Instruction& instruction);
  Argument atomicPointer(Id id, Sign sign);
  Argument scope(Id id);
  Argument order(Id semantics);
  llvm::Value* emitNamedBarrier(Id barrier, Id memory, Id semantics);
  llvm::Value* emitSynchronisation(const Instruction& instruction);
  uint32_t fenceFlags(Id semantics);
  llvm::Value* emitGroup(const Instruction& instruction);

  // --- sub_group_calls.cpp
  llvm::Value* emitSubGroup(const Instruction& instruction);
  llvm::Value* callWithTruth(const std::string& name, const Instruction& instruction,
                             const Arguments& arguments);
  Argument valueOrTruth(Id id, Sign sign);
  Argument smallNumber(Id id, const char* spelling);

  // --- intel_sub_groups.cpp
  llvm::Value* emitIntelSubGroup(const Instruction& instruction);
  llvm::Value* shuffle(Id data, llvm::Value* lane);
  llvm::Value* shuffleOfTwo(Id low, Id high, llvm::Value* lane);
  llvm::Value* emitBlockRead(const Instruction& instruction);
  void emitBlockWrite(const Instruction& instruction);
  template <class F>
  void forEachOfBlock(Id pointer, llvm::Type* type, F&& access);
  llvm::Value* subGroupNumber(const char* function);

  // --- device_queue_calls.cpp
  llvm::Value* emitDeviceQueue(const Instruction& instruction);
  llvm::Value* emitEvent(const Instruction& instruction);
  llvm::Value* emitKernelQuery(const Instruction& instruction);
  llvm::Value* emitEnqueueKernel(const Instruction& instruction);
  llvm::Value* emitEnqueueMarker(const Instruction& instruction);
  llvm::Value* emitRange(const Instruction& instruction);
  llvm::Value* callPlain(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> values);
  llvm::Value* rangeAddress(Id id);
  llvm::Value* localSizes(std::span<const Id> sizes);
  llvm::Value* generic(Id pointer);
  llvm::Value* number(Id id, llvm::Type* type);
  llvm::AllocaInst* variable(llvm::Type* type);

  // --- extension_calls.cpp
  llvm::Value* emitExtension(const Instruction& instruction);
  llvm::Value* emitHint(const Instruction& instruction);
  llvm::Value* emitIntegerDot(const Instruction& instruction);
  llvm::Value* emitClock(const Instruction& instruction);

  // --- pipe_calls.cpp
  llvm::Value* emitPipe(const Instruction& instruction);
  llvm::Value* plain(Id id);

  // --- image_calls.cpp
  llvm::Value* emitImage(const Instruction& instruction);
  llvm::Value* emitSample(const Instruction& instruction);
  llvm::Value* emitRead(const Instruction& instruction);
  llvm::Value* emitWrite(const Instruction& instruction);
  llvm::Value* emitSize(const Instruction& instruction);
  llvm::Value* atLevel(llvm::Value* size, llvm::Value* level);
  Id imageOf(Id id) const;

  // --- extended_instructions.cpp
  llvm::Value* emitOpenCl(const Instruction& instruction);
  llvm::Value* emitPrintf(const Instruction& instruction);

  Reader& module_;
  Types& types_;
  llvm::Function& function_;
  llvm::IRBuilder<> builder_;
  std::unordered_map<Id, llvm::BasicBlock*> blocks_;  // null: nothing gets there
  std::unordered_map<Id, llvm::Value*> values_;
  std::unordered_map<Id, Id> types_of_;
  std::unordered_map<Id, llvm::Value*> builtin_variables_;
  std::unordered_map<Id, Id> images_;  // of OpSampledImage: what it was made from
  std::unordered_map<Id, Id> samplers_;
  std::vector<std::pair<llvm::PHINode*, const Instruction*>> phis_;
  std::vector<Id> parameters_;
};

}  // namespace weft::compiler::spirv
