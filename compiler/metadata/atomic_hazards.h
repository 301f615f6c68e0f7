// What atomics on global memory mean for dividing a kernel. docs/balancing.md.
#pragma once

#include "core/image.h"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace weft::compiler {

// May the pointer lead to memory that other work-groups see?
bool mayBeGlobal(const llvm::Value* pointer);

// Bits of SplitHazard: may a loop of the kernel run until another work-group has done something,
// and do all work-items change something that `info` does not know to be combined? Looks into
// defined functions that are called; leaves the kernel as it is. Combinations of `info` are set.
uint32_t atomicHazards(llvm::Function& kernel, const KernelInfo& info);

}  // namespace weft::compiler
