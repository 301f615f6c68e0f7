#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Code generation for the host knows none of OpenCL's opaque types. Every event becomes a pointer,
// every image the address of its descriptor (core/ports/launch.h) in constant memory, and every
// sampler its number; sampler literals and the library's own ways to these values become nothing.
void lowerOpaqueTypes(llvm::Module& module);

}  // namespace weft::compiler
