// lld's ELF driver registers every target that LLVM was built with, and LLVM's link-time optimiser
// asks for Debian's Polly. We link neither; these stand in, so that tens of megabytes stay out.
#include <llvm/Passes/PassPlugin.h>

extern "C" {
#include "compiler/pipeline/absent_targets.def"
}

// NOLINTNEXTLINE(misc-use-internal-linkage): the optimiser links to it
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "absent", "0", [](llvm::PassBuilder&) {}};
}
