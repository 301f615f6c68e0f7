#include "compiler/pipeline/target.h"

#include <algorithm>
#include <mutex>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include "compiler/gpu/amd_module.h"
#include "compiler/gpu/host_module.h"
#include "core/ports/native_images.h"

namespace weft::compiler {
namespace {

constexpr const char* host_triple = "x86_64-unknown-linux-gnu";
constexpr const char* amd_triple = "amdgcn-amd-amdhsa";
constexpr const char* nvidia_triple = "nvptx64-nvidia-cuda";
// The newest processor that this LLVM knows. PTX for an older one runs on every newer one.
constexpr unsigned newest_sm = 90;

std::string hostFeatures() {
  llvm::SubtargetFeatures features;
  for (const auto& [name, present] : llvm::sys::getHostCPUFeatures())
    features.AddFeature(name, present);
  return features.getString();
}

// Those of the target that are LLVM's.
std::string machineFeatures(const port::Target& target) {
  llvm::SmallVector<llvm::StringRef> features;
  llvm::StringRef(target.features).split(features, ',', -1, false);
  llvm::erase(features, port::native_images_feature);
  return llvm::join(features, ",");
}

// LLVM's switches that have no other interface.
void setSwitches() {
  // Strength reduction over the nested loops of a lowered kernel takes half of code generation's
  // time and, with x86's addressing modes, gives no faster code. NVIDIA's loops have had theirs
  // before they were unrolled: afterwards each turn's address would be computed on its own.
  // Moving integers to mask registers takes quadratic time in long code, most of it where there is
  // nothing to move. Preparing code for the machine begins again with a function's first block each
  // time that it makes a branch of a select, but for functions of so many blocks.
  const char* const switches[] = {"weft", "-disable-lsr", "-disable-x86-domain-reassignment",
                                  "-cgpp-huge-func=500"};
  llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(switches)), switches);
}

void tune(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return;
  // Tuning models of 512-bit processors prefer 256, for the sake of code that is mostly scalar.
  if (machine.getMCSubtargetInfo()->checkFeatures("+avx512f"))
    function.addFnAttr("prefer-vector-width", "512");
  // What refines an estimated quotient makes NaN of infinities, which programs with relaxed
  // mathematics meet all the same, and is slower than dividing. Roots gain.
  function.addFnAttr("reciprocal-estimates", "!vec-divf");
}

llvm::TargetOptions machineOptions(const Options& options) {
  llvm::TargetOptions result;
  result.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  result.UnsafeFPMath = options.unsafe_math || options.relaxed_math;
  result.NoInfsFPMath = result.NoNaNsFPMath = options.finite_math || options.relaxed_math;
  result.NoSignedZerosFPMath = options.no_signed_zeros || result.UnsafeFPMath;
  result.TrapUnreachable = false;
  return result;
}

struct MachineChoice {
  std::string triple, cpu, features;
  std::optional<llvm::Reloc::Model> relocation;
  std::optional<llvm::CodeModel::Model> code_model;
};

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machineOf(const MachineChoice& choice,
                                                               const Options& options) {
  std::string error;
  const llvm::Target* back_end = llvm::TargetRegistry::lookupTarget(choice.triple, error);
  if (!back_end) return llvm::createStringError(error);
  const auto level =
      options.optimise ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::Less;
  std::unique_ptr<llvm::TargetMachine> machine(back_end->createTargetMachine(
      choice.triple, choice.cpu, choice.features, machineOptions(options), choice.relocation,
      choice.code_model, level));
  if (!machine) return llvm::createStringError("no machine for processor " + choice.cpu);
  return machine;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> hostMachine(const port::Target& target,
                                                                 const Options& options) {
  setSwitches();  // each time: lld resets them
  const bool native = target.cpu.empty() || target.cpu == "native" || isSoftwareGpu(target);
  const std::string features = machineFeatures(target);
  return machineOf({host_triple, native ? llvm::sys::getHostCPUName().str() : target.cpu,
                    native && features.empty() ? hostFeatures() : features, llvm::Reloc::PIC_,
                    llvm::CodeModel::Small},
                   options);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> nvidiaMachine(const port::Target& target,
                                                                   const Options& options) {
  llvm::StringRef number = target.cpu;
  unsigned sm = 0;
  if (!number.consume_front("sm_") || number.getAsInteger(10, sm))
    return llvm::createStringError("no NVIDIA processor: " + target.cpu);
  setSwitches();
  return machineOf({nvidia_triple, "sm_" + std::to_string(std::min(sm, newest_sm)),
                    machineFeatures(target), std::nullopt, std::nullopt},
                   options);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> amdMachine(const port::Target& target,
                                                                const Options& options) {
  auto machine = machineOf(
      {amd_triple, target.cpu, amdFeatures(target.features), llvm::Reloc::PIC_, std::nullopt},
      options);
  if (machine && !(*machine)->getMCSubtargetInfo()->isCPUStringValid(target.cpu))
    return llvm::createStringError("no AMD processor: " + target.cpu);
  return machine;
}

// A work-group of NVIDIA's GPUs counts the cycles of its multiprocessor, where the device has a
// time that is the same everywhere. The host's processors have one counter for all of them, and
// those of AMD's GPUs that count cycles come round within a millisecond.
void chooseClock(llvm::Module& module, const llvm::Triple& triple) {
  if (triple.isNVPTX()) return;
  llvm::Intrinsic::ID from = llvm::Intrinsic::readsteadycounter;
  llvm::Intrinsic::ID to = llvm::Intrinsic::readcyclecounter;
  if (triple.isAMDGCN()) std::swap(from, to);
  if (llvm::Function* other = module.getFunction(llvm::Intrinsic::getName(from)))
    other->replaceAllUsesWith(llvm::Intrinsic::getDeclaration(&module, to));
}

}  // namespace

void initialiseTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const port::Target& target,
                                                                   const Options& options) {
  initialiseTargets();
  switch (target.kind) {
    case port::TargetKind::host_cpu:
      return hostMachine(target, options);
    case port::TargetKind::nvptx:
      return nvidiaMachine(target, options);
    case port::TargetKind::amdgcn:
      return isSoftwareGpu(target) ? hostMachine(target, options) : amdMachine(target, options);
    // Sizes and alignments are those of the host.
    case port::TargetKind::spirv:
      return hostMachine({}, options);
  }
  return llvm::createStringError("this compiler makes no code for that kind of device");
}

void retarget(llvm::Module& module, llvm::TargetMachine& machine) {
  chooseClock(module, machine.getTargetTriple());
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    tune(function, machine);
    if (function.getCallingConv() == llvm::CallingConv::SPIR_FUNC)
      function.setCallingConv(llvm::CallingConv::C);
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block)
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
          if (call->getCallingConv() == llvm::CallingConv::SPIR_FUNC)
            call->setCallingConv(llvm::CallingConv::C);
  }
}

}  // namespace weft::compiler
