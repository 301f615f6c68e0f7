#include "compiler/pipeline/executable.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/byte_shuffles.h"
#include "compiler/builtins/opaque_types.h"
#include "compiler/builtins/saturated_conversions.h"
#include "compiler/metadata/denormals.h"
#include "compiler/metadata/group_observers.h"
#include "compiler/metadata/kernel_info.h"
#include "compiler/metadata/split_hazards.h"
#include "compiler/metadata/store_sizes.h"
#include "compiler/passes/blocks.h"
#include "compiler/passes/inverse_roots.h"
#include "compiler/passes/local_atomics.h"
#include "compiler/passes/lower_kernels.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/work_group_functions.h"
#include "compiler/pipeline/alignments.h"
#include "compiler/pipeline/constructors.h"
#include "compiler/pipeline/elf_link.h"
#include "compiler/pipeline/gpu_executable.h"
#include "compiler/pipeline/later_code.h"
#include "compiler/pipeline/simplify.h"
#include "compiler/pipeline/target.h"

namespace weft::compiler {
namespace {

// WEFT_VECTORIZE=never|auto|always: for tests and comparisons.
Vectorising vectorising(llvm::StringRef setting) {
  if (setting == "never") return Vectorising::never;
  return setting == "always" ? Vectorising::always : Vectorising::automatic;
}

// Only kernels are seen from outside, whatever a program says is used: a list of it would pass for
// calls through pointers. Later passes have lists of their own.
void forgetUsed(llvm::Module& module) {
  for (const char* name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* list = module.getNamedGlobal(name)) list->eraseFromParent();
}

llvm::Error linkFunctions(llvm::Module& module, const llvm::TargetMachine& machine,
                          GroupFunctions groups) {
  if (hasFasterMath(machine)) useOwnMath(module, OwnMath::faster);
  if (machine.getTargetTriple().isX86() && machine.getMCSubtargetInfo()->checkFeatures("+ssse3"))
    lowerByteShuffles(module);
  return linkBuiltins(module, LateMath::left, groups);
}

}  // namespace

llvm::Error makeExecutable(llvm::Module& module, const Options& options, Image& image) {
  forgetUsed(module);
  expandPowers(module);
  auto machine = createMachine(machineTarget(image), options);
  if (!machine) return machine.takeError();
  if (image.target.kind != port::TargetKind::host_cpu)
    return makeGpuExecutable(module, **machine, options, image);
  if (options.denorms_are_zero) allowFlushing(module);
  allowMisalignedVectors(module);
  markInverseRoots(module);
  lowerOpaqueTypes(module);
  defineImageFunctions(module);
  const LoweringOptions lowering{.optimize = options.optimise,
                                 .vectorise = vectorising(options.vectorising)};
  const auto groups =
      makesSubGroupsVectors(lowering) ? GroupFunctions::either : GroupFunctions::lowered;
  if (llvm::Error error = linkFunctions(module, **machine, groups)) return error;
  defineWorkGroupFunctions(module, groups == GroupFunctions::either);
  markPrintf(module, image.kernels);
  lowerPrintf(module);
  markDeviceQueues(module, image.kernels);
  lowerDeviceQueueCalls(module);
  retarget(module, **machine);
  if ((*machine)->getTargetTriple().isX86()) lowerSaturatedConversions(module);
  if (llvm::Error error = addVectorVariants(module, **machine)) return error;
  if (const auto missing = unresolvedFunctions(module); !missing.empty())
    return llvm::createStringError("undefined function" +
                                   std::string(missing.size() > 1 ? "s " : " ") +
                                   llvm::join(missing, ", "));
  nameBlockKernels(module);
  allowEstimates(module);
  simplify(module, machine->get());
  pairSinesAndCosines(module, **machine);
  allowEstimates(module);
  forgetBlockFunctions(module);
  markLocalAtomics(module);
  readAccesses(module, image.kernels);
  markSplitHazards(module, image.kernels);
  markGroupObservers(module, image.kernels);
  markStoreSizes(module, image.kernels);
  if (llvm::Error error = lowerKernels(module, **machine, image.kernels, lowering)) return error;
  exportDestructors(module);  // the lowering has left nothing but kernels visible
  const std::vector<Part> parts = partsOf(module);
  if (isForLater(module, parts, options)) {
    image.payload = deferCode(module, parts, image.kernels, options);
    return llvm::Error::success();
  }
  return makePayload(module, parts, **machine, options, image);
}

}  // namespace weft::compiler
