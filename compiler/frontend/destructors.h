// Destructors of program-scope objects of C++ for OpenCL. Clang 19 registers a destructor with
// __cxa_atexit, and without the object that it is for.
#pragma once

namespace clang {
class ASTContext;
class CodeGenerator;
}  // namespace clang
namespace llvm {
class Module;
}

namespace weft::compiler {

// Lists in llvm.global_dtors a function that destroys the module's program-scope objects, the last
// one constructed first. Needs what the generator remembers of the declarations.
void listDestructors(llvm::Module& module, clang::CodeGenerator& generator,
                     const clang::ASTContext& declarations);

}  // namespace weft::compiler
