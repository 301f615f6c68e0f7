// The second lowering of regions: several lanes at once, for any reducible control flow.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/regions.h"

namespace weft::compiler {

enum class Vectorising : uint8_t {
  never,      // leave it to LLVM's loop vectoriser
  automatic,  // where that one fails and it pays
  always,     // wherever it is possible
};

// Code of more instructions stays scalar, since making vectors of it takes long. Hash functions
// with all their rounds unrolled have 5,000.
inline constexpr size_t most_instructions = 8000;
// Where vectors are wanted at any price, as of a kernel that has run for as long as that takes.
inline constexpr size_t most_wanted_instructions = 24'000;

// How many numbers of 32 bits a vector has.
unsigned vectorLanes(const llvm::Function& function, const llvm::TargetMachine& machine);

// Gives the regions of `split` their vector forms. False if none has any because LLVM makes faster
// vectors of the turns of a lane's loop.
bool vectoriseRegions(const KernelBody& body, SplitKernel& split, llvm::TargetMachine& machine,
                      Vectorising mode);

}  // namespace weft::compiler
