#include "compiler/pipeline/parts.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::GlobalVariable;
using llvm::Value;

// Instructions of a part, unless a kernel alone has more. Making a part costs some milliseconds
// besides what its code costs.
constexpr size_t part_instructions = 2'000;
// What copies of the program's constants may take in all parts.
constexpr uint64_t most_copied_bytes = uint64_t{1} << 20;

bool isList(const GlobalVariable& variable) { return variable.hasAppendingLinkage(); }

bool isCallee(const llvm::Use& use) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  return call && call->isCallee(&use);
}

// Only in the list of what the optimiser must keep.
bool isListed(const llvm::Use& use) {
  const llvm::User* user = use.getUser();
  return llvm::isa<llvm::Constant>(user) && llvm::all_of(user->users(), [](const Value* list) {
           auto* variable = llvm::dyn_cast<GlobalVariable>(list);
           return variable && isList(*variable);
         });
}

// Can memory that outlives the kernel, or an integer, get the address?
class Escape {
 public:
  bool of(const Value* address) {
    if (!seen_.insert(address).second) return false;
    return llvm::any_of(address->uses(), [&](const llvm::Use& use) { return by(use); });
  }

 private:
  bool by(const llvm::Use& use) {
    const llvm::User* user = use.getUser();
    if (llvm::isa<llvm::LoadInst, llvm::ICmpInst>(user)) return false;
    if (llvm::isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator, llvm::BitCastOperator,
                  llvm::SelectInst, llvm::PHINode, llvm::FreezeInst, llvm::InsertElementInst,
                  llvm::ExtractElementInst, llvm::ShuffleVectorInst, llvm::ConstantVector>(user))
      return of(user);
    if (llvm::isa<llvm::MemTransferInst>(user)) return use.getOperandNo() != 1;
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call || !call->isArgOperand(&use)) return true;
    // Gathers, for one.
    if (llvm::isa<llvm::IntrinsicInst>(call) && call->onlyReadsMemory())
      return call->getType()->isPtrOrPtrVectorTy() && of(call);
    const Function* callee = call->getCalledFunction();
    const unsigned index = call->getArgOperandNo(&use);
    return !callee || callee->isDeclaration() || index >= callee->arg_size() ||
           of(callee->getArg(index));
  }

  llvm::SmallPtrSet<const Value*, 16> seen_;
};

bool isDivisible(const llvm::Module& module) {
  if (!module.debug_compile_units().empty() || !module.aliases().empty() ||
      !module.ifuncs().empty())
    return false;
  for (const GlobalVariable& variable : module.globals()) {
    if (isList(variable)) {
      if (variable.getName() == "llvm.compiler.used") continue;
      return false;  // of constructors, for one
    }
    if (variable.use_empty()) continue;
    if (!variable.isConstant() || variable.isDeclaration()) return false;
    if (!variable.hasGlobalUnnamedAddr() && Escape().of(&variable)) return false;
  }
  return llvm::all_of(module, [](const Function& function) {
    return function.isDeclaration() || llvm::all_of(function.uses(), [](const llvm::Use& use) {
             return isCallee(use) || isListed(use);
           });
  });
}

using Values = llvm::DenseSet<const llvm::GlobalValue*>;

// Adds `value` and what it uses; returns how many instructions that is.
size_t addWithUses(Values& values, const llvm::GlobalValue* value) {
  size_t instructions = 0;
  llvm::SmallVector<const llvm::Constant*> work{value};
  llvm::SmallPtrSet<const llvm::Constant*, 16> seen;
  const auto addOperands = [&](const llvm::User& user) {
    for (const Value* operand : user.operands())
      if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand))
        if (seen.insert(constant).second) work.push_back(constant);
  };
  while (!work.empty()) {
    const llvm::Constant* constant = work.pop_back_val();
    auto* global = llvm::dyn_cast<llvm::GlobalValue>(constant);
    if (global && !values.insert(global).second) continue;
    addOperands(*constant);
    auto* function = llvm::dyn_cast<Function>(constant);
    if (!function) continue;
    instructions += function->getInstructionCount();
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      addOperands(instruction);
  }
  return instructions;
}

// Each part that uses one has a copy.
uint64_t bytesOfConstants(const llvm::Module& module) {
  uint64_t bytes = 0;
  for (const GlobalVariable& variable : module.globals())
    if (!variable.use_empty() && !isList(variable))
      bytes += module.getDataLayout().getTypeAllocSize(variable.getValueType());
  return bytes;
}

}  // namespace

std::vector<Part> partsOf(const llvm::Module& module) {
  std::vector<Part> parts(1);
  const bool divisible = isDivisible(module);
  size_t size = 0;
  for (const Function& function : module) {
    if (function.isDeclaration() || function.hasLocalLinkage()) continue;
    Values alone;
    const size_t own = divisible ? addWithUses(alone, &function) : 0;
    if (size > 0 && size + own > part_instructions) {
      parts.emplace_back();
      size = 0;
    }
    parts.back().push_back(&function);
    size += own;
  }
  if (parts.size() * bytesOfConstants(module) <= most_copied_bytes) return parts;
  for (auto part = std::next(parts.begin()); part != parts.end(); ++part)
    parts.front().insert(parts.front().end(), part->begin(), part->end());
  parts.resize(1);
  return parts;
}

std::unique_ptr<llvm::Module> copyPart(const llvm::Module& module, const Part& part) {
  Values wanted;
  for (const Function* kernel : part) addWithUses(wanted, kernel);
  llvm::ValueToValueMapTy map;
  auto copy = llvm::CloneModule(module, map, [&](const llvm::GlobalValue* value) {
    auto* variable = llvm::dyn_cast<GlobalVariable>(value);
    return wanted.contains(value) || (variable && isList(*variable));
  });
  for (Function& function : llvm::make_early_inc_range(*copy))
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  for (GlobalVariable& variable : llvm::make_early_inc_range(copy->globals()))
    if (variable.isDeclaration() && variable.use_empty()) variable.eraseFromParent();
  return copy;
}

}  // namespace weft::compiler
