#include "compiler/passes/region_caller.h"

namespace weft::compiler {

using llvm::BasicBlock;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

llvm::CallInst* RegionCaller::call(Builder& builder, llvm::Function* function, const Lane& lane,
                                   llvm::ArrayRef<Value*> slots,
                                   llvm::ArrayRef<Value*> slot_results,
                                   llvm::ArrayRef<Value*> more) {
  llvm::SmallVector<Value*> all = arguments_;
  for (unsigned d = 0; d < 3; ++d) all[first_ + env::local_id + d] = lane.local_id[d];
  all[first_ + env::lane] = lane.lane;
  llvm::append_range(all, slots);
  llvm::append_range(all, slot_results);
  llvm::append_range(all, more);
  return builder.CreateCall(function, all);
}

Value* statePlace(Builder& builder, const SplitKernel& split, RegionCaller& caller, Value* lane) {
  return split.layout.address(builder, split.state_slot, caller.hidden(env::context),
                              caller.hidden(env::lane_capacity), lane);
}

StateRange StateRange::create(Builder& builder) {
  return {builder.CreateAlloca(builder.getInt32Ty(), nullptr, "least"),
          builder.CreateAlloca(builder.getInt32Ty(), nullptr, "greatest")};
}

void StateRange::reset(Builder& builder) const {
  builder.CreateStore(builder.getInt32(~0u), least);
  builder.CreateStore(builder.getInt32(0), greatest);
}

void StateRange::include(Builder& builder, Value* low, Value* high) const {
  const auto fold = [&](llvm::AllocaInst* place, llvm::Intrinsic::ID id, Value* state) {
    Value* old = builder.CreateLoad(builder.getInt32Ty(), place);
    builder.CreateStore(builder.CreateBinaryIntrinsic(id, old, state), place);
  };
  fold(least, llvm::Intrinsic::umin, low);
  fold(greatest, llvm::Intrinsic::umax, high);
}

Value* StateRange::agree(Builder& builder) const {
  return builder.CreateICmpEQ(builder.CreateLoad(builder.getInt32Ty(), least),
                              builder.CreateLoad(builder.getInt32Ty(), greatest));
}

llvm::CallInst* emitFirstLane(const LaneRun& run) {
  Value* zero = run.builder.getInt64(0);
  const Lane lane{{zero, zero, zero}, zero};
  llvm::CallInst* call =
      run.caller.call(run.builder, run.region.function, lane, run.slots, run.slot_results);
  run.builder.CreateStore(call, run.outcome);
  return call;
}

llvm::CallInst* emitLanes(const LaneRun& run) {
  Builder& builder = run.builder;
  llvm::CallInst* call = nullptr;
  const bool may_be_vectors = run.region.goesToLoopVectoriser() && !run.split.shares_variables;
  llvm::MDNode* group = may_be_vectors ? run.region.access_group : nullptr;
  emitLaneLoops(builder, run.caller.localSize(), group, [&](const Lane& lane) {
    call = run.caller.call(builder, run.region.function, lane, run.slots, run.slot_results);
    if (run.range) {
      auto* store =
          builder.CreateStore(call, statePlace(builder, run.split, run.caller, lane.lane));
      store->setMetadata(llvm::LLVMContext::MD_access_group, run.region.access_group);
      run.range->include(builder, call);
    } else {
      builder.CreateStore(call, run.outcome);
    }
  });
  return call;
}

namespace {

// Takes the outcomes of the lanes from `lane` on; `count` of them, or all of a vector if null.
void takeOutcome(const LaneRun& run, Value* outcome, const Lane& lane, Value* count) {
  Builder& builder = run.builder;
  if (!run.range) {
    builder.CreateStore(outcome, run.outcome);
    return;
  }
  auto* type = llvm::cast<llvm::FixedVectorType>(outcome->getType());
  Value* place = statePlace(builder, run.split, run.caller, lane.lane);
  if (!count) {
    builder.CreateAlignedStore(outcome, place, llvm::Align(4));
    run.range->include(builder, builder.CreateIntMinReduce(outcome, false),
                       builder.CreateIntMaxReduce(outcome, false));
    return;
  }
  llvm::SmallVector<llvm::Constant*> steps;
  for (unsigned i = 0; i < type->getNumElements(); ++i) steps.push_back(builder.getInt64(i));
  Value* mask = builder.CreateICmpULT(llvm::ConstantVector::get(steps),
                                      builder.CreateVectorSplat(type->getNumElements(), count));
  builder.CreateMaskedStore(outcome, place, llvm::Align(4), mask);
  Value* most = llvm::Constant::getAllOnesValue(type);
  Value* least = llvm::Constant::getNullValue(type);
  run.range->include(builder,
                     builder.CreateIntMinReduce(builder.CreateSelect(mask, outcome, most), false),
                     builder.CreateIntMaxReduce(builder.CreateSelect(mask, outcome, least), false));
}

// The tail stays a function. It gets variables of its own for what the group keeps, so that the
// group's can become registers.
Value* callTail(const LaneRun& run, const Lane& lane, Value* count) {
  Builder& builder = run.builder;
  BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::SmallVector<Value*> results;
  const auto copy = [&](Value* from, Value* to) {
    llvm::Type* type = llvm::cast<llvm::AllocaInst>(to)->getAllocatedType();
    builder.CreateStore(builder.CreateLoad(type, from), to);
  };
  for (Value* result : run.slot_results) {
    llvm::Type* type = llvm::cast<llvm::AllocaInst>(result)->getAllocatedType();
    results.push_back(Builder(&entry, entry.begin()).CreateAlloca(type, nullptr, "tail.result"));
    copy(result, results.back());
  }
  Value* outcome =
      run.caller.call(builder, run.region.vector->tail, lane, run.slots, results, count);
  for (auto [result, own] : llvm::zip_equal(run.slot_results, results)) copy(own, result);
  return outcome;
}

void emitEither(Builder& builder, Value* condition, llvm::function_ref<void()> yes,
                llvm::function_ref<void()> no) {
  const auto block = [&](const char* name) {
    return BasicBlock::Create(builder.getContext(), name, builder.GetInsertBlock()->getParent());
  };
  BasicBlock *then = block("then"), *otherwise = block("otherwise"), *after = block("after");
  builder.CreateCondBr(condition, then, otherwise);
  builder.SetInsertPoint(then);
  yes();
  builder.CreateBr(after);
  builder.SetInsertPoint(otherwise);
  no();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

// The tail for all lanes of a block that have anything to do.
void callTails(const LaneRun& run, const Lane& first, unsigned rows, unsigned width,
               llvm::SmallVectorImpl<llvm::CallInst*>& calls) {
  Builder& builder = run.builder;
  const unsigned lanes = run.region.vector->rows.back().forms.back().width;
  const auto sum = [&](Value* a, Value* b) { return builder.CreateAdd(a, b, "lane", true, true); };
  emitCounted(builder, builder.getInt64(rows), "row", [&](Value* y) {
    emitCounted(builder, builder.getInt64(width / lanes), "vector", [&](Value* vector) {
      Value* x = builder.CreateMul(vector, builder.getInt64(lanes), "", true, true);
      Value* place = sum(x, builder.CreateMul(y, run.caller.localSize()[0], "", true, true));
      const Lane lane{{sum(first.local_id[0], x), sum(first.local_id[1], y), first.local_id[2]},
                      sum(first.lane, place)};
      Value* count = builder.getInt64(lanes);
      const auto call_tail = [&] { takeOutcome(run, callTail(run, lane, count), lane, count); };
      llvm::Function* wanted = run.region.vector->tail_wanted;
      if (!wanted) return call_tail();
      calls.push_back(run.caller.call(builder, wanted, lane, run.slots, run.slot_results));
      emitEither(builder, calls.back(), call_tail, [] {});
    });
  });
}

// Are there enough lanes in a row, and none on both sides of a multiple of 2^31 where that matters?
Value* suitsVectors(const LaneRun& run) {
  Builder& builder = run.builder;
  const VectorRegion& vector = *run.region.vector;
  Value* size = run.caller.hidden(env::local_size);
  Value* suits = builder.CreateICmpUGE(size, builder.getInt64(vector.least_lanes));
  constexpr uint64_t half = uint64_t{1} << 31, near = most_narrowed_offset;
  if (vector.narrows_product)
    suits = builder.CreateAnd(suits, builder.CreateICmpULE(run.caller.hidden(env::global_size),
                                                           builder.getInt64(half - near)));
  if (!vector.narrows_global_id) return suits;
  // Are the ids from `base` on in one stretch between multiples of `length`?
  const auto inOne = [&](Value* base, Value* count, uint64_t length) {
    Value* end = builder.CreateAdd(builder.CreateAnd(base, length - 1), count, "", true, true);
    return builder.CreateICmpULE(end, builder.getInt64(length));
  };
  // Up to the end of a group that runs with this one.
  Value *base = run.caller.hidden(env::global_base), *last = run.caller.hidden(env::next_base);
  Value* ids = builder.CreateAdd(builder.CreateSub(last, base), size);
  suits = builder.CreateAnd(suits, inOne(base, ids, half));
  Value* widened = builder.CreateAdd(ids, builder.getInt64(2 * near), "", true, true);
  Value* moved = builder.CreateAdd(base, builder.getInt64(half - near));
  return builder.CreateAnd(suits, inOne(moved, widened, 2 * half));
}

const VectorRows& formsOf(const VectorRegion& vector, const LaneBlock& block) {
  return *llvm::find_if(vector.rows,
                        [&](const VectorRows& rows) { return rows.rows == block.rows; });
}

void emitBlocks(const LaneRun& run, llvm::SmallVectorImpl<llvm::CallInst*>& calls) {
  const VectorRegion& vector = *run.region.vector;
  llvm::SmallVector<LaneBlock, 2> blocks;
  for (const VectorRows& rows : vector.rows) {
    blocks.push_back({rows.rows, {}});
    for (const VectorRows::Form& form : rows.forms) blocks.back().widths.push_back(form.width);
  }
  const auto call = [&](llvm::Function* function, const Lane& lane) {
    calls.push_back(run.caller.call(run.builder, function, lane, run.slots, run.slot_results));
    return calls.back();
  };
  const auto suits = [&](const Lane& first, const LaneBlock& block) -> Value* {
    llvm::Function* agreement = formsOf(vector, block).agreement;
    return agreement ? call(agreement, first) : nullptr;
  };
  const auto wanted = [&](const Lane& first) -> Value* {
    return vector.wanted ? call(vector.wanted, first) : nullptr;
  };
  const auto vectors = [&](const Lane& lane, const LaneBlock& block, unsigned width) {
    const VectorRows::Form& form = *llvm::find_if(
        formsOf(vector, block).forms, [&](const auto& each) { return each.width == width; });
    Value* suits = form.suits ? call(form.suits, lane) : nullptr;
    const auto run_whole = [&] { takeOutcome(run, call(form.function, lane), lane, nullptr); };
    if (!suits) return run_whole();
    emitEither(run.builder, suits, run_whole,
               [&] { callTails(run, lane, block.rows, width, calls); });
  };
  const auto rest = [&](const Lane& lane, Value* count) {
    takeOutcome(run, callTail(run, lane, count), lane, count);
  };
  emitVectorLoops(run.builder, run.caller.localSize(), blocks, {suits, wanted, vectors, rest});
}

}  // namespace

void emitVectorOrLanes(const LaneRun& run, llvm::SmallVectorImpl<llvm::CallInst*>& calls) {
  Builder& builder = run.builder;
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  const auto newBlock = [&](const char* name) {
    return BasicBlock::Create(builder.getContext(), name, function);
  };
  if (run.region.vector->always) return emitBlocks(run, calls);
  Value* suits = suitsVectors(run);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(suits)) {
    if (known->isOne()) return emitBlocks(run, calls);
    calls.push_back(emitLanes(run));
    return;
  }
  BasicBlock *vectors = newBlock("vectors"), *lanes = newBlock("lanes"), *done = newBlock("done");
  builder.CreateCondBr(suits, vectors, lanes);
  builder.SetInsertPoint(lanes);
  calls.push_back(emitLanes(run));
  builder.CreateBr(done);
  builder.SetInsertPoint(vectors);
  emitBlocks(run, calls);
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
}

}  // namespace weft::compiler
