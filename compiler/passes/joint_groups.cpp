#include "compiler/passes/joint_groups.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/passes/simd/vector_report.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Instruction;
using llvm::Value;

enum AddressSpace : unsigned { private_space = 0, local_space = 3 };

// A part of local memory that is not accessed but through what is made of `roots`.
struct Variable {
  uint64_t offset = 0, size = 0;
  bool sized = false;  // one of the kernel's own, not an argument
  bool own = false;    // each group has one
  llvm::SmallVector<const Value*, 2> roots;
};

class GroupJoiner {
 public:
  explicit GroupJoiner(const KernelBody& body) : body_(body) {}

  // Can it be told that both groups take the same way, and what is the same in both?
  bool analyse() {
    return usesKnownParameters() && findVariables() && hasKnownCode() && findDifferences();
  }
  bool pays() const;
  KernelBody join();

 private:
  bool usesKnownParameters() const;
  bool findVariables();
  bool addRoot(const Value* root, uint64_t offset);
  bool follow(const Value* pointer, unsigned variable);
  bool hasKnownCode() const;
  bool isKnown(const Instruction& instruction) const;
  bool findDifferences();
  bool spread();
  bool differs(const Value* value) const { return differing_.contains(value); }
  std::optional<unsigned> variableOf(const Value* pointer) const {
    const auto found = variable_of_.find(pointer);
    if (found == variable_of_.end()) return std::nullopt;
    return found->second;
  }
  uint64_t ownBytes() const;
  void enterSecond(Function& joint);

  const KernelBody& body_;
  std::vector<Variable> variables_;
  llvm::DenseMap<const Value*, unsigned> variable_of_;  // of pointers into them
  llvm::SmallPtrSet<const Value*, 32> differing_;
  llvm::DenseMap<const Value*, Value*> second_;  // what values are in the second group
};

// Not those that tell of memory as a whole, or that sub-groups use.
bool GroupJoiner::usesKnownParameters() const {
  if (body_.sub_groups.slot_bytes || body_.sub_groups.knows_active) return false;
  if (body_.axes[0] != 0) return false;  // neighbours of the launch's dimension 0 are run
  for (const unsigned parameter : {env::context, env::local_bytes, env::context_bytes, env::frame,
                                   env::services, env::lane_capacity})
    if (!body_.hidden(parameter)->use_empty()) return false;
  return true;
}

bool GroupJoiner::findVariables() {
  for (const LocalVariable& place : body_.local_variables)
    variables_.push_back({place.offset, place.size, /*sized=*/true, /*own=*/false, {}});
  for (const llvm::User* user : body_.hidden(env::local_memory)->users()) {
    if (llvm::isa<llvm::AddrSpaceCastInst>(user)) {
      if (!addRoot(user, 0)) return false;
      continue;
    }
    auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    llvm::APInt offset(64, 0);
    if (!element || !element->accumulateConstantOffset(element->getDataLayout(), offset))
      return false;
    for (const llvm::User* cast : element->users())
      if (!llvm::isa<llvm::AddrSpaceCastInst>(cast) || !addRoot(cast, offset.getZExtValue()))
        return false;
  }
  for (unsigned i = 0; i < body_.firstHidden(); ++i) {
    if (body_.arguments[i] != ArgumentSource::local_offset) continue;
    const Value* argument = body_.function->getArg(i);
    variables_.push_back({0, 0, /*sized=*/false, /*own=*/false, {argument}});
    if (!follow(argument, static_cast<unsigned>(variables_.size() - 1))) return false;
  }
  return true;
}

bool GroupJoiner::addRoot(const Value* root, uint64_t offset) {
  if (root->getType()->getPointerAddressSpace() != local_space) return false;
  for (unsigned i = 0; i < variables_.size(); ++i) {
    Variable& variable = variables_[i];
    if (offset != variable.offset || variable.size == 0) continue;
    variable.roots.push_back(root);
    return follow(root, i);
  }
  return false;
}

// False if the pointer goes anywhere but to accesses.
bool GroupJoiner::follow(const Value* pointer, unsigned variable) {
  variable_of_[pointer] = variable;
  for (const llvm::Use& use : pointer->uses()) {
    const llvm::User* user = use.getUser();
    if (llvm::isa<llvm::GetElementPtrInst>(user)) {
      if (use.getOperandNo() != 0 || !user->getType()->isPointerTy() || !follow(user, variable))
        return false;
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (use.getOperandNo() != store->getPointerOperandIndex()) return false;
    } else if (!llvm::isa<llvm::LoadInst>(user)) {
      return false;
    }
  }
  return true;
}

bool GroupJoiner::hasKnownCode() const {
  return llvm::all_of(llvm::instructions(*body_.function),
                      [&](const Instruction& instruction) { return isKnown(instruction); });
}

// Work-items of two groups are not ordered, so what one of them reads without atomics the other one
// does not write.
bool GroupJoiner::isKnown(const Instruction& instruction) const {
  if (const Value* pointer = llvm::getLoadStorePointerOperand(&instruction)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load ? !load->isSimple() : !llvm::cast<llvm::StoreInst>(instruction).isSimple())
      return false;
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    return space == local_space ? variableOf(pointer).has_value()
                                : load != nullptr || space != private_space;
  }
  if (llvm::isa<llvm::AllocaInst>(instruction)) return false;
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (isNote(instruction)) return true;
    if (isBarrierCall(instruction)) {
      auto& barrier = llvm::cast<llvm::CallInst>(instruction);
      return !isMeeting(barrier) && !needsFence(barrier);
    }
    return llvm::isa<llvm::CallInst>(call) && call->doesNotAccessMemory() && call->willReturn() &&
           call->doesNotThrow() && !call->isConvergent();
  }
  return !instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::InvokeInst>(instruction);
}

// Local variables are taken to be the same in both groups until something else is stored there.
bool GroupJoiner::findDifferences() {
  differing_.insert(body_.hidden(env::group_id));
  differing_.insert(body_.hidden(env::global_base));
  while (spread()) {
  }
  for (const Variable& variable : variables_)
    if (variable.own && !variable.sized) return false;
  for (const llvm::BasicBlock& block : *body_.function) {
    const Instruction* end = block.getTerminator();
    if (llvm::any_of(end->operands(), [&](const auto& operand) { return differs(operand.get()); }))
      return false;
  }
  return true;
}

bool GroupJoiner::spread() {
  bool changed = false;
  for (const Instruction& instruction : llvm::instructions(*body_.function)) {
    if (instruction.isTerminator() || isNote(instruction) ||
        llvm::none_of(instruction.operands(),
                      [&](const auto& operand) { return differs(operand.get()); }))
      continue;
    changed |= differing_.insert(&instruction).second;
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const auto variable = store ? variableOf(store->getPointerOperand()) : std::nullopt;
    if (!variable || std::exchange(variables_[*variable].own, true)) continue;
    changed = true;
    for (const Value* root : variables_[*variable].roots) differing_.insert(root);
  }
  return changed;
}

uint64_t GroupJoiner::ownBytes() const {
  uint64_t bytes = 0;
  for (const Variable& variable : variables_)
    if (variable.own) bytes = std::max(bytes, variable.offset + variable.size);
  return bytes;
}

// Where groups are tables of work-items and a fair part of their accesses in loops is to what both
// have: others have enough that is shared within one group, or nothing to share.
bool GroupJoiner::pays() const {
  constexpr double turns = 8, worth = 0.25;
  constexpr uint64_t most_bytes = 8192;  // two of them shall stay in the first cache
  constexpr unsigned most_code = 400;
  if (body_.hidden(env::local_id + 1)->use_empty() || ownBytes() > most_bytes ||
      body_.function->getInstructionCount() > most_code)
    return false;
  if (llvm::none_of(llvm::instructions(*body_.function), isBarrierCall)) return false;
  const llvm::DominatorTree tree(*body_.function);
  const llvm::LoopInfo loops(tree);
  double shared = 0, all = 0;
  for (const llvm::BasicBlock& block : *body_.function) {
    const double weight = std::pow(turns, std::min(loops.getLoopDepth(&block), 3u));
    for (const Instruction& instruction : block) {
      const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (!pointer) continue;
      all += weight;
      if (weight > 1 && variableOf(pointer) && !differs(&instruction)) shared += weight;
    }
  }
  return shared > worth * all;
}

// What is another value in the second group from the start.
void GroupJoiner::enterSecond(Function& joint) {
  const auto hidden = [&](unsigned parameter) {
    return joint.getArg(body_.firstHidden() + parameter);
  };
  llvm::IRBuilder<> builder(&joint.getEntryBlock(), joint.getEntryBlock().begin());
  second_[body_.hidden(env::global_base)] = hidden(env::next_base);
  second_[body_.hidden(env::group_id)] =
      builder.CreateAdd(hidden(env::group_id), builder.getInt64(1), "", true, true);
  for (const Variable& variable : variables_) {
    if (!variable.own) continue;
    Value* place = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), hidden(env::next_local_memory), variable.offset);
    for (const Value* root : variable.roots)
      second_[root] = builder.CreateAddrSpaceCast(place, root->getType(), root->getName());
  }
}

// Short loops are not unrolled as a whole: with the accesses of both groups that is so much code
// that it is not scheduled well.
void keepLoopsShort(Function& joint) {
  constexpr unsigned turns_at_once = 2, least_turns = 8;
  llvm::DominatorTree tree(joint);
  llvm::LoopInfo loops(tree);
  llvm::AssumptionCache assumptions(joint);
  llvm::TargetLibraryInfoImpl names(llvm::Triple(joint.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo library(names);
  llvm::ScalarEvolution evolution(joint, library, assumptions, tree, loops);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !loop->getLoopLatch()) continue;
    if (evolution.getSmallConstantMaxTripCount(loop) < least_turns) continue;
    llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", turns_at_once);
  }
}

KernelBody GroupJoiner::join() {
  KernelBody result = body_;
  result.groups = joint_groups;
  result.next_local_bytes = ownBytes();
  body_.function->setSubprogram(body_.subprogram);
  llvm::ValueToValueMapTy first;
  Function* joint = llvm::CloneFunction(body_.function, first);
  body_.function->setSubprogram(nullptr);
  result.function = joint;
  result.subprogram = joint->getSubprogram();
  joint->setSubprogram(nullptr);
  result.name = body_.name + joint_suffix.str();
  joint->setName(result.name + ".body");
  enterSecond(*joint);
  llvm::SmallVector<const Instruction*> copied;
  for (const Instruction& instruction : llvm::instructions(*body_.function)) {
    if (!differs(&instruction) || second_.contains(&instruction)) continue;
    auto* place = llvm::cast<Instruction>(first[&instruction]);
    Instruction* copy = place->clone();
    copy->insertAfter(place);
    second_[&instruction] = copy;
    copied.push_back(&instruction);
  }
  for (const Instruction* instruction : copied) {
    auto* copy = llvm::cast<Instruction>(second_.lookup(instruction));
    for (unsigned i = 0; i < instruction->getNumOperands(); ++i)
      if (Value* other = second_.lookup(instruction->getOperand(i))) copy->setOperand(i, other);
  }
  keepLoopsShort(*joint);
  return result;
}

}  // namespace

std::optional<KernelBody> jointBody(const KernelBody& body, bool always) {
  GroupJoiner joiner(body);
  if (!joiner.analyse() || (!always && !joiner.pays())) return std::nullopt;
  reportJoint(*body.function);
  return joiner.join();
}

}  // namespace weft::compiler
