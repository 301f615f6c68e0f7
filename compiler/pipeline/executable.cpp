#include "compiler/pipeline/executable.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/saturated_conversions.h"
#include "compiler/metadata/group_observers.h"
#include "compiler/metadata/kernel_info.h"
#include "compiler/metadata/split_hazards.h"
#include "compiler/metadata/store_sizes.h"
#include "compiler/passes/analyses.h"
#include "compiler/passes/blocks.h"
#include "compiler/passes/inverse_roots.h"
#include "compiler/passes/lane_order.h"
#include "compiler/passes/local_atomics.h"
#include "compiler/passes/lower_kernels.h"
#include "compiler/passes/scalarise_lanes.h"
#include "compiler/passes/shift_amounts.h"
#include "compiler/passes/wide_products.h"
#include "compiler/passes/work_group_functions.h"
#include "compiler/pipeline/constructors.h"
#include "compiler/pipeline/elf_link.h"
#include "compiler/pipeline/gpu_executable.h"
#include "compiler/pipeline/simplify.h"
#include "compiler/pipeline/target.h"

namespace weft::compiler {
namespace {

// Inlines the math functions that were calls while lanes became vectors.
llvm::Error inlineLateMath(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::Expected<bool> linked = linkLateMath(module, machine);
  if (!linked) return linked.takeError();
  if (!*linked) return llvm::Error::success();
  Analyses analyses(machine);
  llvm::ModulePassManager manager;
  manager.addPass(llvm::AlwaysInlinerPass(false));
  llvm::FunctionPassManager cleaning;
  cleaning.addPass(llvm::EarlyCSEPass());
  cleaning.addPass(llvm::InstCombinePass());
  cleaning.addPass(llvm::SimplifyCFGPass());
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(cleaning)));
  manager.addPass(llvm::GlobalDCEPass());
  manager.run(module, analyses.modules);
  return llvm::Error::success();
}

llvm::Error optimise(llvm::Module& module, llvm::TargetMachine& machine, bool fully) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = fully;
  tuning.LoopInterleaving = tuning.LoopUnrolling = fully;
  Analyses analyses(machine, tuning);
  if (fully) {
    scalariseLanes(analyses.builder);
    keepLaneOrder(analyses.builder);
  }
  const auto level = fully ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O1;
  analyses.builder.buildPerModuleDefaultPipeline(level).run(module, analyses.modules);
  lowerLocalAtomics(module);
  if (llvm::Error error = inlineLateMath(module, machine)) return error;
  if (machine.getTargetTriple().isX86()) shareWideProducts(module);
  estimateInverseRoots(module, machine);
  boundShiftAmounts(module);
  return llvm::Error::success();
}

// WEFT_VECTORIZE=never|auto|always: for tests and comparisons.
Vectorising vectorising(llvm::StringRef setting) {
  if (setting == "never") return Vectorising::never;
  return setting == "always" ? Vectorising::always : Vectorising::automatic;
}

llvm::Expected<llvm::SmallVector<char, 0>> generateObject(llvm::Module& module,
                                                          llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager manager;
  if (machine.addPassesToEmitFile(manager, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("the target cannot write object files");
  manager.run(module);
  return object;
}

// Only kernels are seen from outside, whatever a program says is used: a list of it would pass for
// calls through pointers. Later passes have lists of their own.
void forgetUsed(llvm::Module& module) {
  for (const char* name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* list = module.getNamedGlobal(name)) list->eraseFromParent();
}

}  // namespace

llvm::Error makeExecutable(llvm::Module& module, const Options& options, Image& image) {
  forgetUsed(module);
  auto machine = createMachine(machineTarget(image), options);
  if (!machine) return machine.takeError();
  if (image.target.kind != port::TargetKind::host_cpu)
    return makeGpuExecutable(module, **machine, options, image);
  markInverseRoots(module);
  if (llvm::Error error = linkBuiltins(module)) return error;
  defineWorkGroupFunctions(module);
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
  allowEstimates(module);
  forgetBlockFunctions(module);
  markLocalAtomics(module);
  readAccesses(module, image.kernels);
  markSplitHazards(module, image.kernels);
  markGroupObservers(module, image.kernels);
  markStoreSizes(module, image.kernels);
  const LoweringOptions lowering{.optimize = options.optimise,
                                 .vectorise = vectorising(options.vectorising)};
  if (llvm::Error error = lowerKernels(module, **machine, image.kernels, lowering)) return error;
  exportDestructors(module);  // the lowering has left nothing but kernels visible
  if (llvm::Error error = optimise(module, **machine, options.optimise)) return error;
  auto object = generateObject(module, **machine);
  if (!object) return object.takeError();
  auto payload = linkSharedObject(*object);
  if (!payload) return payload.takeError();
  image.payload = std::move(*payload);
  return llvm::Error::success();
}

}  // namespace weft::compiler
