#include "compiler/passes/access_analysis.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/passes/access_coder.h"
#include "compiler/passes/analyses.h"
#include "compiler/passes/image_accesses.h"
#include "compiler/passes/work_items.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;
using llvm::SCEV;
using llvm::Value;

constexpr unsigned global_space = 1, constant_space = 2;
constexpr size_t max_records = 64;  // of an argument; more say too little for their cost
constexpr int64_t max_gap = 64;     // bytes that reads nearby may have between them

bool isGlobalPointer(const llvm::Type* type) {
  return type->isPointerTy() && (type->getPointerAddressSpace() == global_space ||
                                 type->getPointerAddressSpace() == constant_space);
}

// One instruction, or several of one block that touch neighbouring bytes.
struct MemoryUse {
  BasicBlock* block;
  const SCEV* offset;  // from the argument
  uint64_t bytes;
  const SCEV* length;  // instead of bytes, or null
  bool reads;
  bool writes;
  bool complete;  // of a write: of all these bytes
};

// A condition or a loop on the way to a block.
struct Waypoint {
  const Loop* loop = nullptr;
  Value* condition = nullptr;
  bool outcome = false;
  bool implied = false;  // by a loop that is counted
  const Loop* scope = nullptr;
};

class ArgumentUses;

// The analyses of one function.
class BodyAnalysis {
 public:
  BodyAnalysis(const KernelBody& body, llvm::FunctionAnalysisManager& analyses, KernelInfo& info,
               const PixelNotes& notes)
      : body_(body),
        info_(info),
        notes_(notes),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(*body.function)),
        loops_(analyses.getResult<llvm::LoopAnalysis>(*body.function)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(*body.function)),
        post_dominators_(analyses.getResult<llvm::PostDominatorTreeAnalysis>(*body.function)) {}

  void run() {
    for (unsigned i = 0; i < body_.firstHidden(); ++i)
      if (isAnalysed(i)) describeArgument(i);
  }

 private:
  friend class ArgumentUses;

  bool isImage(unsigned index) const {
    return body_.arguments[index] == ArgumentSource::descriptor;
  }
  bool isAnalysed(unsigned index) const {
    const ArgumentKind kind = info_.arguments[index].kind;
    if (isImage(index)) return true;
    return isGlobalPointer(body_.function->getArg(index)->getType()) &&
           body_.arguments[index] == ArgumentSource::value && kind != ArgumentKind::pipe &&
           kind != ArgumentKind::queue;
  }

  void describeArgument(unsigned index);
  bool describe(const MemoryUse& use, AccessRecord& record);
  bool follow(BasicBlock* block, AccessCoder& coder);
  bool waypoints(BasicBlock* block, std::vector<Waypoint>& way);
  bool addCondition(BasicBlock* from, BasicBlock* to, BasicBlock* goal, std::vector<Waypoint>& way);
  void addLoop(const Loop& loop, BasicBlock* block, AccessCoder& coder);
  bool isCounted(const Loop& loop);

  const KernelBody& body_;
  KernelInfo& info_;
  const PixelNotes& notes_;
  llvm::ScalarEvolution& evolution_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::PostDominatorTree& post_dominators_;
};

// Does it load something else from an image's descriptor than where the pixels are?
bool isDescriptorField(const llvm::LoadInst& load) {
  llvm::APInt offset(64, 0);
  load.getPointerOperand()->stripAndAccumulateConstantOffsets(load.getDataLayout(), offset, false);
  return offset.sge(offsetof(port::ImageDescriptor, row_pitch)) &&
         offset.slt(sizeof(port::ImageDescriptor));
}

// Everything that is done through one pointer and what is derived from it.
class ArgumentUses {
 public:
  ArgumentUses(BodyAnalysis& analysis, llvm::Argument& argument)
      : analysis_(analysis), argument_(argument) {}

  void collect() {
    llvm::SmallVector<Value*> waiting = {&argument_};
    llvm::SmallPtrSet<Value*, 16> seen;
    while (!waiting.empty()) {
      Value* pointer = waiting.pop_back_val();
      if (!seen.insert(pointer).second) continue;
      for (llvm::Use& use : pointer->uses())
        if (auto* instruction = llvm::dyn_cast<Instruction>(use.getUser());
            !instruction || !take(*instruction, use))
          waiting.push_back(use.getUser());
    }
  }
  // Of an image: it is the address of the descriptor.
  void collectPixels();

  std::vector<MemoryUse> uses;
  bool unknown_reads = false;
  bool unknown_writes = false;

 private:
  // False: the user is another pointer to the same object.
  bool take(Instruction& user, llvm::Use& use);
  void takeCall(llvm::CallBase& call, llvm::Use& use);
  void takeCopy(llvm::MemIntrinsic& copy, llvm::Use& use);
  void takePixels(llvm::CallBase& call);
  const SCEV* valueOf(Value* value, const llvm::CallBase& call) const {
    return analysis_.evolution_.getSCEVAtScope(value,
                                               analysis_.loops_.getLoopFor(call.getParent()));
  }
  void add(Instruction& user, Value* pointer, uint64_t bytes, const SCEV* length, bool reads,
           bool writes, bool complete);
  bool join(const MemoryUse& use);
  const SCEV* offsetOf(Value* pointer, const Loop* scope);
  void unknown(bool reads, bool writes) {
    unknown_reads |= reads;
    unknown_writes |= writes;
  }

  BodyAnalysis& analysis_;
  llvm::Argument& argument_;
};

bool ArgumentUses::take(Instruction& user, llvm::Use& use) {
  const llvm::DataLayout& layout = user.getDataLayout();
  const auto bytes = [&](llvm::Type* type) { return layout.getTypeStoreSize(type); };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&user)) {
    add(user, use, bytes(load->getType()), nullptr, true, false, false);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user)) {
    llvm::Type* type = store->getValueOperand()->getType();
    if (use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex())
      unknown(true, true);
    else  // aggregates have gaps
      add(user, use, bytes(type), nullptr, false, true,
          type->isSingleValueType() && layout.typeSizeEqualsStoreSize(type));
  } else if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&user)) {
    if (use.getOperandNo() != llvm::AtomicRMWInst::getPointerOperandIndex())
      unknown(true, true);
    else
      add(user, use, bytes(atomic->getType()), nullptr, true, true, false);
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&user)) {
    if (use.getOperandNo() != llvm::AtomicCmpXchgInst::getPointerOperandIndex())
      unknown(true, true);
    else
      add(user, use, bytes(exchange->getCompareOperand()->getType()), nullptr, true, true, false);
  } else if (auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&user)) {
    takeCopy(*copy, use);
  } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&user)) {
    takeCall(*call, use);
  } else if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst, llvm::BitCastInst,
                       llvm::PHINode, llvm::SelectInst>(user)) {
    return false;
  } else if (!llvm::isa<llvm::ICmpInst>(user)) {
    unknown(true, true);  // it goes where nobody follows
  }
  return true;
}

void ArgumentUses::takeCopy(llvm::MemIntrinsic& copy, llvm::Use& use) {
  constexpr unsigned destination = 0, source = 1;
  const bool writes = use.getOperandNo() == destination;
  if (!writes && use.getOperandNo() != source) return unknown(true, true);
  add(copy, use, 1, valueOf(copy.getLength(), copy), !writes, writes, writes);
}

void ArgumentUses::collectPixels() {
  llvm::SmallVector<llvm::User*> waiting(argument_.users());
  while (!waiting.empty()) {
    llvm::User* user = waiting.pop_back_val();
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
      takePixels(*call);
    else if (llvm::isa<llvm::GetElementPtrInst>(user))
      waiting.append(user->user_begin(), user->user_end());
    else if (!llvm::isa<llvm::LoadInst>(user) ||
             !isDescriptorField(*llvm::cast<llvm::LoadInst>(user)))
      unknown(true, true);
  }
}

void ArgumentUses::takePixels(llvm::CallBase& call) {
  if (isNote(call)) return;
  const auto note = analysis_.notes_.noteOf(call);
  if (note && analysis_.dominators_.isReachableFromEntry(call.getParent()))
    uses.push_back({call.getParent(), valueOf(note->offset, call), 1, valueOf(note->bytes, call),
                    !note->writes, note->writes, note->writes});
  if (note) return;
  const llvm::Function* callee = call.getCalledFunction();
  const auto function = callee ? imageFunction(*callee) : std::nullopt;
  unknown(!function || !function->writes, !function || function->writes);
}

void ArgumentUses::takeCall(llvm::CallBase& call, llvm::Use& use) {
  if (isNote(call)) return;
  if (!call.isArgOperand(&use)) return unknown(true, true);
  const unsigned index = call.getArgOperandNo(&use);
  if (!call.doesNotCapture(index)) return unknown(true, true);
  if (call.doesNotAccessMemory(index)) return;
  unknown(!call.onlyWritesMemory(index), !call.onlyReadsMemory(index));
}

void ArgumentUses::add(Instruction& user, Value* pointer, uint64_t bytes, const SCEV* length,
                       bool reads, bool writes, bool complete) {
  BasicBlock* block = user.getParent();
  // No path leads there.
  if (!analysis_.dominators_.isReachableFromEntry(block)) return;
  const SCEV* offset = offsetOf(pointer, analysis_.loops_.getLoopFor(block));
  if (!offset || bytes > UINT32_MAX) return unknown(reads, writes);
  const MemoryUse use{block, offset, bytes, length, reads, writes, complete};
  if (!join(use)) uses.push_back(use);
}

// Into one of the same block. Writes have to leave no gap.
bool ArgumentUses::join(const MemoryUse& use) {
  if (use.length) return false;
  llvm::ScalarEvolution& evolution = analysis_.evolution_;
  for (MemoryUse& other : uses) {
    if (other.block != use.block || other.length || other.reads != use.reads ||
        other.writes != use.writes || other.complete != use.complete)
      continue;
    const auto distance = evolution.computeConstantDifference(use.offset, other.offset);
    if (!distance || distance->getSignificantBits() > 32) continue;
    const int64_t begin = distance->getSExtValue(), end = begin + static_cast<int64_t>(use.bytes);
    const auto other_end = static_cast<int64_t>(other.bytes);
    const int64_t gap = use.writes ? 0 : max_gap;
    if (begin > other_end + gap || end < -gap) continue;
    if (begin < 0) other.offset = use.offset;
    other.bytes = static_cast<uint64_t>(std::max(end, other_end) - std::min<int64_t>(0, begin));
    return true;
  }
  return false;
}

// Null when the pointer may come from elsewhere, too.
const SCEV* ArgumentUses::offsetOf(Value* pointer, const Loop* scope) {
  llvm::ScalarEvolution& evolution = analysis_.evolution_;
  const SCEV* address = evolution.getSCEVAtScope(pointer, scope);
  if (!address->getType()->isPointerTy()) return nullptr;
  const auto* base = llvm::dyn_cast<llvm::SCEVUnknown>(evolution.getPointerBase(address));
  if (!base) return nullptr;
  const SCEV* offset = evolution.removePointerBase(address);
  if (base->getValue() == &argument_) return offset;
  auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(base->getValue());
  const SCEV* before = cast ? offsetOf(cast->getPointerOperand(), scope) : nullptr;
  return before ? evolution.getAddExpr(before, offset) : nullptr;
}

// --- the way to a block ---

bool BodyAnalysis::isCounted(const Loop& loop) {
  return loop.getExitingBlock() &&
         !llvm::isa<llvm::SCEVCouldNotCompute>(evolution_.getBackedgeTakenCount(&loop));
}

// The conditions and loops that lead to `goal`, the last one first. False when it may not be
// reached although they are all fulfilled.
bool BodyAnalysis::waypoints(BasicBlock* goal, std::vector<Waypoint>& way) {
  bool exact = true;
  for (BasicBlock* block = goal;;) {
    const Loop* loop = loops_.getLoopFor(block);
    if (loop && loop->getHeader() == block && loop->contains(goal)) way.push_back({loop});
    auto* above = dominators_.getNode(block)->getIDom();
    if (!above) return exact;
    // Where every path from one block leads to the other, no condition is between them.
    if (!post_dominators_.dominates(block, above->getBlock()) &&
        !addCondition(above->getBlock(), block, goal, way))
      exact = false;
    block = above->getBlock();
  }
}

bool BodyAnalysis::addCondition(BasicBlock* from, BasicBlock* to, BasicBlock* goal,
                                std::vector<Waypoint>& way) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(from->getTerminator());
  if (!branch || !branch->isConditional()) return false;
  for (const unsigned side : {0u, 1u}) {
    BasicBlock* next = branch->getSuccessor(side);
    if (!dominators_.dominates(llvm::BasicBlockEdge(from, next), to)) continue;
    const Loop* scope = loops_.getLoopFor(from);
    const Loop* around = scope;
    // A loop that is counted goes this way as often as it is counted to.
    for (; around; around = around->getParentLoop())
      if (around->contains(goal) && around->getExitingBlock() == from && isCounted(*around)) break;
    way.push_back({nullptr, branch->getCondition(), side == 0, around != nullptr, scope});
    return (!scope || scope->contains(goal)) && post_dominators_.dominates(to, next);
  }
  return false;
}

void BodyAnalysis::addLoop(const Loop& loop, BasicBlock* block, AccessCoder& coder) {
  if (!isCounted(loop)) {
    const SCEV* most = evolution_.getSymbolicMaxBackedgeTakenCount(&loop);
    const auto counter =
        llvm::isa<llvm::SCEVCouldNotCompute>(most) ? counterOf(loop, evolution_) : std::nullopt;
    if (!counter) return coder.addLoop(loop, most, true, false);
    const bool behind = block != counter->exiting && dominators_.dominates(counter->exiting, block);
    return coder.addLoop(loop, *counter, !behind, behind && counter->only_exit);
  }
  BasicBlock* exiting = loop.getExitingBlock();
  const SCEV* count = evolution_.getBackedgeTakenCount(&loop);
  if (block != exiting && dominators_.dominates(exiting, block))
    return coder.addLoop(loop, count, false, true);
  const bool always =
      block == exiting || dominators_.dominates(block, exiting) || exiting == loop.getLoopLatch();
  coder.addLoop(loop, count, true, always);
}

bool BodyAnalysis::follow(BasicBlock* block, AccessCoder& coder) {
  std::vector<Waypoint> way;
  bool exact = waypoints(block, way);
  for (const Waypoint& point : llvm::reverse(way)) {
    if (point.loop)
      addLoop(*point.loop, block, coder);
    else if (!coder.addGuard(point.condition, point.outcome, point.scope, point.implied) &&
             !point.implied)
      exact = false;
  }
  return exact;
}

// --- records ---

bool BodyAnalysis::describe(const MemoryUse& use, AccessRecord& record) {
  AccessCoder coder(body_, info_, evolution_, loops_);
  const bool exact = follow(use.block, coder);
  record.reads = use.reads;
  record.writes = use.writes;
  record.complete = use.complete && exact;
  record.bytes = static_cast<uint32_t>(use.bytes);
  record.offset = use.length ? coder.addRun(use.offset, use.length) : coder.add(use.offset);
  record.steps = coder.take();
  return !coder.overflown();
}

void BodyAnalysis::describeArgument(unsigned index) {
  ArgumentUses found(*this, *body_.function->getArg(index));
  if (isImage(index))
    found.collectPixels();
  else
    found.collect();
  ArgumentInfo& info = info_.arguments[index];
  info.accesses.clear();
  for (const MemoryUse& use : found.uses) {
    AccessRecord record;
    if (info.accesses.size() < max_records && describe(use, record)) {
      info.accesses.push_back(std::move(record));
    } else {
      found.unknown_reads |= use.reads;
      found.unknown_writes |= use.writes;
    }
  }
  info.reads_known = !found.unknown_reads;
  info.writes_known = !found.unknown_writes;
}

// --- functions that are called ---

constexpr unsigned max_inlined_instructions = 4000, max_inlining_rounds = 8;

// Does an address, or what happens to one, depend on it?
bool isInteresting(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || callee->isDeclaration() || callee == call.getFunction() || imageFunction(*callee))
    return false;
  return call.getType()->isIntOrIntVectorTy() || call.getType()->isPointerTy() ||
         llvm::any_of(call.args(), [](const llvm::Use& argument) {
           return argument->getType()->isPointerTy() &&
                  argument->getType()->getPointerAddressSpace() != 0;
         });
}

llvm::SmallVector<llvm::CallBase*> interestingCalls(llvm::Function& function) {
  llvm::SmallVector<llvm::CallBase*> calls;
  for (BasicBlock& block : function)
    for (Instruction& instruction : block)
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && isInteresting(*call))
        calls.push_back(call);
  return calls;
}

bool touchesImages(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && call->getCalledFunction() && imageFunction(*call->getCalledFunction());
  });
}

// Puts what it calls in place, as far as that stays small, and notes the pixels that it touches.
void putInPlace(llvm::Function& copy, llvm::FunctionAnalysisManager& analyses, PixelNotes& notes) {
  unsigned instructions = copy.getInstructionCount();
  for (unsigned round = 0; round < max_inlining_rounds; ++round) {
    const auto calls = interestingCalls(copy);
    if (calls.empty()) break;
    for (llvm::CallBase* call : calls) {
      instructions += call->getCalledFunction()->getInstructionCount();
      if (instructions > max_inlined_instructions) break;
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*call, info);
    }
  }
  const bool images = touchesImages(copy);
  if (images) notes.addTo(copy);
  llvm::FunctionPassManager pipeline;
  if (images) pipeline.addPass(llvm::ScalarizerPass());  // coordinates are vectors
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.addPass(llvm::SimplifyCFGPass());
  pipeline.addPass(llvm::InstCombinePass());
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.addPass(llvm::SimplifyCFGPass());
  pipeline.run(copy, analyses);
}

// A copy of the body as the analysis wants it; null when the body itself is.
llvm::Function* analysedCopy(llvm::Function& body, llvm::FunctionAnalysisManager& analyses,
                             PixelNotes& notes) {
  const bool in_place = interestingCalls(body).empty() && !touchesImages(body);
  if (in_place && !hasWideCounters(body)) return nullptr;
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(&body, map);
  if (!in_place) putInPlace(*copy, analyses, notes);
  narrowCounters(*copy);
  analyses.invalidate(*copy, llvm::PreservedAnalyses::none());
  return copy;
}

}  // namespace

void analyseAccesses(const KernelBody& body, llvm::TargetMachine& machine, KernelInfo& info) {
  const auto pointers = [](const llvm::Argument& a) { return isGlobalPointer(a.getType()); };
  if (llvm::none_of(body.function->args(), pointers)) return;
  Analyses analyses(machineForSpir(machine));
  KernelBody subject = body;
  PixelNotes notes(*body.function->getParent());
  llvm::Function* copy = analysedCopy(*body.function, analyses.functions, notes);
  if (copy) subject.function = copy;
  BodyAnalysis(subject, analyses.functions, info, notes).run();
  analyses.functions.clear();
  if (copy) copy->eraseFromParent();
}

}  // namespace weft::compiler
