#include "compiler/passes/region_chain.h"

#include <numeric>

#include <llvm/ADT/BitVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace weft::compiler {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

RegionChain::RegionChain(Builder& builder, SplitKernel& split)
    : builder_(builder),
      split_(split),
      outcome_(builder.CreateAlloca(builder.getInt32Ty(), nullptr, "outcome")) {
  if (split.keeps_state) range_ = StateRange::create(builder);
  for (llvm::Type* type : split.group_slots) {
    slots_.push_back(builder.CreateAlloca(type, nullptr, "slot"));
    slot_results_.push_back(builder.CreateAlloca(type, nullptr, "result"));
  }
}

void RegionChain::emitRegion(RegionCaller& caller, unsigned index) {
  builder_.SetInsertPoint(targets[index]);
  Region& region = split_.regions[index];
  llvm::SmallVector<Value*> values;
  for (unsigned i = 0; i < slots_.size(); ++i) {
    values.push_back(builder_.CreateLoad(split_.group_slots[i], slots_[i]));
    builder_.CreateStore(values.back(), slot_results_[i]);
  }
  const bool save_state = region.outcomes.size() > 1 && !region.uniform_outcome;
  if (save_state) range_.reset(builder_);
  const LaneRun run{
      builder_, split_, caller, region, values, slot_results_, save_state ? &range_ : nullptr,
      outcome_};
  llvm::SmallVector<llvm::CallInst*> calls;
  if (region.for_all_lanes) {
    calls.push_back(emitFirstLane(run));
  } else if (region.vector) {
    emitVectorOrLanes(run, calls);
  } else {
    calls.push_back(emitLanes(run));
  }
  for (unsigned i = 0; i < slots_.size(); ++i)
    builder_.CreateStore(builder_.CreateLoad(split_.group_slots[i], slot_results_[i]), slots_[i]);
  if (region.outcomes.empty()) {
    builder_.CreateUnreachable();  // no lane ever leaves
  } else if (save_state) {
    BasicBlock* together = BasicBlock::Create(builder_.getContext(), "together",
                                              builder_.GetInsertBlock()->getParent());
    builder_.CreateCondBr(range_.agree(builder_), together, targets[split_.apart()]);
    builder_.SetInsertPoint(together);
    switchTo(builder_.CreateLoad(builder_.getInt32Ty(), range_.least), region.outcomes);
  } else {
    switchTo(builder_.CreateLoad(builder_.getInt32Ty(), outcome_), region.outcomes);
  }
  for (llvm::CallInst* call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info);
  }
}

void RegionChain::switchTo(Value* state, llvm::ArrayRef<unsigned> outcomes) {
  if (outcomes.empty()) {
    builder_.CreateUnreachable();
    return;
  }
  if (outcomes.size() == 1) {
    builder_.CreateBr(targets[outcomes[0]]);
    return;
  }
  llvm::SwitchInst* choice =
      builder_.CreateSwitch(state, targets[outcomes.back()], outcomes.size());
  for (unsigned outcome : outcomes.drop_back())
    choice->addCase(builder_.getInt32(outcome), targets[outcome]);
}

void RegionChain::load(Value* frame) {
  llvm::StructType* type = frameType(split_, builder_.getContext());
  for (unsigned i = 0; i < slots_.size(); ++i)
    builder_.CreateStore(
        builder_.CreateLoad(split_.group_slots[i], builder_.CreateStructGEP(type, frame, i)),
        slots_[i]);
}

void RegionChain::store(Value* frame) {
  llvm::StructType* type = frameType(split_, builder_.getContext());
  for (unsigned i = 0; i < slots_.size(); ++i)
    builder_.CreateStore(builder_.CreateLoad(split_.group_slots[i], slots_[i]),
                         builder_.CreateStructGEP(type, frame, i));
}

Function* createGroupFunction(llvm::Module& module, const KernelBody& body,
                              const SplitKernel& split, const llvm::Twine& name,
                              llvm::ArrayRef<llvm::Type*> more) {
  const Function* region = split.regions[0].function;
  llvm::SmallVector<llvm::Type*> types(
      region->getFunctionType()->params().take_front(body.firstHidden() + env::count));
  llvm::append_range(types, more);
  Function* function = Function::Create(
      llvm::FunctionType::get(llvm::Type::getInt32Ty(module.getContext()), types, false),
      llvm::GlobalValue::InternalLinkage, name, module);
  function->setAttributes(region->getAttributes());
  function->addFnAttr(llvm::Attribute::NoInline);
  function->removeFnAttr(llvm::Attribute::Memory);  // it has more of it: the frame
  return function;
}

namespace {

size_t instructionsOf(const Region& region) {
  const auto count = [](const Function* function) -> size_t {
    return function ? function->getInstructionCount() : 0;
  };
  size_t result = count(region.function);
  if (!region.vector) return result;
  for (const VectorRows& rows : region.vector->rows) {
    result += count(rows.agreement);
    for (const VectorRows::Form& form : rows.forms)
      result += count(form.function) + count(form.suits);
  }
  return result;
}

// The regions of a stretch that are entered from outside of it.
llvm::SmallVector<unsigned> entriesOf(const SplitKernel& split, const RegionStretch& stretch) {
  llvm::BitVector entered(split.done() + 1, split.keeps_state);
  entered.set(0);
  for (unsigned k = 0; k < split.done(); ++k)
    if (k < stretch.first || k >= stretch.end)
      for (const unsigned outcome : split.regions[k].outcomes) entered.set(outcome);
  llvm::SmallVector<unsigned> result;
  for (unsigned k = stretch.first; k < stretch.end; ++k)
    if (entered.test(k)) result.push_back(k);
  return result;
}

}  // namespace

std::vector<RegionStretch> stretchesOf(const SplitKernel& split, size_t most_together) {
  llvm::SmallVector<size_t> sizes;
  for (const Region& region : split.regions) sizes.push_back(instructionsOf(region));
  if (std::accumulate(sizes.begin(), sizes.end(), size_t{0}) <= most_together)
    return {{0, split.done()}};
  std::vector<RegionStretch> result;
  size_t size = 0;
  for (unsigned k = 0; k < split.done(); ++k) {
    size += sizes[k];
    if (result.empty() || size > most_together / 2) {
      result.push_back({k, k});
      size = sizes[k];
    }
    result.back().end = k + 1;
  }
  return result;
}

Function* emitStretch(llvm::Module& module, const KernelBody& body, SplitKernel& split,
                      const RegionStretch& stretch) {
  llvm::LLVMContext& context = module.getContext();
  Function* function =
      createGroupFunction(module, body, split, body.name + ".regions",
                          {llvm::PointerType::get(context, 0), llvm::Type::getInt32Ty(context)});
  llvm::SmallVector<Value*> arguments;
  for (llvm::Argument& argument : function->args()) arguments.push_back(&argument);
  Value *state = arguments.pop_back_val(), *frame = arguments.pop_back_val();
  RegionCaller caller(body, arguments);
  const auto newBlock = [&](const char* name) {
    return BasicBlock::Create(context, name, function);
  };
  Builder builder(newBlock("entry"));
  RegionChain chain(builder, split);
  chain.load(frame);
  Builder leaving(newBlock("leave"));
  llvm::PHINode* left = leaving.CreatePHI(builder.getInt32Ty(), split.done());
  for (unsigned k = 0; k <= split.apart(); ++k) {
    const bool inside = k >= stretch.first && k < stretch.end;
    chain.targets.push_back(newBlock(inside ? "region" : "to"));
    if (inside) continue;
    llvm::BranchInst::Create(left->getParent(), chain.targets.back());
    left->addIncoming(builder.getInt32(k), chain.targets.back());
  }
  chain.switchTo(state, entriesOf(split, stretch));
  for (unsigned k = stretch.first; k < stretch.end; ++k) chain.emitRegion(caller, k);
  builder.SetInsertPoint(left->getParent());
  chain.store(frame);
  builder.CreateRet(left);
  llvm::EliminateUnreachableBlocks(*function);
  return function;
}

}  // namespace weft::compiler
