// What is known while a SPIR-V module becomes LLVM IR: types, constants, variables, functions.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <unordered_map>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "compiler/spirv/instructions.h"
#include "compiler/spirv/types.h"
#include "core/ports/compiler.h"

namespace weft::compiler::spirv {

class Reader {
 public:
  // For a device with these features.
  Reader(const Instructions& instructions, const port::LanguageFeatures& features,
         std::span<const port::SpecializationConstant> constants, llvm::LLVMContext& context);

  // The whole module; throws Failure.
  std::unique_ptr<llvm::Module> read();

  llvm::LLVMContext& context() { return context_; }
  llvm::Module& module() { return *module_; }
  const Instructions& instructions() const { return in_; }
  Types& types() { return types_; }

  // Constants, variables and functions; null for what is declared elsewhere.
  llvm::Value* value(Id id) const;
  // The type that a result was declared with.
  Id typeOf(Id id) const;
  uint64_t number(Id constant) const;
  // OpenCL C's numbers for samplers, by the constant's id.
  const uint32_t* sampler(Id id) const;
  const spv::BuiltIn* builtinVariable(Id id) const;
  bool mayContract() const { return may_contract_; }
  // A builtin function, or one of another module.
  llvm::Function* function(const std::string& name, llvm::FunctionType* type);
  // A named barrier's state, in local memory (builtins/cl/named_barrier.def).
  llvm::GlobalVariable* namedBarrier();
  // The kernel that runs a function which is enqueued.
  llvm::Function* blockKernel(Id invoked);

 private:
  void checkCapabilities() const;
  void declareGlobals();
  void declare(const Instruction& instruction);
  bool declareConstant(const Instruction& instruction);
  llvm::Constant* scalarConstant(const Instruction& instruction);
  llvm::Constant* compositeConstant(const Instruction& instruction);
  llvm::Constant* constantOperation(const Instruction& instruction);
  llvm::Constant* pipeStorage(const Instruction& instruction);
  void declareVariable(const Instruction& instruction);
  void declareFunctions();
  void declareFunction(const Instruction& instruction);
  bool isLaunchable(const Type& function) const;
  void readFunctions();
  void describeKernels(const Instruction& declared, llvm::Function& function,
                       std::span<const Id> parameters);
  const port::SpecializationConstant* specialization(Id id) const;
  llvm::GlobalValue::LinkageTypes linkage(Id id, std::string& name) const;

  const Instructions& in_;
  const port::LanguageFeatures& features_;
  std::span<const port::SpecializationConstant> specialization_;
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::Module> module_;
  Types types_;
  std::unordered_map<Id, llvm::Value*> values_;
  std::unordered_map<Id, Id> types_of_;
  std::unordered_map<Id, llvm::Function*> block_kernels_;
  std::unordered_map<Id, uint32_t> samplers_;
  std::unordered_map<Id, spv::BuiltIn> builtin_variables_;
  bool may_contract_ = true;
};

// Attributes and metadata that Clang gives an OpenCL kernel.
void describeKernel(Reader& reader, const EntryPoint& entry, llvm::Function& function,
                    const Type& type, std::span<const Id> parameters);

}  // namespace weft::compiler::spirv
