// A kernel as a function of one work-item: its own parameters, then the environment.
#pragma once

#include <array>

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/passes/sub_groups.h"
#include "compiler/passes/work_items.h"
#include "core/image.h"

namespace weft::compiler {

// Where a kernel's argument comes from.
enum class ArgumentSource : uint8_t {
  value,         // loaded from the argument's bytes
  local_offset,  // local memory plus the offset in the argument's bytes
  address,       // a struct: the address of the argument's bytes
  descriptor,    // an image: the same, in the kernel's own address space
};

// A variable in local memory, from where that begins.
struct LocalVariable {
  uint64_t offset, size;
};

struct KernelBody {
  llvm::Function* function = nullptr;
  std::string name;
  std::vector<ArgumentSource> arguments;  // of the kernel's own parameters
  std::vector<LocalVariable> local_variables;
  SubGroupUse sub_groups;
  bool folds_in_order = false;  // by functions of work-groups: values of lanes, one after the other
  llvm::DISubprogram* subprogram = nullptr;  // for the entry
  // Which dimension of the launch each of its own is.
  std::array<unsigned, 3> axes{0, 1, 2};
  // Of dimension 0 that run at once (joint_groups.h), and what the second one has of local memory.
  unsigned groups = 1;
  uint64_t next_local_bytes = 0;
  uint64_t row_length = 0;  // of all groups that run it, in dimension 0; 0: any
  // Of all but the last groups, in the body's own dimensions, and of those too if groups are
  // uniform; 0: nobody knows.
  std::array<uint64_t, 3> usual_size{0, 0, 0};
  bool has_uniform_groups = false;
  bool goes_by_turns = false;  // no vectors of lanes: a lane alone is faster (turn_vectors.h)

  unsigned firstHidden() const { return static_cast<unsigned>(arguments.size()); }
  llvm::Argument* hidden(unsigned parameter) const {
    return function->getArg(firstHidden() + parameter);
  }
};

// Moves the kernel's code into a body, lowers queries, local variables and struct arguments, and
// brings it into SSA form. Fills local_bytes. The kernel is left as a declaration.
// `sub_group_vectors`: whether each sub-group is to be a vector.
KernelBody makeBody(llvm::Function& kernel, llvm::TargetMachine& machine, KernelInfo& info,
                    bool optimize, bool sub_group_vectors = false);

}  // namespace weft::compiler
