#include "compiler/passes/entry.h"

#include <cstddef>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/passes/lane_loops.h"
#include "compiler/passes/region_chain.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

// Where in the context the local memory of a second group begins, for each lane of capacity: with
// 64 lanes it is aligned as local memory is.
uint64_t nextLocalMemory(const SplitKernel& split) {
  return llvm::alignTo(split.layout.bytesPerLane(), 2);
}

// The way for lanes that went apart: takes every lane through the region that it is at (where
// sub-groups meet, those that may go on), until all agree again. Returns what they agree on.
// Parameters are those of a region, with a pointer to all group slots in place of these.
class DivergentFunction {
 public:
  DivergentFunction(llvm::Module& module, const KernelBody& body, SplitKernel& split)
      : split_(split),
        slots_(frameType(split, module.getContext())),
        function_(createGroupFunction(module, body, split, body.name + ".divergent",
                                      {llvm::PointerType::get(module.getContext(), 0)})) {
    emit(body);
  }
  Function* function() const { return function_; }

 private:
  void emit(const KernelBody& body);
  Value* step(Builder& builder, RegionCaller& caller, const Lane& lane,
              llvm::ArrayRef<Value*> values, llvm::ArrayRef<Value*> results);

  SplitKernel& split_;
  llvm::StructType* slots_;
  Function* function_;
};

void DivergentFunction::emit(const KernelBody& body) {
  llvm::SmallVector<Value*> arguments;
  for (llvm::Argument& argument : function_->args()) arguments.push_back(&argument);
  Value* frame = arguments.pop_back_val();
  RegionCaller caller(body, arguments);
  Builder builder(BasicBlock::Create(function_->getContext(), "entry", function_));
  StateRange range = StateRange::create(builder);
  std::optional<LaneChoice> choice;
  if (split_.has_meetings) choice.emplace(builder, body, split_);
  BasicBlock* phase = BasicBlock::Create(function_->getContext(), "phase", function_);
  builder.CreateBr(phase);
  builder.SetInsertPoint(phase);
  range.reset(builder);
  if (choice) choice->emit(builder, caller);
  llvm::SmallVector<Value*> values, results;
  for (unsigned i = 0; i < split_.group_slots.size(); ++i) {
    results.push_back(builder.CreateStructGEP(slots_, frame, i));
    values.push_back(builder.CreateLoad(split_.group_slots[i], results.back()));
  }
  emitLaneLoops(builder, caller.localSize(), nullptr, [&](const Lane& lane) {
    range.include(builder, step(builder, caller, lane, values, results));
  });
  BasicBlock* end = BasicBlock::Create(function_->getContext(), "end", function_);
  builder.CreateCondBr(range.agree(builder), end, phase);
  builder.SetInsertPoint(end);
  emitAllActive(builder, body.sub_groups, caller);
  builder.CreateRet(builder.CreateLoad(builder.getInt32Ty(), range.least));
}

// Runs one lane to its next barrier; returns its new state.
Value* DivergentFunction::step(Builder& builder, RegionCaller& caller, const Lane& lane,
                               llvm::ArrayRef<Value*> values, llvm::ArrayRef<Value*> results) {
  Value* place = statePlace(builder, split_, caller, lane.lane);
  Value* state = builder.CreateLoad(builder.getInt32Ty(), place);
  BasicBlock* from = builder.GetInsertBlock();
  BasicBlock* join = BasicBlock::Create(builder.getContext(), "join", function_);
  Value* region =
      split_.has_meetings ? builder.CreateXor(state, uint64_t{LaneChoice::goes_on}) : state;
  llvm::SwitchInst* choice = builder.CreateSwitch(region, join, split_.done());
  llvm::SmallVector<std::pair<Value*, BasicBlock*>> next{{state, from}};
  for (unsigned k = 0; k < split_.done(); ++k) {
    BasicBlock* block = BasicBlock::Create(builder.getContext(), "region", function_);
    choice->addCase(builder.getInt32(k), block);
    builder.SetInsertPoint(block);
    Value* outcome = caller.call(builder, split_.regions[k].function, lane, values, results);
    builder.CreateStore(outcome, place);
    builder.CreateBr(join);
    next.push_back({outcome, block});
  }
  builder.SetInsertPoint(join);
  llvm::PHINode* phi = builder.CreatePHI(builder.getInt32Ty(), next.size());
  for (auto& [value, block] : next) phi->addIncoming(value, block);
  return phi;
}

class EntryEmitter {
 public:
  EntryEmitter(llvm::Module& module, const KernelBody& body, SplitKernel& split,
               llvm::StringRef symbol, size_t most_together);
  Function* emit();

 private:
  Value* field(size_t offset, llvm::Type* type);
  Value* sizes(size_t offset, unsigned dimension) {
    return field(offset + body_.axes[dimension] * sizeof(uint64_t), builder_.getInt64Ty());
  }
  Value* kernelArgument(unsigned index);
  Value* descriptor(Value* place, llvm::Type* type);
  void loadLaunch();
  void loadExtents(Value* lane_capacity);
  void loopOverGroups(llvm::function_ref<void(const std::array<Value*, 3>&)> emit_group);
  void enterGroup(const std::array<Value*, 3>& group);
  void emitGroup(RegionCaller& caller);
  void emitStretches(RegionCaller& caller);
  void callDivergent(RegionCaller& caller);
  BasicBlock* newBlock(const llvm::Twine& name) {
    return BasicBlock::Create(module_.getContext(), name, function_);
  }

  llvm::Module& module_;
  const KernelBody& body_;
  SplitKernel& split_;
  Builder builder_;
  Function* function_;
  llvm::SmallVector<Value*> arguments_;  // of region calls
  std::array<Value*, 3> begin_, end_;    // the box
  const std::vector<RegionStretch> stretches_;
  std::optional<RegionChain> chain_;
  AllocaInst* frame_ = nullptr;  // the group slots, for functions of the group
  std::optional<DivergentFunction> divergent_;
};

EntryEmitter::EntryEmitter(llvm::Module& module, const KernelBody& body, SplitKernel& split,
                           llvm::StringRef symbol, size_t most_together)
    : module_(module),
      body_(body),
      split_(split),
      builder_(module.getContext()),
      stretches_(stretchesOf(split, most_together)) {
  llvm::Type* pointer = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(),
                                       {pointer, pointer, pointer, pointer, pointer}, false);
  Function* declared = module.getFunction(symbol);  // by those who enqueue it
  function_ = Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  if (declared) {
    function_->takeName(declared);
    declared->replaceAllUsesWith(function_);
    declared->eraseFromParent();
  }
  function_->addFnAttrs(llvm::AttrBuilder(module.getContext(),
                                          split.regions[0].function->getAttributes().getFnAttrs()));
  // The kernel's own arguments lie in memory of the entry's, which has more of it: it reads the
  // box.
  function_->removeFnAttr(llvm::Attribute::Memory);
  for (unsigned i = 0; i < 5; ++i) {
    function_->addParamAttr(i, llvm::Attribute::NoAlias);
    if (i < 3) function_->addParamAttr(i, llvm::Attribute::ReadOnly);
  }
  const char* names[] = {"arguments", "record", "box", "local_memory", "context"};
  for (llvm::Argument& argument : function_->args()) argument.setName(names[argument.getArgNo()]);
}

// A field of the launch record, which nobody changes while the kernel runs.
Value* EntryEmitter::field(size_t offset, llvm::Type* type) {
  Value* place =
      builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), function_->getArg(1), offset);
  llvm::LoadInst* load = builder_.CreateLoad(type, place);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(module_.getContext(), {}));
  return load;
}

// An image's descriptor can be read whether or not a lane comes to do so: outside of all loops.
Value* EntryEmitter::descriptor(Value* place, llvm::Type* type) {
  llvm::LLVMContext& context = module_.getContext();
  const auto number = [&](uint64_t value) {
    return llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(builder_.getInt64(value)));
  };
  auto* load = llvm::cast<llvm::LoadInst>(place);
  load->setMetadata(llvm::LLVMContext::MD_dereferenceable, number(sizeof(port::ImageDescriptor)));
  load->setMetadata(llvm::LLVMContext::MD_align, number(alignof(port::ImageDescriptor)));
  return builder_.CreateAddrSpaceCast(place, type);
}

Value* EntryEmitter::kernelArgument(unsigned index) {
  Value* slot =
      builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), function_->getArg(0), index);
  Value* place = builder_.CreateLoad(builder_.getPtrTy(), slot);
  llvm::Type* type = split_.regions[0].function->getArg(index)->getType();
  switch (body_.arguments[index]) {
    case ArgumentSource::address:
      return place;
    case ArgumentSource::descriptor:
      return descriptor(place, type);
    case ArgumentSource::local_offset: {
      Value* offset = builder_.CreateLoad(builder_.getInt64Ty(), place);
      Value* address =
          builder_.CreateInBoundsGEP(builder_.getInt8Ty(), function_->getArg(3), offset);
      return builder_.CreateAddrSpaceCast(address, type);
    }
    case ArgumentSource::value:
      break;
  }
  return builder_.CreateAlignedLoad(type, place, llvm::Align(1));
}

void EntryEmitter::loadLaunch() {
  using Record = port::LaunchRecord;
  for (unsigned i = 0; i < body_.firstHidden(); ++i) arguments_.push_back(kernelArgument(i));
  arguments_.resize(body_.firstHidden() + env::count, nullptr);
  auto hidden = [&](unsigned parameter) -> Value*& {
    return arguments_[body_.firstHidden() + parameter];
  };
  hidden(env::work_dim) = field(offsetof(Record, work_dim), builder_.getInt32Ty());
  hidden(env::services) = field(offsetof(Record, services), builder_.getPtrTy());
  hidden(env::local_memory) = function_->getArg(3);
  hidden(env::context) = function_->getArg(4);
  Value* lanes = builder_.getInt64(1);
  for (unsigned d = 0; d < 3; ++d) {
    hidden(env::global_offset + d) = sizes(offsetof(Record, global_offset), d);
    hidden(env::global_size + d) = sizes(offsetof(Record, global_size), d);
    hidden(env::group_count + d) = sizes(offsetof(Record, group_count), d);
    const uint64_t known = d == 0 && body_.row_length ? body_.row_length : body_.usual_size[d];
    Value* size = known ? builder_.getInt64(known) : sizes(offsetof(Record, local_size), d);
    hidden(env::enqueued_local_size + d) = size;
    lanes = builder_.CreateMul(lanes, size, "", true, true);
    auto box = [&](size_t offset) {
      Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), function_->getArg(2),
                                                         offset + body_.axes[d] * sizeof(uint64_t));
      return builder_.CreateLoad(builder_.getInt64Ty(), place);
    };
    begin_[d] = box(offsetof(port::GroupBox, begin));
    end_[d] = box(offsetof(port::GroupBox, end));
  }
  lanes = builder_.CreateAdd(lanes, builder_.getInt64(lane_capacity_multiple - 1), "", true, true);
  hidden(env::lane_capacity) = builder_.CreateAnd(lanes, ~(lane_capacity_multiple - 1));
  loadExtents(hidden(env::lane_capacity));
  for (unsigned d = 0; d < 3; ++d) hidden(env::local_id + d) = builder_.getInt64(0);
  hidden(env::lane) = builder_.getInt64(0);
}

// Where the kernel's memory ends.
void EntryEmitter::loadExtents(Value* lane_capacity) {
  Value** hidden = &arguments_[body_.firstHidden()];
  hidden[env::local_bytes] =
      builder_.CreateZExt(field(offsetof(port::LaunchRecord, local_bytes), builder_.getInt32Ty()),
                          builder_.getInt64Ty());
  hidden[env::context_bytes] = builder_.CreateMul(
      lane_capacity, builder_.getInt64(split_.layout.bytesPerLane()), "", true, true);
  hidden[env::next_local_memory] = builder_.CreateInBoundsGEP(
      builder_.getInt8Ty(), hidden[env::context],
      builder_.CreateMul(lane_capacity, builder_.getInt64(nextLocalMemory(split_)), "", true,
                         true));
  hidden[env::frame] = builder_.CreateIntrinsic(llvm::Intrinsic::frameaddress,
                                                {builder_.getPtrTy()}, {builder_.getInt32(0)});
}

Function* EntryEmitter::emit() {
  builder_.SetInsertPoint(newBlock("entry"));
  chain_.emplace(builder_, split_);
  if (split_.keeps_state) divergent_.emplace(module_, body_, split_);
  if (split_.keeps_state || stretches_.size() > 1)
    frame_ = builder_.CreateAlloca(frameType(split_, module_.getContext()), nullptr, "frame");
  loadLaunch();

  loopOverGroups([&](const std::array<Value*, 3>& group) { enterGroup(group); });
  builder_.CreateRetVoid();
  return function_;
}

void EntryEmitter::loopOverGroups(
    llvm::function_ref<void(const std::array<Value*, 3>&)> emit_group) {
  // Outermost first. Joint groups share what does not depend on dimension 0; the groups that follow
  // them in dimension 1 find what does in the cache.
  const std::array<unsigned, 3> order =
      body_.groups == 1 ? std::array{2u, 1u, 0u} : std::array{2u, 0u, 1u};
  std::array<llvm::PHINode*, 3> counters;
  std::array<Value*, 3> group;
  BasicBlock* const exit = newBlock("exit");
  for (const unsigned d : order) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock *header = newBlock("groups"), *inside = newBlock("inside");
    builder_.CreateBr(header);
    builder_.SetInsertPoint(header);
    group[d] = counters[d] = builder_.CreatePHI(builder_.getInt64Ty(), 2, "group");
    counters[d]->addIncoming(begin_[d], before);
    builder_.CreateCondBr(builder_.CreateICmpULT(group[d], end_[d]), inside, exit);
    builder_.SetInsertPoint(inside);
  }
  emit_group(group);
  for (const unsigned d : llvm::reverse(order)) {
    // Here a loop's body is complete: step, and go on behind the loop.
    Value* step = builder_.getInt64(d == 0 ? body_.groups : 1);
    counters[d]->addIncoming(builder_.CreateAdd(group[d], step, "", true, true),
                             builder_.GetInsertBlock());
    builder_.CreateBr(counters[d]->getParent())
        ->setMetadata(llvm::LLVMContext::MD_loop, rolledLoop(builder_.getContext()));
    BasicBlock* after = d == order.front() ? exit : newBlock("after");
    llvm::cast<llvm::BranchInst>(counters[d]->getParent()->getTerminator())->setSuccessor(1, after);
    builder_.SetInsertPoint(after);
  }
}

void EntryEmitter::enterGroup(const std::array<Value*, 3>& group) {
  RegionCaller caller(body_, arguments_);
  for (unsigned d = 0; d < 3; ++d) {
    Value* enqueued = caller.hidden(env::enqueued_local_size + d);
    Value* first = builder_.CreateMul(group[d], enqueued, "", true, true);
    Value* rest = builder_.CreateSub(caller.hidden(env::global_size + d), first, "", true, true);
    caller.hidden(env::group_id + d) = group[d];
    caller.hidden(env::global_base + d) =
        builder_.CreateAdd(caller.hidden(env::global_offset + d), first, "", true, true);
    caller.hidden(env::local_size + d) =
        (d == 0 && body_.groups > 1) || (body_.has_uniform_groups && body_.usual_size[d])
            ? enqueued
            : builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, enqueued, rest);
  }
  Value* base = caller.hidden(env::global_base);
  caller.hidden(env::next_base) =
      body_.groups == 1
          ? base
          : builder_.CreateAdd(base, caller.hidden(env::enqueued_local_size), "", true, true);
  emitAllActive(builder_, body_.sub_groups, caller);
  emitGroup(caller);
}

void EntryEmitter::emitGroup(RegionCaller& caller) {
  for (unsigned k = 0; k < split_.done(); ++k) chain_->targets.push_back(newBlock("region"));
  chain_->targets.push_back(newBlock("group.end"));
  if (split_.keeps_state) chain_->targets.push_back(newBlock("apart"));
  builder_.CreateBr(chain_->targets[0]);
  if (stretches_.size() > 1) {
    emitStretches(caller);
  } else {
    for (unsigned k = 0; k < split_.done(); ++k) chain_->emitRegion(caller, k);
  }
  if (split_.keeps_state) {
    builder_.SetInsertPoint(chain_->targets[split_.apart()]);
    callDivergent(caller);
  }
  builder_.SetInsertPoint(chain_->targets[split_.done()]);
}

// Each stretch of regions is a call, and the frame has the group slots.
void EntryEmitter::emitStretches(RegionCaller& caller) {
  const unsigned states = split_.done() + (split_.keeps_state ? 2 : 1);
  for (const RegionStretch& stretch : stretches_) {
    Function* function = emitStretch(module_, body_, split_, stretch);
    BasicBlock* block = newBlock("stretch");
    Builder builder(block);
    llvm::PHINode* state = builder.CreatePHI(builder.getInt32Ty(), stretch.end - stretch.first);
    for (unsigned k = stretch.first; k < stretch.end; ++k) {
      builder_.SetInsertPoint(chain_->targets[k]);
      builder_.CreateBr(block);
      state->addIncoming(builder.getInt32(k), chain_->targets[k]);
    }
    llvm::SmallVector<Value*> arguments = caller.arguments();
    arguments.append({frame_, state});
    builder_.SetInsertPoint(block);
    chain_->switchTo(builder_.CreateCall(function, arguments),
                     llvm::to_vector(llvm::seq(0u, states)));
  }
  // They are called once more, by the divergent function, and would make one function of it.
  if (split_.keeps_state)
    for (Region& region : split_.regions) region.function->addFnAttr(llvm::Attribute::NoInline);
}

void EntryEmitter::callDivergent(RegionCaller& caller) {
  const bool has_slots = stretches_.size() == 1;  // outside of the frame
  if (has_slots) chain_->store(frame_);
  llvm::SmallVector<Value*> arguments = caller.arguments();
  arguments.push_back(frame_);
  Value* state = builder_.CreateCall(divergent_->function(), arguments);
  if (has_slots) chain_->load(frame_);
  chain_->switchTo(state, llvm::to_vector(llvm::seq(0u, split_.done() + 1)));
}

}  // namespace

Function* emitEntry(llvm::Module& module, const KernelBody& body, SplitKernel& split,
                    llvm::StringRef symbol, size_t most_together) {
  return EntryEmitter(module, body, split, symbol, most_together).emit();
}

uint64_t contextBytesPerLane(const KernelBody& body, const SplitKernel& split) {
  if (body.next_local_bytes == 0) return split.layout.bytesPerLane();
  return nextLocalMemory(split) + llvm::divideCeil(body.next_local_bytes, lane_capacity_multiple);
}

}  // namespace weft::compiler
