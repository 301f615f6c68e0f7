// Entries of a kernel's other forms, called by its own where they suit.
#pragma once

#include <cstdint>

#include <llvm/IR/Function.h>

namespace weft::compiler {

// Has work-groups that are long enough in dimension 1 run by `turned`, the entry of the kernel's
// turned body (turned_body.h).
void addTurned(llvm::Function& entry, llvm::Function& turned);

// Has whole pairs of neighbouring groups that are so long in dimension 0, or of any length if that
// is 0, run by `joint`, the entry of the kernel's joint body (joint_groups.h).
void addJoint(llvm::Function& entry, llvm::Function& joint, uint64_t row_length);

// Has work-groups whose sub-groups, of `width` work-items, each lie in one row, of `least_row` or
// more, run by `vectors`, the entry of the kernel's form in which each is a vector (sub_groups.h).
// Not in launches of so many work-items that ids of 32 bits might wrap.
void addSubGroupVectors(llvm::Function& entry, llvm::Function& vectors, uint32_t width,
                        uint32_t least_row);

}  // namespace weft::compiler
