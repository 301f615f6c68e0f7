// Functions of OpenCL C as calls of the library's own.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// For GroupFunctions::own: those of work-groups and sub-groups that `module` declares.
void useOwnGroupFunctions(llvm::Module& module);
// For GroupFunctions::either: those of sub-groups. What chooses is inlined by the lowering to
// lanes.
void offerOwnSubGroupFunctions(llvm::Module& module);

}  // namespace weft::compiler
