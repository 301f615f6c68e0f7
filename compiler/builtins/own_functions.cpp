// Functions of OpenCL C as calls of the library's own: "_Z21work_group_reduce_addi" is
// "_Z32__weft_own_work_group_reduce_addi". Those of groups are for devices that run a group's
// work-items side by side (cl/own_work_group.cl, cl/own_sub_group.cl), those of math for GPUs and,
// where they are faster, for CPUs. The request about device queues has a form for GPUs, too
// (cl/own_device_queue.cl).
#include "compiler/builtins/own_functions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"

namespace weft::compiler {
namespace {

enum class Kind { group, math };

Kind kindOf(llvm::StringRef name) {
  const bool of_group = name.starts_with("work_group_") || name.starts_with("sub_group_") ||
                        name.starts_with("get_sub_group_") ||
                        name.starts_with("get_num_sub_groups");
  return of_group ? Kind::group : Kind::math;
}

// Empty for what is no function of the kind.
std::string ownName(llvm::StringRef symbol, Kind kind) {
  size_t length = 0;
  if (!symbol.consume_front("_Z") || symbol.consumeInteger(10, length)) return {};
  if (length > symbol.size() || kindOf(symbol.take_front(length)) != kind) return {};
  const std::string name = "__weft_own_" + symbol.take_front(length).str();
  return "_Z" + std::to_string(name.size()) + name + symbol.drop_front(length).str();
}

// A branch for small exponents (cl/math_power.cl), and sine and cosine that are inlined
// (cl/inline_math.cl), are faster.
bool isSlower(llvm::StringRef symbol) {
  return symbol.starts_with("_Z4pown") || symbol.starts_with("_Z6sincos");
}

// By divisions that round correctly, which a GPU's need not (cl/own_remainder.cl).
bool isOfCpus(llvm::StringRef symbol) {
  return symbol.starts_with("_Z4fmod") || symbol.starts_with("_Z9remainder") ||
         symbol.starts_with("_Z6remquo");
}

template <class Predicate>
void useOwn(llvm::Module& module, Kind kind, Predicate&& isWanted) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    const std::string name = ownName(function.getName(), kind);
    if (!findBuiltinModule(name) || !isWanted(function.getName())) continue;
    if (llvm::Function* known = module.getFunction(name)) {
      function.replaceAllUsesWith(known);
      function.eraseFromParent();
    } else {
      function.setName(name);
    }
  }
}

}  // namespace

void useOwnGroupFunctions(llvm::Module& module) {
  useOwn(module, Kind::group, [](llvm::StringRef) { return true; });
  if (llvm::Function* request = module.getFunction(device_queue_call))
    request->setName(own_device_queue_call);
}
void useOwnMath(llvm::Module& module, OwnMath which) {
  useOwn(module, Kind::math, [which](llvm::StringRef symbol) {
    return which == OwnMath::all ? !isOfCpus(symbol) : !isSlower(symbol);
  });
}

}  // namespace weft::compiler
