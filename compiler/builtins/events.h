#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Code generation for the host knows no event_t: every event becomes a pointer.
void lowerEvents(llvm::Module& module);

}  // namespace weft::compiler
