#include "compiler/gpu/sub_groups.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include "core/ports/capabilities.h"

namespace weft::compiler {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr uint32_t warp_size = port::gpu_sub_group_size;
constexpr unsigned local_space = 3;
// One for each warp of the largest group.
constexpr uint64_t slot_count = 1024 / warp_size;
constexpr const char* slots_name = "weft.group_slots";

Value* lanes(Builder& builder, llvm::CallInst&) { return builder.getInt32(warp_size); }

Value* shuffle(Builder& builder, llvm::CallInst& call) {
  return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
                                 {call.getArgOperand(2), call.getArgOperand(0),
                                  call.getArgOperand(1), builder.getInt32(warp_size - 1)});
}
Value* here(Builder& builder, llvm::CallInst&) {
  return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_activemask, {}, {});
}
Value* ballot(Builder& builder, llvm::CallInst& call) {
  Value* holds = builder.CreateIsNotNull(call.getArgOperand(0));
  return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {},
                                 {call.getArgOperand(1), holds});
}
Value* meet(Builder& builder, llvm::CallInst& call) {
  return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {call.getArgOperand(0)});
}

// Lanes that the group does not have are no members: nobody waits for them.
Value* shuffleUp(Builder& builder, llvm::CallInst& call) {
  Value* members = call.getArgOperand(2);
  Value* unused = builder.CreateSub(builder.getInt32(warp_size), members);
  Value* mask = builder.CreateLShr(builder.getInt32(~0u), unused);
  return builder.CreateIntrinsic(
      llvm::Intrinsic::nvvm_shfl_sync_up_i32, {},
      {mask, call.getArgOperand(0), call.getArgOperand(1), builder.getInt32(0)});
}

Value* slotsFor(llvm::Module& module, uint64_t sub_groups) {
  if (llvm::GlobalVariable* known = module.getNamedGlobal(slots_name)) return known;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), sub_groups);
  auto* made =
      new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                               llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(type),
                               slots_name, nullptr, llvm::GlobalValue::NotThreadLocal, local_space);
  made->setAlignment(llvm::Align(sizeof(uint64_t)));
  return made;
}

Value* slots(Builder&, llvm::CallInst& call) { return slotsFor(*call.getModule(), slot_count); }

// A sub-group of one lane: what lies below it is asked for by nobody.
Value* oneLane(Builder& builder, llvm::CallInst&) { return builder.getInt32(1); }
Value* itself(Builder&, llvm::CallInst& call) { return call.getArgOperand(0); }
Value* slotForEach(Builder&, llvm::CallInst& call) {
  return slotsFor(*call.getModule(), slot_count * warp_size);
}

struct Query {
  llvm::StringLiteral name;
  Value* (*answer)(Builder& builder, llvm::CallInst& call);
  // Null: work-group functions do without.
  Value* (*answer_alone)(Builder& builder, llvm::CallInst& call);
};
constexpr Query queries[] = {
    {"__weft_lanes", lanes, oneLane},         {"__weft_sub_group_width", lanes, oneLane},
    {"__weft_here", here, nullptr},           {"__weft_meet", meet, nullptr},
    {"__weft_ballot", ballot, nullptr},       {"__weft_shuffle", shuffle, nullptr},
    {"__weft_shuffle_up", shuffleUp, itself}, {"__weft_group_slots", slots, slotForEach},
};

}  // namespace

Value* answerSubGroup(Builder& builder, llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  const auto* query = llvm::find_if(queries, [&](const Query& q) { return q.name == name; });
  return query == std::end(queries) ? nullptr : query->answer(builder, call);
}

void makeSubGroupsOfOne(llvm::Module& module) {
  for (const Query& query : queries) {
    llvm::Function* const asked = module.getFunction(query.name);
    if (!asked || !query.answer_alone) continue;
    for (llvm::User* user : llvm::make_early_inc_range(asked->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != asked) continue;
      Builder builder(call);
      call->replaceAllUsesWith(query.answer_alone(builder, *call));
      call->eraseFromParent();
    }
  }
}

}  // namespace weft::compiler
