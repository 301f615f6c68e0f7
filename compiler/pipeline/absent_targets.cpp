// lld's ELF driver registers every target that LLVM was built with, and LLVM's link-time optimiser
// asks for Debian's Polly. We link neither; these stand in, so that tens of megabytes stay out.
#include <llvm/Passes/PassPlugin.h>

#define WEFT_ABSENT(target)                    \
  void LLVMInitialize##target##Target() {}     \
  void LLVMInitialize##target##TargetInfo() {} \
  void LLVMInitialize##target##TargetMC() {}   \
  void LLVMInitialize##target##AsmPrinter() {} \
  void LLVMInitialize##target##AsmParser() {}

extern "C" {
WEFT_ABSENT(AArch64)
WEFT_ABSENT(AMDGPU)
WEFT_ABSENT(ARM)
WEFT_ABSENT(AVR)
WEFT_ABSENT(BPF)
WEFT_ABSENT(Hexagon)
WEFT_ABSENT(Lanai)
WEFT_ABSENT(LoongArch)
WEFT_ABSENT(M68k)
WEFT_ABSENT(MSP430)
WEFT_ABSENT(Mips)
WEFT_ABSENT(NVPTX)
WEFT_ABSENT(PowerPC)
WEFT_ABSENT(RISCV)
WEFT_ABSENT(Sparc)
WEFT_ABSENT(SystemZ)
WEFT_ABSENT(VE)
WEFT_ABSENT(WebAssembly)
WEFT_ABSENT(XCore)
WEFT_ABSENT(Xtensa)
}

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "absent", "0", [](llvm::PassBuilder&) {}};
}
