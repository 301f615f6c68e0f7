#include "compiler/metadata/group_observers.h"

#include <array>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/math_names.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

constexpr unsigned local_space = 3;

// What is the same however the work-items are grouped.
constexpr std::array<llvm::StringLiteral, 5> of_the_range = {
    "_Z13get_global_idj", "_Z15get_global_sizej", "_Z17get_global_offsetj", "_Z12get_work_dimv",
    "_Z20get_global_linear_idv"};

bool isOfTheRange(llvm::StringRef name) {
  name.consume_front(narrow_query);
  return llvm::is_contained(of_the_range, name);
}

// Of one that is declared only. What devices have of their own is taken to tell.
bool tellsOfGroups(const llvm::Function& function) {
  const llvm::StringRef name = function.getName();
  const bool is_math =
      name.starts_with("Sleef_") || name.starts_with(math_prefix) || isLateMath(name);
  if (is_math || isOfTheRange(name) || name.starts_with(pixel_call_prefix)) return false;
  if (function.isIntrinsic()) return function.isTargetIntrinsic() || function.isConvergent();
  if (isWorkItemQuery(function) || isBarrier(function) || function.isConvergent()) return true;
  return !function.doesNotAccessMemory() || name.contains("get_") || name.contains("group") ||
         name.contains("__weft");
}

// Looks at a kernel and everything that it may call.
bool observesGroups(const llvm::Function& kernel) {
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  llvm::SmallVector<const llvm::Value*, 16> waiting = {&kernel};
  while (!waiting.empty()) {
    const llvm::Value* value = waiting.pop_back_val();
    if (!seen.insert(value).second) continue;
    const auto* function = llvm::dyn_cast<llvm::Function>(value);
    if (function && function->isDeclaration() && tellsOfGroups(*function)) return true;
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value);
        variable && variable->getAddressSpace() == local_space)
      return true;
    // Of constants and functions that are used.
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value); constant && !function)
      for (const llvm::Use& operand : constant->operands()) waiting.push_back(operand);
    if (!function || function->isDeclaration()) continue;
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && !call->getCalledFunction()) return true;
      for (const llvm::Use& operand : instruction.operands())
        if (llvm::isa<llvm::Constant>(operand)) waiting.push_back(operand);
    }
  }
  return false;
}

}  // namespace

void markGroupObservers(const llvm::Module& module, std::vector<KernelInfo>& kernels) {
  for (KernelInfo& kernel : kernels) {
    const llvm::Function* function = module.getFunction(kernel.name);
    if (!function || function->isDeclaration()) continue;
    const bool has_local = llvm::any_of(kernel.arguments, [](const ArgumentInfo& argument) {
      return argument.kind == ArgumentKind::local_pointer;
    });
    kernel.observes_groups =
        has_local || kernel.required_sub_group_size != 0 || observesGroups(*function);
  }
}

}  // namespace weft::compiler
