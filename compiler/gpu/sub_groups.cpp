#include "compiler/gpu/sub_groups.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include "core/ports/capabilities.h"

namespace weft::compiler {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;
namespace Intrinsic = llvm::Intrinsic;

constexpr uint32_t warp_size = port::gpu_sub_group_size;
constexpr unsigned local_space = 3;
constexpr uint64_t largest_group = 1024;

// What answers one call has to know.
struct Question {
  Builder& builder;
  llvm::CallInst& call;
  uint32_t width;
  llvm::function_ref<GroupPlace()> place;

  Value* argument(unsigned i) const { return call.getArgOperand(i); }
  Value* number(uint32_t value) const { return builder.getInt32(value); }
};

Value* lanes(const Question& ask) { return ask.number(ask.width); }
// They do not run along: the rest is asked in code that is dropped.
Value* no(const Question& ask) { return ask.builder.getFalse(); }
Value* one(const Question& ask) { return ask.number(1); }
Value* same(const Question& ask) { return ask.argument(0); }

// One for each sub-group of the largest group.
Value* slots(const Question& ask) {
  llvm::Module& module = *ask.call.getModule();
  const std::string name = "weft.group_slots." + std::to_string(ask.width);
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  auto* type =
      llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), largest_group / ask.width);
  auto* made = new llvm::GlobalVariable(
      module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
      llvm::UndefValue::get(type), name, nullptr, llvm::GlobalValue::NotThreadLocal, local_space);
  made->setAlignment(llvm::Align(sizeof(uint64_t)));
  return made;
}

// Work-items of a sub-group follow each other in the group's linear order.
Value* lane(const Question& ask) {
  return ask.builder.CreateURem(ask.place().item, ask.number(ask.width));
}
Value* subGroup(const Question& ask) {
  return ask.builder.CreateUDiv(ask.place().item, ask.number(ask.width));
}
Value* subGroupCount(const Question& ask) {
  Value* rounded = ask.builder.CreateAdd(ask.place().items, ask.number(ask.width - 1));
  return ask.builder.CreateUDiv(rounded, ask.number(ask.width));
}
Value* members(const Question& ask) {
  const auto [item, items] = ask.place();
  Value* lane = ask.builder.CreateURem(item, ask.number(ask.width));
  Value* rest = ask.builder.CreateSub(items, ask.builder.CreateSub(item, lane));
  return ask.builder.CreateBinaryIntrinsic(Intrinsic::umin, rest, ask.number(ask.width));
}

// Where the sub-group's first lane is in its warp.
Value* firstOfWarp(const Question& ask) {
  if (ask.width == warp_size) return ask.number(0);
  Value* lane = ask.builder.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
  return ask.builder.CreateAnd(lane, ask.number(~(ask.width - 1)));
}
Value* warpMask(const Question& ask, Value* mask) {
  return ask.builder.CreateShl(mask, firstOfWarp(ask));
}
// Of a warp's mask.
Value* ownMask(const Question& ask, Value* mask) {
  Value* own = ask.builder.CreateLShr(mask, firstOfWarp(ask));
  return ask.builder.CreateAnd(own, ask.number(~0u >> (warp_size - ask.width)));
}

Value* shuffle(const Question& ask) {
  Value* within = ask.builder.CreateAnd(ask.argument(1), ask.number(ask.width - 1));
  Value* from =
      ask.width == warp_size ? ask.argument(1) : ask.builder.CreateOr(firstOfWarp(ask), within);
  return ask.builder.CreateIntrinsic(
      Intrinsic::nvvm_shfl_sync_idx_i32, {},
      {warpMask(ask, ask.argument(2)), ask.argument(0), from, ask.number(warp_size - 1)});
}
Value* here(const Question& ask) {
  return ownMask(ask, ask.builder.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {}));
}
Value* ballot(const Question& ask) {
  Value* holds = ask.builder.CreateIsNotNull(ask.argument(0));
  return ownMask(ask, ask.builder.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {},
                                                  {warpMask(ask, ask.argument(1)), holds}));
}
Value* meet(const Question& ask) {
  return ask.builder.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {},
                                     {warpMask(ask, ask.argument(0))});
}
// Lanes that the group does not have are no members: nobody waits for them.
Value* shuffleUp(const Question& ask) {
  Value* unused = ask.builder.CreateSub(ask.number(warp_size), ask.argument(2));
  Value* mask = ask.builder.CreateLShr(ask.number(~0u), unused);
  return ask.builder.CreateIntrinsic(
      Intrinsic::nvvm_shfl_sync_up_i32, {},
      {warpMask(ask, mask), ask.argument(0), ask.argument(1), ask.number(0)});
}

Value* meetWarps(const Question& ask) {
  Value* threads = ask.builder.CreateMul(ask.argument(1), ask.number(warp_size));
  return ask.builder.CreateIntrinsic(Intrinsic::nvvm_barrier_sync_cnt, {},
                                     {ask.argument(0), threads});
}
Value* orderGroup(const Question& ask) {
  return ask.builder.CreateIntrinsic(Intrinsic::nvvm_membar_cta, {}, {});
}
Value* rest(const Question& ask) {
  constexpr uint32_t nanoseconds = 32;
  return ask.builder.CreateIntrinsic(Intrinsic::nvvm_nanosleep, {}, {ask.number(nanoseconds)});
}

// A call of SPIR-V's instruction, which is none that could be moved, doubled or left out.
Value* instruction(const Question& ask, llvm::StringRef name, llvm::Type* result,
                   llvm::ArrayRef<Value*> values = {}) {
  llvm::SmallVector<llvm::Type*> types;
  for (const Value* value : values) types.push_back(value->getType());
  llvm::FunctionCallee callee = ask.call.getModule()->getOrInsertFunction(
      (spirv_sub_group_prefix + name).str(), llvm::FunctionType::get(result, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  for (const auto attribute : {llvm::Attribute::Convergent, llvm::Attribute::NoMerge,
                               llvm::Attribute::NoDuplicate, llvm::Attribute::NoUnwind})
    function->addFnAttr(attribute);
  return ask.builder.CreateCall(callee, values);
}
Value* number(const Question& ask, llvm::StringRef name) {
  Value* result = instruction(ask, name, ask.builder.getInt32Ty());
  auto* function = llvm::cast<llvm::CallInst>(result)->getCalledFunction();
  function->removeFnAttr(llvm::Attribute::Convergent);
  function->setMemoryEffects(llvm::MemoryEffects::none());
  return result;
}

Value* spirvLane(const Question& ask) { return number(ask, "lane"); }
Value* spirvMembers(const Question& ask) { return number(ask, "size"); }
Value* spirvSubGroup(const Question& ask) { return number(ask, "id"); }
Value* spirvSubGroupCount(const Question& ask) { return number(ask, "count"); }
Value* spirvBallot(const Question& ask) {
  return instruction(ask, "ballot", ask.builder.getInt32Ty(),
                     {ask.builder.CreateIsNotNull(ask.argument(0))});
}
Value* spirvHere(const Question& ask) {
  return instruction(ask, "ballot", ask.builder.getInt32Ty(), {ask.builder.getTrue()});
}
Value* takeFrom(const Question& ask, Value* lane) {
  return instruction(ask, "shuffle", ask.builder.getInt32Ty(),
                     {ask.argument(0), ask.builder.CreateAnd(lane, ask.number(ask.width - 1))});
}
Value* spirvShuffle(const Question& ask) { return takeFrom(ask, ask.argument(1)); }
Value* spirvShuffleUp(const Question& ask) {
  return takeFrom(ask, ask.builder.CreateSub(spirvLane(ask), ask.argument(1)));
}
Value* spirvMeet(const Question& ask) {
  return instruction(ask, "barrier", ask.builder.getVoidTy());
}

struct Row {
  llvm::StringLiteral name;
  Value* (*of_warps)(const Question& ask);
  Value* (*of_spirv)(const Question& ask);  // null: there is none
};
constexpr Row rows[] = {
    {"__weft_lanes", lanes, lanes},
    {"__weft_sub_group_width", lanes, lanes},
    {"__weft_idle_lanes_run", no, no},
    {"__weft_runs", one, one},
    {"__weft_shuffle_long", same, same},
    {"__weft_lane", lane, spirvLane},
    {"__weft_members", members, spirvMembers},
    {"__weft_sub_group", subGroup, spirvSubGroup},
    {"__weft_sub_groups", subGroupCount, spirvSubGroupCount},
    {"__weft_here", here, spirvHere},
    {"__weft_meet", meet, spirvMeet},
    {"__weft_ballot", ballot, spirvBallot},
    {"__weft_shuffle", shuffle, spirvShuffle},
    {"__weft_shuffle_up", shuffleUp, spirvShuffleUp},
    {"__weft_group_slots", slots, slots},
    {"__weft_meet_warps", meetWarps, nullptr},
    {"__weft_order_group", orderGroup, orderGroup},
    {"__weft_rest", rest, nullptr},
};

}  // namespace

Value* answerSubGroup(Builder& builder, llvm::CallInst& call, const SubGroups& sub_groups,
                      llvm::function_ref<GroupPlace()> place) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  const auto* row = llvm::find_if(rows, [&](const Row& each) { return each.name == name; });
  if (row == std::end(rows)) return nullptr;
  const Question ask{builder, call, sub_groups.width, place};
  const auto answer = sub_groups.spirv ? row->of_spirv : row->of_warps;
  return answer ? answer(ask) : nullptr;
}

}  // namespace weft::compiler
