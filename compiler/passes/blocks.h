// Blocks that kernels enqueue. Clang gives each a kernel of its own, whose address stands for it in
// calls of enqueue_kernel().
#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft {
struct KernelInfo;
}

namespace weft::compiler {

// On what comes from the front end: marks the kernels of blocks and makes them the module's own, so
// that those of several modules can be linked.
void markBlocks(llvm::Module& module);
bool isBlockKernel(const llvm::Function& function);

// The name of a kernel's entry in the image: entry_prefix and the kernel's own, of which SPIR-V may
// have characters that linkers and assemblers make something else of.
inline constexpr char entry_prefix[] = "weft_kernel_";
std::string entryName(llvm::StringRef kernel);
// The same of its turned body's entry (turned_body.h), which no function of a program has.
inline constexpr char turned_prefix[] = "weft_turned.";
// And of its joint body's (joint_groups.h).
inline constexpr char joint_prefix[] = "weft_joint.";
// And of that in which each sub-group is a vector (sub_groups.h).
inline constexpr char sub_groups_prefix[] = "weft_sub_groups.";

// The kernels' addresses become those of their entries, which are declared until they are made.
void nameBlockKernels(llvm::Module& module);
// Or, where kernels have no addresses, their numbers among those of `kernels` that are blocks, from
// 1 on.
void numberBlockKernels(llvm::Module& module, const std::vector<KernelInfo>& kernels);

// For kernels that cannot ask the host: port::profile_writer_symbol, which is added to `kernels`.
void addProfileWriter(llvm::Module& module, std::vector<KernelInfo>& kernels);

// Block literals hold the addresses of the blocks' functions. Where nothing is called through them
// they go, because such a function cannot ask for its work-item.
void forgetBlockFunctions(llvm::Module& module);

}  // namespace weft::compiler
