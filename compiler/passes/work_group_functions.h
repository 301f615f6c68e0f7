// Work-group functions (OpenCL C 6.15.16): all, any, broadcast, reductions and scans.
#pragma once

namespace llvm {
class GlobalVariable;
class LoadInst;
class Module;
}  // namespace llvm

namespace weft::compiler {

// Gives every work-group function that `module` declares and calls a definition made of barriers, a
// variable in local memory and work-item queries. To run before lowerKernels.
//
// Between barriers one thread runs the lanes of a group in the order of their linear ids. So each
// lane in turn folds its value into the group's variable, alone between two barriers: what it finds
// there is the result of the lanes before it, and what is there behind the second barrier the
// result of all. Where sub-groups are vectors (sub_groups.h) each vector does so in turn, once its
// lanes have folded theirs: that is chosen later, if `may_be_vectors`.
void defineWorkGroupFunctions(llvm::Module& module, bool may_be_vectors);

// Is it the variable into which they fold?
bool isGroupResult(const llvm::GlobalVariable& variable);
// Does the load read what a work-group function gives to all lanes alike?
bool readsGroupResult(const llvm::LoadInst& load);

}  // namespace weft::compiler
