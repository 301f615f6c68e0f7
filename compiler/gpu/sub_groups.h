// What the library's own functions of groups (builtins/cl/own_work_group.cl, own_sub_group.cl) ask
// of the target.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler {

// The functions that stand for SPIR-V's instructions of sub-groups: this and "size", "lane", "id"
// and "count" of what a built-in variable tells; "ballot" of an i1, "shuffle" of an i32 and a lane;
// "barrier".
inline constexpr llvm::StringLiteral spirv_sub_group_prefix = "weft.sub_group.";

// The sub-groups of a kernel.
struct SubGroups {
  uint32_t width = 0;
  bool spirv = false;  // those of SPIR-V, else of NVIDIA's GPUs: parts of a warp
};

// A work-item and its group, which the caller knows; i32.
struct GroupPlace {
  llvm::Value* item;   // its linear number
  llvm::Value* items;  // how many there are
};

// The answer to `call`, made where `builder` stands; null where it is a call of something else.
llvm::Value* answerSubGroup(llvm::IRBuilder<>& builder, llvm::CallInst& call,
                            const SubGroups& sub_groups, llvm::function_ref<GroupPlace()> place);

}  // namespace weft::compiler
