// What the library's own functions of groups (builtins/cl/own_work_group.cl, own_sub_group.cl) ask
// of the target.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler {

// The answer to `call`, made where `builder` stands; null where it is a call of something else.
llvm::Value* answerSubGroup(llvm::IRBuilder<>& builder, llvm::CallInst& call);

// For targets of which it is not known which work-items run side by side: work-group functions
// without sub-groups, right and slow. To be called before work-items are lowered.
void makeSubGroupsOfOne(llvm::Module& module);

}  // namespace weft::compiler
