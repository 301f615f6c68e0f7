#include "compiler/pipeline/gpu_executable.h"

#include <algorithm>
#include <functional>

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopLoadElimination.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopStrengthReduce.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "compiler/builtins/builtins.h"
#include "compiler/gpu/amd_module.h"
#include "compiler/gpu/bare_divisions.h"
#include "compiler/gpu/bit_masks.h"
#include "compiler/gpu/differences.h"
#include "compiler/gpu/float_atomics.h"
#include "compiler/gpu/host_module.h"
#include "compiler/gpu/magnitudes.h"
#include "compiler/gpu/named_barriers.h"
#include "compiler/gpu/narrow_queries.h"
#include "compiler/gpu/native_images.h"
#include "compiler/gpu/native_math.h"
#include "compiler/gpu/private_variables.h"
#include "compiler/gpu/ptx.h"
#include "compiler/gpu/spirv/module_writer.h"
#include "compiler/gpu/spirv/native_images.h"
#include "compiler/gpu/spirv/prepare.h"
#include "compiler/gpu/spirv/standard_functions.h"
#include "compiler/gpu/target_module.h"
#include "compiler/gpu/textures.h"
#include "compiler/gpu/unaligned.h"
#include "compiler/gpu/unrolling.h"
#include "compiler/gpu/work_items.h"
#include "compiler/metadata/group_observers.h"
#include "compiler/metadata/kernel_info.h"
#include "compiler/metadata/split_hazards.h"
#include "compiler/metadata/store_sizes.h"
#include "compiler/passes/access_analysis.h"
#include "compiler/passes/analyses.h"
#include "compiler/passes/blocks.h"
#include "compiler/passes/chosen_values.h"
#include "compiler/passes/clamped_sums.h"
#include "compiler/passes/denormals.h"
#include "compiler/passes/kernel_body.h"
#include "compiler/passes/loop_rotation.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/work_items.h"
#include "compiler/pipeline/constructors.h"
#include "compiler/pipeline/gpu_payload.h"
#include "compiler/pipeline/simplify.h"
#include "compiler/pipeline/target.h"
#include "core/ports/launch.h"
#include "core/ports/spirv_target.h"

namespace weft::compiler {
namespace {

constexpr unsigned local_space = 3, nvptx_private_space = 5;
// Which Intel's GPUs of all generations have.
constexpr uint32_t usual_spirv_sub_group = 16;

llvm::Error checkArguments(const Image& image) {
  for (const KernelInfo& kernel : image.kernels)
    for (const ArgumentInfo& argument : kernel.arguments)
      if (argument.kind > ArgumentKind::queue)
        return llvm::createStringError("kernel '" + kernel.name + "': the device has no " +
                                       argument.type_name);
  return llvm::Error::success();
}

// Those that a target's kernels may require, the one that others get first.
std::vector<uint32_t> subGroupSizes(const port::Target& target) {
  if (isSoftwareGpu(target)) return {port::gpu_sub_group_size, 16, 8};
  if (target.kind != port::TargetKind::spirv) return {port::gpu_sub_group_size};
  std::vector<uint32_t> sizes = port::spirvSubGroupSizes(target.features);
  llvm::stable_sort(sizes, [](uint32_t a, uint32_t b) {
    return (a == usual_spirv_sub_group) > (b == usual_spirv_sub_group);
  });
  return sizes;
}

llvm::Error settleSubGroups(Image& image) {
  const std::vector<uint32_t> sizes = subGroupSizes(image.target);
  if (sizes.empty()) return llvm::createStringError("the target names no size of sub-groups");
  for (KernelInfo& kernel : image.kernels) {
    const uint32_t required = kernel.required_sub_group_size;
    kernel.sub_group_size = required != 0 ? required : sizes.front();
    if (!llvm::is_contained(sizes, kernel.sub_group_size))
      return llvm::createStringError("kernel '" + kernel.name +
                                     "': the device has no sub-groups of " +
                                     std::to_string(required) + " work-items");
  }
  return llvm::Error::success();
}

llvm::Error checkFunctions(const llvm::Module& module) {
  const auto missing = undefinedFunctions(module);
  if (missing.empty()) return llvm::Error::success();
  return llvm::createStringError("the device does not have " + llvm::join(missing, ", "));
}

llvm::Error verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return llvm::Error::success();
  return llvm::createStringError("internal error: lowering made an invalid module: " + text);
}

bool isUsedIn(const llvm::Value& value, const llvm::Function& kernel) {
  return llvm::any_of(value.users(), [&](const llvm::User* user) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    return instruction ? instruction->getFunction() == &kernel : isUsedIn(*user, kernel);
  });
}

// Bytes of the static local memory that `kernel` uses itself: nothing else can.
uint64_t localBytes(const llvm::Function& kernel) {
  const llvm::DataLayout& layout = kernel.getDataLayout();
  uint64_t bytes = 0;
  for (const llvm::GlobalVariable& variable : kernel.getParent()->globals()) {
    if (variable.getAddressSpace() != local_space || variable.isDeclaration()) continue;
    if (!isUsedIn(variable, kernel)) continue;
    bytes = llvm::alignTo(bytes, layout.getPreferredAlign(&variable));
    bytes += layout.getTypeAllocSize(variable.getValueType());
  }
  return bytes;
}

// A GPU has no C library whose functions could stand for others or be recognised in loops.
void forbidLibraryCalls(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) function.addFnAttr("no-builtins");
}

bool hasBarriers(const llvm::Function& kernel) {
  return llvm::any_of(llvm::instructions(kernel), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && call->getCalledFunction() && isBarrier(*call->getCalledFunction());
  });
}

bool usesSubGroups(const llvm::Function& kernel) {
  return llvm::any_of(llvm::instructions(kernel), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && call->getCalledFunction() &&
           call->getCalledFunction()->getName().starts_with(spirv_sub_group_prefix);
  });
}

// Where the size makes no difference, the driver's compiler chooses the best one.
void fixSubGroups(const GpuKernel& kernel, const KernelInfo& info) {
  if (info.required_sub_group_size != 0 || usesSubGroups(*kernel.function))
    kernel.function->addFnAttr(spirv_sub_group_size, std::to_string(info.sub_group_size));
}

// Lets the driver's compiler use more registers. Groups at an edge may be smaller, so the size is
// the most that there is, not the only one.
void limitGroups(const GpuKernel& kernel, const KernelInfo& info) {
  const auto& size = info.required_local_size;
  if (size[0] == 0) return;
  llvm::LLVMContext& context = kernel.function->getContext();
  auto* items = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context),
                                       static_cast<uint32_t>(size[0] * size[1] * size[2]));
  kernel.function->getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(
          context, {llvm::ValueAsMetadata::get(kernel.function),
                    llvm::MDString::get(context, "maxntidx"), llvm::ValueAsMetadata::get(items)}));
}

// Of LLVM's passes, one copies what comes before a call into both branches of a condition before
// it, barriers too: work-items that part there meet no more. Another makes several accesses to
// memory of one, by costs of vectors that are not NVIDIA's GPUs'.
void leavePassesOut(llvm::PassInstrumentationCallbacks& callbacks, bool is_nvptx) {
  callbacks.registerShouldRunOptionalPassCallback([=](llvm::StringRef pass, llvm::Any) {
    return pass != "CallSiteSplittingPass" && !(is_nvptx && pass == "VectorCombinePass");
  });
}

void unrollEarly(llvm::PassBuilder& builder) {
  builder.registerLateLoopOptimizationsEPCallback(
      [](llvm::LoopPassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(UnrollKnownLoops(UnrollKnownLoops::Where::kernels));
      });
}

// Has branches that part work-items for little be one, or selections.
void joinBranches(llvm::FunctionPassManager& manager) {
  constexpr int most_speculated = 4;  // instructions of a second condition
  manager.addPass(ChooseValues());
  manager.addPass(
      llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().bonusInstThreshold(most_speculated)));
}

void addUnrolling(llvm::FunctionPassManager& manager) {
  const auto cleanUp = [&] {
    manager.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    manager.addPass(llvm::EarlyCSEPass());
    manager.addPass(llvm::InstCombinePass());
  };
  llvm::LoopPassManager known;
  known.addPass(UnrollKnownLoops(UnrollKnownLoops::Where::everywhere));
  known.addPass(llvm::LoopFullUnrollPass());
  manager.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(known)));
  cleanUp();
  manager.addPass(ClampBeforeAdding());
  manager.addPass(llvm::LoopSimplifyPass());
  manager.addPass(llvm::LCSSAPass());
  manager.addPass(UnrollExchanges());
  cleanUp();
  manager.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  manager.addPass(llvm::LoopLoadEliminationPass());  // what one turn stores and the next one loads
  manager.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopStrengthReducePass()));
  manager.addPass(llvm::LoopSimplifyPass());
  manager.addPass(llvm::LCSSAPass());
  manager.addPass(UnrollShortLoops());
  cleanUp();
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, bool fully) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = false;  // the lanes are the vectors
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = fully;
  llvm::PassInstrumentationCallbacks callbacks;
  leavePassesOut(callbacks, machine.getTargetTriple().isNVPTX());
  Analyses analyses(machine, tuning, &callbacks);
  machine.registerPassBuilderCallbacks(analyses.builder);
  // The target has hardly any vector instructions, and cannot select some of those it might. What
  // is made of them before loops are unrolled is what counts there; others come up behind that.
  const auto scalarise = [](llvm::FunctionPassManager& manager) {
    manager.addPass(llvm::ScalarizerPass());
    manager.addPass(llvm::InstCombinePass());
  };
  if (fully) {
    clampBeforeAdding(analyses.builder);
    rotateManyLoops(analyses.builder);
  }
  const bool unrolls = fully && machine.getTargetTriple().isNVPTX();
  if (unrolls) unrollEarly(analyses.builder);
  analyses.builder.registerVectorizerStartEPCallback(
      [=](llvm::FunctionPassManager& manager, llvm::OptimizationLevel) {
        scalarise(manager);
        if (unrolls) joinBranches(manager);
        if (unrolls) addUnrolling(manager);
      });
  analyses.builder.registerOptimizerLastEPCallback(
      [=](llvm::ModulePassManager& manager, llvm::OptimizationLevel) {
        llvm::FunctionPassManager per_function;
        if (unrolls) {
          per_function.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
          per_function.addPass(LetDriverUnroll());
        }
        scalarise(per_function);
        if (unrolls) per_function.addPass(AlignArrays());
        manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(per_function)));
      });
  const auto level = fully ? llvm::OptimizationLevel::O3 : llvm::OptimizationLevel::O1;
  analyses.builder.buildPerModuleDefaultPipeline(level).run(module, analyses.modules);
}

// NVPTX passes two chars wrongly, to functions as to kernels: nobody calls with them.
void inlineNarrowVectors(llvm::Module& module) {
  const auto isNarrow = [](llvm::Type* type) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getPrimitiveSizeInBits() < 32;
  };
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL)
      continue;
    if (!isNarrow(function.getReturnType()) &&
        llvm::none_of(function.getFunctionType()->params(), isNarrow))
      continue;
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

KernelInfo& infoOf(Image& image, llvm::StringRef name) {
  return *llvm::find_if(image.kernels, [&](const KernelInfo& k) { return k.name == name; });
}

// Takes the kernels apart: for when the target's module has a copy of them.
void analyseKernels(llvm::ArrayRef<llvm::Function*> kernels, llvm::TargetMachine& machine,
                    Image& image) {
  for (llvm::Function* kernel : kernels) {
    KernelInfo& info = infoOf(image, kernel->getName());
    if (isNativeTwin(info)) continue;  // its twin says it all
    const KernelBody body = makeBody(*kernel, machine, info, true);
    analyseAccesses(body, machine, info);
  }
}

llvm::Error lower(llvm::Module& module, const Options& options, llvm::TargetMachine& machine,
                  Image& image) {
  inlineNarrowVectors(module);
  auto functions = prepareModule(module, machine);
  if (!functions) return functions.takeError();
  const bool is_spirv = image.target.kind == port::TargetKind::spirv;
  GpuModule gpu = makeGpuModule(module, image.kernels,
                                is_spirv ? LocalArguments::pointers : LocalArguments::offsets);
  widenQueries(module);
  analyseKernels(*functions, machine, image);
  for (const GpuKernel& kernel : gpu.kernels) {
    if (llvm::Error error = numberNamedBarriers(kernel)) return error;
    KernelInfo& info = infoOf(image, kernel.name);
    info.has_barriers = hasBarriers(*kernel.function);
    lowerGpuWorkItems(kernel, {info.sub_group_size, is_spirv});
    if (is_spirv) fixSubGroups(kernel, info);
    info.local_bytes = localBytes(*kernel.function);
    limitGroups(kernel, info);
  }
  lowerGpuAtomics(*gpu.module);
  if (image.target.kind == port::TargetKind::nvptx) {
    keepSubnormalSums(*gpu.module);
    selectNativeMath(*gpu.module);
    shareFormats(*gpu.module);
  }
  if (llvm::Error error = checkFunctions(*gpu.module)) return error;
  if (llvm::Error error = verify(*gpu.module)) return error;
  finishLowering(gpu, machine, image.target);
  if (is_spirv) {
    simplifyForSpirv(*gpu.module, machine, image.target);
  } else {
    optimise(*gpu.module, machine, options.optimise);
    splitUnalignedVectors(*gpu.module);
    if (image.target.kind == port::TargetKind::nvptx) {
      bareDivisions(*gpu.module);
      exactMagnitudes(*gpu.module);
      joinDifferences(*gpu.module);
      makeMasksOfHalves(*gpu.module);
      defineRegisters(*gpu.module);
      dropImpossibleCasts(*gpu.module);
      lowerPrivateAtomics(*gpu.module);
      for (llvm::Function& function : *gpu.module) nameVariables(function, nvptx_private_space);
    }
  }
  for (const GpuKernel& kernel : gpu.kernels)
    infoOf(image, kernel.name).private_bytes = allocaBytes(*kernel.function);
  auto payload = emitPayload(*gpu.module, machine, image.target);
  if (!payload) return payload.takeError();
  image.payload = std::move(*payload);
  return llvm::Error::success();
}

llvm::StringSet<> definedFunctions(const llvm::Module& module) {
  llvm::StringSet<> names;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration()) names.insert(function.getName());
  return names;
}

// SPIR-V has none: who drives it does not say whether it takes its own, nor whether sub-groups get
// on while others wait.
void settleNamedBarriers(llvm::Module& module, const Image& image) {
  if (image.target.kind == port::TargetKind::spirv) return;
  const bool are_counted =
      image.target.kind == port::TargetKind::nvptx || isSoftwareGpu(image.target);
  const bool are_warps = llvm::all_of(image.kernels, [](const KernelInfo& kernel) {
    return kernel.sub_group_size == port::gpu_sub_group_size;
  });
  chooseNamedBarriers(
      module, are_counted && are_warps ? NamedBarriers::of_hardware : NamedBarriers::counted);
}

llvm::Error linkFunctions(llvm::Module& module, const port::Target& target) {
  const bool is_spirv = target.kind == port::TargetKind::spirv;
  const llvm::StringSet<> own = definedFunctions(module);
  if (is_spirv)
    useStandardFunctions(module, own);
  else
    useOwnMath(module);
  if (llvm::Error error = linkBuiltins(module, LateMath::linked, GroupFunctions::own)) return error;
  if (is_spirv) useStandardFunctions(module, own);
  return defineOwnMath(module);
}

// Of kernels that read images, where the device has its own.
llvm::Error addTwins(llvm::Module& module, Image& image) {
  if (!llvm::StringRef(image.target.features).contains(port::native_images_feature))
    return llvm::Error::success();
  if (image.target.kind != port::TargetKind::spirv) return addTextureTwins(module, image.kernels);
  addSpirvTwins(module, image.kernels);
  return llvm::Error::success();
}

}  // namespace

port::Target machineTarget(const Image& image) {
  port::Target target = image.target;
  if (target.kind != port::TargetKind::nvptx) return target;
  const bool large = llvm::any_of(image.kernels, [](const KernelInfo& kernel) {
    return parameterBytes(kernel) > usual_parameter_bytes;
  });
  if (large) target.features += target.features.empty() ? "+ptx81" : ",+ptx81";
  return target;
}

llvm::Error makeGpuExecutable(llvm::Module& module, llvm::TargetMachine& machine,
                              const Options& options, Image& image) {
  if (llvm::Error error = checkArguments(image)) return error;
  makeObjectKernels(module, image.kernels);
  if (llvm::Error error = settleSubGroups(image)) return error;
  const bool debugged = isDebugged(module);
  llvm::StripDebugInfo(module);
  markPrintf(module, image.kernels);
  lowerPrintfToRecords(module);
  if (image.target.kind != port::TargetKind::spirv)
    useNativeMath(module, options.relaxed_math, image.target.kind == port::TargetKind::nvptx);
  settleNamedBarriers(module, image);
  if (llvm::Error error = linkFunctions(module, image.target)) return error;
  chooseErrors(module, debugged);
  markDeviceQueues(module, image.kernels);
  if (llvm::any_of(image.kernels, std::mem_fn(&KernelInfo::uses_device_queue)))
    addProfileWriter(module, image.kernels);
  numberBlockKernels(module, image.kernels);
  if (llvm::Error error = addTwins(module, image)) return error;
  if (options.denorms_are_zero) useFlushingInstructions(module);
  retarget(module, machine);
  if (machine.getTargetTriple().isAMDGCN()) module.setDataLayout(amd_interim_layout);
  forbidLibraryCalls(module);
  if (image.target.kind != port::TargetKind::spirv) narrowQueries(module);
  simplify(module, nullptr);  // the address spaces are not the machine's yet
  forgetBlockFunctions(module);
  readAccesses(module, image.kernels);
  markSplitHazards(module, image.kernels);
  markGroupObservers(module, image.kernels);
  markStoreSizes(module, image.kernels);
  if (llvm::Error error = lower(module, options, machine, image)) return error;
  foldNativeTwins(image.kernels);
  return llvm::Error::success();
}

}  // namespace weft::compiler
