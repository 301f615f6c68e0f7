#include "compiler/passes/lower_kernels.h"

#include <utility>

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/builtins/number_parts.h"
#include "compiler/metadata/denormals.h"
#include "compiler/passes/access_analysis.h"
#include "compiler/passes/array_registers.h"
#include "compiler/passes/blocks.h"
#include "compiler/passes/denormals.h"
#include "compiler/passes/divergent_loops.h"
#include "compiler/passes/entry.h"
#include "compiler/passes/entry_forms.h"
#include "compiler/passes/joint_groups.h"
#include "compiler/passes/kernel_body.h"
#include "compiler/passes/loop_calls.h"
#include "compiler/passes/loop_steps.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/regions.h"
#include "compiler/passes/simd/exchanges.h"
#include "compiler/passes/simd/vector_report.h"
#include "compiler/passes/turned_body.h"
#include "compiler/passes/word_pairs.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Function;

// Bytes of stack variables on the deepest chain of calls. Recursion counts once.
class StackSizes {
 public:
  uint64_t of(const Function& function) {
    if (function.isDeclaration()) return 0;
    const auto [known, is_new] = bytes_.try_emplace(&function, 0);
    if (!is_new) return known->second;
    uint64_t deepest = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (const Function* callee = call->getCalledFunction())
          deepest = std::max(deepest, of(*callee));
    return bytes_[&function] = allocaBytes(function) + deepest;
  }

 private:
  llvm::DenseMap<const Function*, uint64_t> bytes_;  // 0 of those that are being looked through
};

// Could lanes notice whether they run side by side, though nothing orders them? They do if one
// waits until another has let go of a lock, or looks at volatile memory for what it wrote.
bool mayNoticeForm(const Function& function, llvm::DenseSet<const Function*>& seen) {
  if (!seen.insert(&function).second) return false;
  return llvm::any_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      return update->getOperation() == llvm::AtomicRMWInst::Xchg;
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      return call->getCalledFunction() && mayNoticeForm(*call->getCalledFunction(), seen);
    return llvm::isa<llvm::AtomicCmpXchgInst>(instruction) || instruction.isVolatile() ||
           (llvm::isa<llvm::LoadInst>(instruction) && instruction.isAtomic());
  });
}

// From here on each function is the code of one lane at a time: nothing is convergent.
void dropConvergence(llvm::Module& module) {
  for (Function& function : module) {
    function.removeFnAttr(llvm::Attribute::Convergent);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->removeFnAttr(llvm::Attribute::Convergent);
  }
}

void removeDeadFunctions(const SplitKernel& split) {
  for (const Region& region : split.regions) {
    if (region.function->use_empty()) region.function->eraseFromParent();
    if (!region.vector) continue;
    for (llvm::Function* form :
         {region.vector->tail, region.vector->wanted, region.vector->tail_wanted})
      if (form && form->use_empty()) form->eraseFromParent();
    for (const VectorRows& rows : region.vector->rows) {
      if (rows.agreement && rows.agreement->use_empty()) rows.agreement->eraseFromParent();
      for (const VectorRows::Form& form : rows.forms) {
        if (form.function->use_empty()) form.function->eraseFromParent();
        if (form.suits && form.suits->use_empty()) form.suits->eraseFromParent();
      }
    }
  }
}

bool hasBarriers(Function& body) { return llvm::any_of(llvm::instructions(body), isBarrierCall); }

// Groups of one work-item have nobody to wait for.
void dropBarriers(Function& body) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body)))
    if (isBarrierCall(instruction)) instruction.eraseFromParent();
}

// The vectoriser may have refused what lanes of a sub-group can only do as a vector.
bool runsAsVectors(const SplitKernel& split) {
  return !split.keeps_state && !split.has_meetings &&
         llvm::all_of(split.regions, [](const Region& region) {
           return !hasExchanges(*region.function) || (region.vector && region.vector->always);
         });
}

// What the launches of a kernel want to know about its forms.
void describe(const SplitKernel& split, KernelInfo& info) {
  for (const Region& region : split.regions) {
    info.other_forms |= region.other_forms;
    if (region.vector)
      info.rows_at_once = std::max<uint32_t>(info.rows_at_once, region.vector->rows.front().rows);
  }
}

// Consumes the code of `body`. Null if that cannot be.
Function* lowerBody(KernelBody& body, llvm::StringRef symbol, llvm::TargetMachine& machine,
                    KernelInfo& info, const LoweringOptions& options) {
  llvm::Module& module = *body.function->getParent();
  if (!body.sub_groups.are_vectors) keepTurnsTogether(*body.function);
  SplitKernel split = splitAtBarriers(body);
  if (body.sub_groups.are_vectors)
    for (Region& region : split.regions)
      if (!hasExchanges(*region.function))
        lowerPlaces(*region.function, body.firstHidden(), body.sub_groups.width);
  if (options.optimize || options.vectorise == Vectorising::always)
    body.goes_by_turns = !vectoriseRegions(body, split, machine, options.vectorise);
  if (body.sub_groups.are_vectors && !runsAsVectors(split)) {
    removeDeadFunctions(split);
    return nullptr;
  }
  describe(split, info);
  Function* entry = emitEntry(module, body, split, symbol, options.most_together);
  entry->setSubprogram(body.subprogram);
  removeDeadFunctions(split);
  info.lane_context_bytes = std::max(info.lane_context_bytes, contextBytesPerLane(body, split));
  if (body.groups == 1)
    info.private_bytes = std::max(info.private_bytes, split.layout.privateBytes());
  return entry;
}

// The body in which dimensions 0 and 1 have changed places, if any group is to be run so.
std::optional<KernelBody> turnedForm(const KernelBody& body, const KernelInfo& info,
                                     const LoweringOptions& options) {
  const auto& size = info.required_local_size;
  const bool known = size[0] != 0, suits = size[1] >= size[0] || size[1] >= long_row;
  if (!options.optimize || options.vectorise == Vectorising::never || (known && !suits))
    return std::nullopt;
  // Compiling takes twice as long where there are both forms.
  const size_t forms = known ? 1 : 2;
  constexpr size_t most_turned = 3000;
  if (forms * body.function->getInstructionCount() > most_turned) return std::nullopt;
  return turnedBody(body, options.vectorise == Vectorising::always);
}

// The body of two groups at once, if any are to be run so: those of which a row is one vector.
std::optional<KernelBody> jointForm(const KernelBody& body, const KernelInfo& info,
                                    llvm::TargetMachine& machine, const LoweringOptions& options) {
  const bool always = options.vectorise == Vectorising::always;
  if (options.vectorise == Vectorising::never || !(always || options.optimize)) return std::nullopt;
  if (!hasBarriers(*body.function)) return std::nullopt;  // nothing is shared
  const uint64_t length = always ? 0 : vectorLanes(*body.function, machine);
  const uint64_t known = info.required_local_size[0];
  if (known && length && known != length) return std::nullopt;
  std::optional<KernelBody> joint = jointBody(body, always);
  if (joint) joint->row_length = length;
  return joint;
}

void knowSizes(KernelBody& body, const KernelInfo& info) {
  body.usual_size = info.required_local_size;
  body.has_uniform_groups = info.uniform_groups;
}

// What helps the lanes before they are cut at barriers.
void shapeLoops(KernelBody& body) {
  unrollShortLoops(*body.function);
  separateUniformSums(body);
  addMeetings(body);
  keepDivergentLoopsRolled(body);
}

bool hasMeetings(Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return isBarrierCall(instruction) && isMeeting(llvm::cast<llvm::CallInst>(instruction));
  });
}

// Lanes that meet gain in groups of any length. What functions of work-groups fold lane by lane is
// quicker than a part of a vector.
uint32_t leastRow(bool has_meetings, const KernelInfo& info) {
  return has_meetings ? 1 : info.sub_group_size;
}

// The entry of the form in which each sub-group is a vector; null if there is nothing to be had
// from that, or it cannot be.
Function* lowerSubGroupVectors(Function& kernel, llvm::TargetMachine& machine, KernelInfo& info,
                               const LoweringOptions& options) {
  if (!makesSubGroupsVectors(options) || !usesSubGroups(kernel)) return nullptr;
  const uint64_t row = info.required_local_size[0];
  if (row != 0 && row < leastRow(hasMeetings(kernel), info)) return nullptr;
  llvm::ValueToValueMapTy map;
  Function* copy = llvm::CloneFunction(&kernel, map);
  KernelBody body = makeBody(*copy, machine, info, options.optimize, /*sub_group_vectors=*/true);
  copy->eraseFromParent();
  body.name = kernel.getName().str() + sub_groups_suffix.str();
  if (!hasExchanges(*body.function)) {
    body.function->eraseFromParent();
    return nullptr;
  }
  knowSizes(body, info);
  if (options.optimize) {
    putArraysInRegisters(*body.function, machine);
    joinWordPairs(*body.function);
    shapeLoops(body);
  }
  return lowerBody(body, sub_groups_prefix + info.name, machine, info, options);
}

// Is what that form leaves to the others too little for the time that their vectors take to make?
// Groups whose rows are no whole sub-groups are rare where lanes of sub-groups meet, which cuts
// the code into so many pieces that vectors gain little.
bool leavesLittle(const KernelBody& body, const KernelInfo& info) {
  constexpr size_t long_code = 1500;
  const auto& size = info.required_local_size;
  const bool whole_rows = size[0] != 0 && size[0] % info.sub_group_size == 0;
  const bool one_row = size[0] != 0 && size[1] * size[2] == 1;
  return hasMeetings(*body.function) || whole_rows || one_row ||
         body.function->getInstructionCount() > long_code;
}

void lowerKernel(Function& kernel, llvm::TargetMachine& machine, KernelInfo& info,
                 LoweringOptions options) {
  Function* vectors = lowerSubGroupVectors(kernel, machine, info, options);
  KernelBody body = makeBody(kernel, machine, info, options.optimize, /*sub_group_vectors=*/false);
  kernel.eraseFromParent();
  if (info.required_local_size == std::array<uint64_t, 3>{1, 1, 1}) {
    dropBarriers(*body.function);
    options.vectorise = Vectorising::never;  // what it does by itself LLVM makes vectors of
  }
  if (vectors && leavesLittle(body, info)) options.vectorise = Vectorising::never;
  if (options.optimize) {
    putArraysInRegisters(*body.function, machine);
    joinWordPairs(*body.function);
  }
  knowSizes(body, info);
  analyseAccesses(body, machine, info);
  const bool has_barriers = hasBarriers(*body.function);
  const bool has_meetings = hasMeetings(*body.function);
  llvm::DenseSet<const Function*> seen;
  const bool notices_form = mayNoticeForm(*body.function, seen);
  if (options.optimize) shapeLoops(body);
  info.symbol = entryName(body.name);
  std::optional<KernelBody> turned = turnedForm(body, info, options);
  if (turned) {
    info.lane_dimension = 1;
    std::swap(turned->usual_size[0], turned->usual_size[1]);
  }
  // Pairs of groups lie in dimension 0 of the launch, which is another one of a turned body.
  std::optional<KernelBody> joint = turned ? std::nullopt : jointForm(body, info, machine, options);
  if (turned && info.required_local_size[0]) {  // the only form that is ever run
    body.function->eraseFromParent();
    body = *std::exchange(turned, std::nullopt);
  }
  Function* entry = lowerBody(body, info.symbol, machine, info, options);
  if (vectors)
    addSubGroupVectors(*entry, *vectors, info.sub_group_size, leastRow(has_meetings, info));
  if (joint && body.goes_by_turns) std::exchange(joint, std::nullopt)->function->eraseFromParent();
  if (joint) {
    const std::string symbol = joint_prefix + info.name;
    addJoint(*entry, *lowerBody(*joint, symbol, machine, info, options), joint->row_length);
  }
  if (turned) {
    const std::string symbol = turned_prefix + info.name;
    addTurned(*entry, *lowerBody(*turned, symbol, machine, info, options));
  }
  if (flushesDenormals(*entry->getParent()) && machine.getTargetTriple().isX86())
    flushWithin(*entry);
  if (vectors || notices_form) info.other_forms = 0;  // sub-groups' sums are in another order
  info.has_barriers = has_barriers;
  info.stack_bytes = StackSizes().of(*entry);
  info.private_bytes += info.stack_bytes;
}

llvm::Error verify(llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return llvm::Error::success();
  return llvm::createStringError("internal error: lowering made an invalid module: " + text);
}

}  // namespace

llvm::Error lowerKernels(llvm::Module& module, llvm::TargetMachine& machine,
                         std::vector<KernelInfo>& kernels, const LoweringOptions& options) {
  llvm::Expected<std::vector<Function*>> functions = prepareModule(module, machine);
  if (!functions) return functions.takeError();
  if (options.optimize) inlineCallsInLoops(module);
  for (Function* kernel : *functions) {
    auto info =
        llvm::find_if(kernels, [&](const KernelInfo& k) { return k.name == kernel->getName(); });
    if (info == kernels.end())
      return llvm::createStringError("no description of kernel '" + kernel->getName() + "'");
    info->sub_group_size =
        info->required_sub_group_size ? info->required_sub_group_size : port::cpu_sub_group_size;
    if (!llvm::is_contained(port::cpu_sub_group_sizes, info->sub_group_size))
      return llvm::createStringError("kernel '" + kernel->getName() + "' requires sub-groups of " +
                                     llvm::Twine(info->sub_group_size) + " work-items");
    lowerKernel(*kernel, machine, *info, options);
  }
  inlineNumberParts(module);
  dropConvergence(module);
  return verify(module);
}

}  // namespace weft::compiler
