// __attribute__((annotate)): what the source says for tools that read Clang's output.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Nobody behind Clang reads them, and an annotated field or variable is not to be another one.
void dropAnnotations(llvm::Module& module);

}  // namespace weft::compiler
