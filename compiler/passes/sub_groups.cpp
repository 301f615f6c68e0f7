#include "compiler/passes/sub_groups.h"

#include <algorithm>
#include <bit>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/lane_loops.h"
#include "compiler/passes/region_caller.h"
#include "compiler/passes/regions.h"
#include "compiler/passes/simd/exchanges.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr llvm::StringLiteral width_query = "__weft_sub_group_width",
                              slot_query = "__weft_lane_slot",
                              active_query = "__weft_sub_group_active";
constexpr llvm::StringLiteral queries[] = {width_query, slot_query, active_query,
                                           side_by_side_query};

constexpr uint64_t active_bytes = 8;

uint64_t slotBytes(const llvm::CallInst& call) {
  return std::bit_ceil(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
}

std::vector<llvm::CallInst*> findQueries(llvm::Function& function) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call && call->getCalledFunction() && isSubGroupQuery(*call->getCalledFunction()))
      calls.push_back(call);
  return calls;
}

// Where a lane keeps which lanes are active: behind all lanes' slots.
Value* activePlace(Builder& builder, const SubGroupUse& use, Value* context, Value* capacity,
                   Value* lane) {
  Value* offset = builder.CreateNUWMul(capacity, builder.getInt64(use.slot_bytes));
  Value* first = builder.CreateInBoundsGEP(builder.getInt8Ty(), context, offset);
  return builder.CreateInBoundsGEP(builder.getInt64Ty(), first, lane);
}

Value* lanesOf(Builder& builder, RegionCaller& caller) {
  const std::array<Value*, 3> size = caller.localSize();
  return builder.CreateMul(builder.CreateMul(size[0], size[1]), size[2]);
}

// A loop over a group's sub-groups, from the first lane of each and how many it has.
void emitSubGroups(Builder& builder, RegionCaller& caller, uint32_t width,
                   llvm::function_ref<void(Value*, Value*)> emit) {
  Value* lanes = lanesOf(builder, caller);
  Value* rounded = builder.CreateAdd(lanes, builder.getInt64(width - 1));
  Value* count = builder.CreateUDiv(rounded, builder.getInt64(width));
  emitCounted(builder, count, "sub_group", [&](Value* index) {
    Value* first = builder.CreateMul(index, builder.getInt64(width));
    Value* rest = builder.CreateSub(lanes, first);
    emit(first,
         builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rest, builder.getInt64(width)));
  });
}

bool isCallOf(const llvm::Instruction& instruction, llvm::StringRef name) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

// Leaves of each function the form that is wanted.
void chooseForm(llvm::Function& function, bool are_vectors) {
  auto* answer = llvm::ConstantInt::getBool(function.getContext(), are_vectors);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!isCallOf(instruction, side_by_side_query)) continue;
    instruction.replaceAllUsesWith(answer);
    instruction.eraseFromParent();
  }
  for (BasicBlock& block : function) llvm::ConstantFoldTerminator(&block);
  llvm::removeUnreachableBlocks(function);
}

Value* itemsOf(Builder& builder, llvm::Function& function, unsigned first) {
  Value* items = builder.getInt32(1);
  for (unsigned d = 0; d < 3; ++d)
    items = builder.CreateMul(
        items,
        builder.CreateTrunc(function.getArg(first + env::local_size + d), builder.getInt32Ty()));
  return items;
}

// What own_sub_group.cl asks, of the lanes of a vector.
class VectorQueries {
 public:
  VectorQueries(llvm::Function& function, unsigned first, uint32_t width)
      : function_(function), first_(first), width_(width) {}

  void lower() {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function_))) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !callee->isDeclaration()) continue;
      Builder builder(call);
      if (callee->getName() == "__weft_meet") {  // they come together
        call->eraseFromParent();
      } else if (Value* answer = answerTo(builder, callee->getName())) {
        call->replaceAllUsesWith(answer);
        call->eraseFromParent();
      }
    }
    declareExchanges(*function_.getParent());
  }

 private:
  Value* answerTo(Builder& builder, llvm::StringRef name) {
    if (name == "__weft_idle_lanes_run") return builder.getTrue();
    if (name == "__weft_lanes") return builder.getInt32(width_);
    if (name == "__weft_here")
      return createExchange(builder, Exchange::ballot, {builder.getInt32(1)});
    if (name == "__weft_sub_group") {
      Value* item = builder.CreateTrunc(function_.getArg(first_ + env::lane), builder.getInt32Ty());
      Value* lane = createExchange(builder, Exchange::lane);
      return builder.CreateUDiv(builder.CreateSub(item, lane), builder.getInt32(width_));
    }
    if (name == "__weft_sub_groups") {
      Value* items = itemsOf(builder, function_, first_);
      return builder.CreateUDiv(builder.CreateAdd(items, builder.getInt32(width_ - 1)),
                                builder.getInt32(width_));
    }
    return nullptr;
  }

  llvm::Function& function_;
  unsigned first_;
  uint32_t width_;
};

// A loop is left only when all of it has been visited: its exits are visited from its header first,
// so that they are finished before, and end up behind, everything in it.
llvm::SmallVector<BasicBlock*> next(BasicBlock* block, const llvm::LoopInfo& loops) {
  llvm::SmallVector<BasicBlock*> blocks;
  if (llvm::Loop* loop = loops.getLoopFor(block); loop && loop->getHeader() == block)
    loop->getExitBlocks(blocks);
  llvm::append_range(blocks, llvm::successors(block));
  return blocks;
}

}  // namespace

bool isSubGroupQuery(const llvm::Function& function) {
  return function.isDeclaration() && llvm::is_contained(queries, function.getName());
}

bool usesSubGroups(const llvm::Function& kernel) {
  return llvm::any_of(llvm::instructions(kernel), [](const llvm::Instruction& instruction) {
    return isCallOf(instruction, side_by_side_query);
  });
}

SubGroupUse lowerSubGroupQueries(llvm::Function& function, unsigned first, uint32_t width,
                                 bool are_vectors) {
  SubGroupUse use{.width = width, .are_vectors = are_vectors};
  chooseForm(function, are_vectors);
  if (are_vectors) VectorQueries(function, first, width).lower();
  const std::vector<llvm::CallInst*> calls = findQueries(function);
  for (const llvm::CallInst* call : calls) {
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (name == slot_query) use.slot_bytes = std::max(use.slot_bytes, slotBytes(*call));
    use.knows_active |= name == active_query;
  }
  const auto hidden = [&](unsigned parameter) { return function.getArg(first + parameter); };
  for (llvm::CallInst* call : calls) {
    Builder builder(call);
    const llvm::StringRef name = call->getCalledFunction()->getName();
    Value* answer = nullptr;
    if (name == width_query) {
      answer = builder.getInt32(width);
    } else if (name == slot_query) {
      llvm::Type* slot = llvm::ArrayType::get(builder.getInt8Ty(), use.slot_bytes);
      answer = builder.CreateInBoundsGEP(slot, hidden(env::context), call->getArgOperand(0));
    } else {
      answer = builder.CreateLoad(builder.getInt64Ty(),
                                  activePlace(builder, use, hidden(env::context),
                                              hidden(env::lane_capacity), hidden(env::lane)));
    }
    call->replaceAllUsesWith(answer);
    call->eraseFromParent();
  }
  return use;
}

void lowerPlaces(llvm::Function& function, unsigned first, uint32_t width) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const auto exchange = exchangeOf(instruction);
    if (!exchange) continue;
    Builder builder(&instruction);
    const auto number = [&](unsigned parameter) {
      return builder.CreateTrunc(function.getArg(first + parameter), builder.getInt32Ty());
    };
    Value* item = number(env::lane);
    Value* answer = builder.CreateAnd(item, width - 1);
    if (exchange == Exchange::members) {
      Value* rest =
          builder.CreateSub(itemsOf(builder, function, first), builder.CreateSub(item, answer));
      answer = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rest, builder.getInt32(width));
    }
    instruction.replaceAllUsesWith(answer);
    instruction.eraseFromParent();
  }
}

void reserveSubGroupSlots(const SubGroupUse& use, ContextLayout& layout) {
  if (use.slot_bytes)
    layout.addPerLane(use.slot_bytes, llvm::Align(std::min<uint64_t>(use.slot_bytes, 128)));
  if (use.knows_active) layout.addPerLane(active_bytes, llvm::Align(active_bytes));
}

void keepTurnsTogether(llvm::Function& body) {
  const llvm::DominatorTree tree(body);
  const llvm::LoopInfo loops(tree);
  llvm::SmallVector<llvm::CallInst*> meetings;
  for (llvm::Instruction& instruction : llvm::instructions(body))
    if (isBarrierCall(instruction) && isMeeting(llvm::cast<llvm::CallInst>(instruction)))
      meetings.push_back(llvm::cast<llvm::CallInst>(&instruction));
  llvm::SmallSetVector<BasicBlock*, 4> latches;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<BasicBlock*> ends;
    loop->getLoopLatches(ends);
    const auto may_be_passed = [&](const llvm::CallInst* meeting) {
      const BasicBlock* block = meeting->getParent();
      return loop->contains(block) &&
             (loops.getLoopFor(block) != loop || llvm::any_of(ends, [&](const BasicBlock* end) {
                return !tree.dominates(block, end);
              }));
    };
    if (llvm::any_of(meetings, may_be_passed)) latches.insert(ends.begin(), ends.end());
  }
  for (BasicBlock* latch : latches) {
    auto* meeting = llvm::cast<llvm::CallInst>(meetings.front()->clone());
    for (unsigned i = 0; i < meeting->arg_size(); ++i)
      meeting->setArgOperand(i, llvm::Constant::getNullValue(meeting->getArgOperand(i)->getType()));
    meeting->insertBefore(latch->getTerminator());
  }
}

void sortByProgramOrder(llvm::Function& body, std::vector<Barrier>& barriers) {
  llvm::DominatorTree tree(body);
  const llvm::LoopInfo loops(tree);
  struct Visit {
    BasicBlock* block;
    llvm::SmallVector<BasicBlock*> next;
    size_t done = 0;
  };
  llvm::DenseMap<const BasicBlock*, unsigned> finished;
  llvm::SmallPtrSet<const BasicBlock*, 16> seen{&body.getEntryBlock()};
  std::vector<Visit> visits;
  visits.push_back({&body.getEntryBlock(), next(&body.getEntryBlock(), loops)});
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.done == visit.next.size()) {
      finished.try_emplace(visit.block, finished.size());
      visits.pop_back();
      continue;
    }
    BasicBlock* block = visit.next[visit.done++];
    if (seen.insert(block).second) visits.push_back({block, next(block, loops)});
  }
  llvm::sort(barriers, [&](const Barrier& a, const Barrier& b) {
    return finished.lookup(a.block) > finished.lookup(b.block);
  });
}

void emitAllActive(Builder& builder, const SubGroupUse& use, RegionCaller& caller) {
  if (!use.knows_active) return;
  emitSubGroups(builder, caller, use.width, [&](Value* first, Value* members) {
    Value* end = builder.CreateShl(builder.getInt64(1), members);
    Value* all = builder.CreateSub(end, builder.getInt64(1));
    emitCounted(builder, members, "member", [&](Value* member) {
      builder.CreateStore(
          all, activePlace(builder, use, caller.hidden(env::context),
                           caller.hidden(env::lane_capacity), builder.CreateAdd(first, member)));
    });
  });
}

LaneChoice::LaneChoice(Builder& builder, const KernelBody& body, const SplitKernel& split)
    : body_(body),
      split_(split),
      least_(builder.CreateAlloca(builder.getInt32Ty(), nullptr, "first_meeting")),
      active_(builder.CreateAlloca(builder.getInt64Ty(), nullptr, "active")),
      any_(builder.CreateAlloca(builder.getInt1Ty(), nullptr, "any")) {
  llvm::SmallVector<uint8_t> table;
  for (const Region& region : split.regions) table.push_back(region.after_meeting);
  table.push_back(false);  // done
  llvm::Constant* values = llvm::ConstantDataArray::get(builder.getContext(), table);
  is_meeting_ = new llvm::GlobalVariable(*builder.GetInsertBlock()->getModule(), values->getType(),
                                         /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                         values, body.name + ".meetings");
}

void LaneChoice::emit(Builder& builder, RegionCaller& caller) {
  builder.CreateStore(builder.getFalse(), any_);
  emitSubGroups(builder, caller, body_.sub_groups.width, [&](Value* first, Value* members) {
    emitSubGroup(builder, caller, first, members);
  });
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  BasicBlock* release = BasicBlock::Create(builder.getContext(), "release", function);
  BasicBlock* chosen = BasicBlock::Create(builder.getContext(), "chosen", function);
  builder.CreateCondBr(builder.CreateLoad(builder.getInt1Ty(), any_), chosen, release);
  // Nobody is at a meeting: the barriers let everybody go.
  builder.SetInsertPoint(release);
  emitCounted(builder, lanesOf(builder, caller), "lane", [&](Value* lane) {
    Value* place = statePlace(builder, split_, caller, lane);
    Value* state = builder.CreateLoad(builder.getInt32Ty(), place);
    Value* waits = builder.CreateICmpNE(state, builder.getInt32(split_.done()));
    Value* released = builder.CreateOr(state, builder.getInt32(goes_on));
    builder.CreateStore(builder.CreateSelect(waits, released, state), place);
  });
  builder.CreateBr(chosen);
  builder.SetInsertPoint(chosen);
}

// Finds the first meeting at which some lane stands.
void LaneChoice::emitSubGroup(Builder& builder, RegionCaller& caller, Value* first,
                              Value* members) {
  Value* none = builder.getInt32(~0u);
  builder.CreateStore(none, least_);
  emitCounted(builder, members, "member", [&](Value* member) {
    Value* place = statePlace(builder, split_, caller, builder.CreateAdd(first, member));
    Value* state = builder.CreateLoad(builder.getInt32Ty(), place);
    Value* entry = builder.CreateInBoundsGEP(builder.getInt8Ty(), is_meeting_, state);
    Value* meets = builder.CreateIsNotNull(builder.CreateLoad(builder.getInt8Ty(), entry));
    Value* so_far = builder.CreateLoad(builder.getInt32Ty(), least_);
    builder.CreateStore(builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, so_far,
                                                      builder.CreateSelect(meets, state, none)),
                        least_);
  });
  mark(builder, caller, first, members);
  Value* found = builder.CreateICmpNE(builder.CreateLoad(builder.getInt32Ty(), least_), none);
  builder.CreateStore(builder.CreateOr(builder.CreateLoad(builder.getInt1Ty(), any_), found), any_);
}

// Lets the lanes go on that are there, and tells them of each other.
void LaneChoice::mark(Builder& builder, RegionCaller& caller, Value* first, Value* members) {
  builder.CreateStore(builder.getInt64(0), active_);
  emitCounted(builder, members, "member", [&](Value* member) {
    Value* place = statePlace(builder, split_, caller, builder.CreateAdd(first, member));
    Value* state = builder.CreateLoad(builder.getInt32Ty(), place);
    Value* least = builder.CreateLoad(builder.getInt32Ty(), least_);
    Value* chosen = builder.CreateICmpEQ(state, least);
    Value* released = builder.CreateOr(state, builder.getInt32(goes_on));
    builder.CreateStore(builder.CreateSelect(chosen, released, state), place);
    Value* bit = builder.CreateShl(builder.CreateZExt(chosen, builder.getInt64Ty()), member);
    builder.CreateStore(builder.CreateOr(builder.CreateLoad(builder.getInt64Ty(), active_), bit),
                        active_);
  });
  if (!body_.sub_groups.knows_active) return;
  Value* active = builder.CreateLoad(builder.getInt64Ty(), active_);
  emitCounted(builder, members, "member", [&](Value* member) {
    builder.CreateStore(
        active, activePlace(builder, body_.sub_groups, caller.hidden(env::context),
                            caller.hidden(env::lane_capacity), builder.CreateAdd(first, member)));
  });
}

}  // namespace weft::compiler
