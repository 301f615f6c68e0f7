// Functions of groups as calls of the library's own, for devices that run a group's work-items side
// by side (cl/own_work_group.cl, cl/own_sub_group.cl): "_Z21work_group_reduce_addi" is
// "_Z32__weft_own_work_group_reduce_addi".
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"

namespace weft::compiler {
namespace {

// Empty for what is no function of a group.
std::string ownName(llvm::StringRef symbol) {
  size_t length = 0;
  if (!symbol.consume_front("_Z") || symbol.consumeInteger(10, length)) return {};
  const bool of_group = symbol.starts_with("work_group_") || symbol.starts_with("sub_group_") ||
                        symbol.starts_with("get_sub_group_") ||
                        symbol.starts_with("get_num_sub_groups");
  if (!of_group || length > symbol.size()) return {};
  const std::string name = "__weft_own_" + symbol.take_front(length).str();
  return "_Z" + std::to_string(name.size()) + name + symbol.drop_front(length).str();
}

}  // namespace

void useOwnGroupFunctions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    const std::string name = ownName(function.getName());
    if (findBuiltinModule(name)) function.setName(name);
  }
}

}  // namespace weft::compiler
