#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include "compiler/builtins/number_parts.h"
#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {

using llvm::BasicBlock;
using llvm::BitVector;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

namespace {

constexpr unsigned short_block = 8;  // instructions worth less than a branch around them

llvm::AllocaInst* variable(BasicBlock* entry, llvm::Type* type, const llvm::Twine& name) {
  llvm::IRBuilder<> builder(entry, entry->begin());
  return builder.CreateAlloca(type, nullptr, name);
}

// May nobody run this for no lane?
bool needsLanes(const Instruction& instruction, const LaneShapes& shapes) {
  if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction))
    return branch->isConditional() && shapes.isUniform(branch->getCondition());
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return shapes.isUniform(store->getPointerOperand());
  if (instruction.mayHaveSideEffects()) return true;
  if (instruction.getType()->isVoidTy()) return false;
  switch (instruction.getOpcode()) {
    case Instruction::Load:
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
      return shapes.isUniform(&instruction);
    default:
      return false;
  }
}

bool isExpensive(const Instruction& instruction, const LaneShapes& shapes) {
  if (llvm::isa<llvm::CallBase>(instruction))
    return !llvm::isa<llvm::IntrinsicInst>(instruction) && !calledNumberPart(instruction) &&
           !laneMark(instruction) && !exchangeOf(instruction);
  if (const Value* pointer = llvm::getLoadStorePointerOperand(&instruction))
    return shapes.isVarying(pointer);
  return instruction.isIntDivRem() || instruction.isAtomic();
}

}  // namespace

VectorBody::VectorBody(llvm::Function& lane, const LaneParameters& parameters,
                       ControlLevels& levels, const LaneShapes& shapes,
                       const VectorOptions& options)
    : lane_(lane),
      parameters_(parameters),
      levels_(levels),
      shapes_(shapes),
      options_(options),
      builder_(lane.getContext()) {}

llvm::Function* VectorBody::emit() {
  llvm::SmallVector<llvm::Type*> types(lane_.getFunctionType()->params());
  if (!options_.whole) types.push_back(builder_.getInt64Ty());
  llvm::Type* result = lane_.getReturnType();
  if (options_.outcome_per_lane) result = vectorOf(result);
  function_ = llvm::Function::Create(
      llvm::FunctionType::get(result, types, false), llvm::GlobalValue::InternalLinkage,
      lane_.getName() + (options_.whole ? ".simd" : ".simd.tail"), lane_.getParent());
  function_->setAttributes(lane_.getAttributes());
  for (llvm::Argument& argument : lane_.args())
    function_->getArg(argument.getArgNo())->setName(argument.getName());
  entry_ = BasicBlock::Create(lane_.getContext(), "entry", function_);
  builder_.SetInsertPoint(entry_);
  if (!options_.whole) {
    Value* count = function_->getArg(function_->arg_size() - 1);
    entry_mask_ = builder_.CreateICmpULT(iota(builder_.getInt64Ty(), 1),
                                         builder_.CreateVectorSplat(options_.width, count));
  }
  createBlocks();
  builder_.CreateBr(states_[&levels_.top()].nodes[0].entry);
  states_[&levels_.top()].mask = entry_mask_;
  emitLevel(levels_.top());
  llvm::DominatorTree tree(*function_);
  llvm::PromoteMemToReg(variables_, tree);
  keepUpdatesFew(tree);
  repairDominance();
  return function_;
}

Value* VectorBody::allLanes() { return llvm::ConstantInt::getTrue(vectorOf(builder_.getInt1Ty())); }

// Never the value of `condition` for a lane that is not in the mask: it may be poison there.
Value* VectorBody::both(Value* mask, Value* condition) {
  if (!mask) return condition;
  return builder_.CreateSelect(mask, condition, llvm::Constant::getNullValue(condition->getType()));
}

Value* VectorBody::anyOf(Value* mask) {
  llvm::Type* bits = builder_.getIntNTy(options_.width);
  return builder_.CreateIsNotNull(builder_.CreateBitCast(mask, bits));
}

bool VectorBody::blends(const BasicBlock* block) const {
  const Level& level = levels_.levelOf(block);
  if (level.loop && level.loop->getHeader() == block) return false;
  return levels_.joins(block) || (levels_.isMasked(block) && !block->getSinglePredecessor());
}

void VectorBody::createBlocks() {
  for (Level* level : levels_.levels()) {
    LevelState& state = states_[level];
    state.nodes.resize(level->nodes.size());
    for (unsigned i = 0; i < level->nodes.size(); ++i) {
      state.nodes[i].deferred.resize(level->nodes.size());
      if (!level->nodes[i].loop)
        state.nodes[i].entry =
            BasicBlock::Create(lane_.getContext(), level->nodes[i].block->getName(), function_);
    }
    createVariables(*level);
  }
  for (Level* level : levels_.levels())
    for (unsigned i = 0; i < level->nodes.size(); ++i)
      if (Level* inner = level->nodes[i].loop)
        states_[level].nodes[i].entry = states_[inner].nodes[0].entry;
}

void VectorBody::createVariables(Level& level) {
  LevelState& state = states_[&level];
  llvm::Type* mask = vectorOf(builder_.getInt1Ty());
  if (level.divergent) variables_.push_back(state.live = variable(entry_, mask, "live"));
  for (unsigned i = 0; i < level.nodes.size(); ++i) {
    const LevelNode& node = level.nodes[i];
    if (node.loop) continue;
    if (node.masked && node.mask_of == i)
      variables_.push_back(state.nodes[i].mask = variable(entry_, mask, "mask"));
    for (PHINode& phi : node.block->phis()) {
      const bool varying = shapes_.isVarying(&phi);
      for (unsigned part = 0; part < (varying ? partCount(phi.getType()) : 1); ++part) {
        llvm::Type* type = varying ? vectorOf(partType(phi.getType(), part)) : phi.getType();
        phis_[&phi].push_back(variable(entry_, type, "phi"));
        variables_.push_back(phis_[&phi].back());
      }
    }
  }
}

void VectorBody::emitLevel(Level& level) {
  for (unsigned i = 0; i < level.nodes.size(); ++i) {
    Level* inner = level.nodes[i].loop;
    if (!inner) {
      emitBlock(level, i);
      continue;
    }
    BasicBlock* preheader = inner->loop->getLoopPreheader();
    states_[inner].mask = states_[&level].nodes[levels_.indexOf(preheader)].value;
    emitLevel(*inner);
    if (!inner->divergent) continue;  // its exits are branches
    BitVector waiting = states_[&level].nodes[i].deferred;
    for (unsigned next : level.nodes[i].successors) waiting.set(next);
    builder_.CreateBr(route(level, std::move(waiting)));
  }
}

Value* VectorBody::maskOf(Level& level, unsigned index) {
  LevelState& state = states_[&level];
  const LevelNode& node = level.nodes[index];
  if (node.masked && level.nodes[node.mask_of].masked) {
    llvm::AllocaInst* place = state.nodes[node.mask_of].mask;
    return builder_.CreateLoad(place->getAllocatedType(), place);
  }
  if (level.divergent && index == 0)
    state.mask = builder_.CreateLoad(state.live->getAllocatedType(), state.live);
  return state.mask;
}

// Of the waiting nodes the first is next, and the others wait for it.
BasicBlock* VectorBody::route(Level& level, BitVector waiting) {
  LevelState& state = states_[&level];
  const auto next = static_cast<unsigned>(waiting.find_first());
  waiting.reset(next);
  state.nodes[next].deferred |= waiting;
  return state.nodes[next].entry;
}

void VectorBody::emitBlock(Level& level, unsigned index) {
  BasicBlock* block = level.nodes[index].block;
  NodeState& node = states_[&level].nodes[index];
  builder_.SetInsertPoint(node.entry);
  node.value = mask_ = maskOf(level, index);
  node.nonempty = !mayBeEmpty(level, index);
  if (isGuarded(level, index)) guard(level, index);
  if (node.known && node.nonempty) node.value = mask_ = node.known;
  for (PHINode& phi : block->phis()) {
    Parts loaded;
    for (llvm::AllocaInst* place : phis_[&phi])
      loaded.push_back(builder_.CreateLoad(place->getAllocatedType(), place));
    if (shapes_.isVarying(&phi))
      setParts(phi, loaded);
    else
      setScalar(phi, loaded.front());
  }
  if (index == 0) resetLevel(level);
  for (Instruction& instruction : *block) {
    if (llvm::isa<PHINode>(instruction) || instruction.isTerminator()) continue;
    builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
    emit(instruction);
  }
  emitTerminator(level, index);
}

// Each turn of a level begins with nobody in its masks.
void VectorBody::resetLevel(Level& level) {
  LevelState& state = states_[&level];
  for (unsigned i = 0; i < level.nodes.size(); ++i) {
    if (state.nodes[i].mask)
      builder_.CreateStore(llvm::Constant::getNullValue(state.nodes[i].mask->getAllocatedType()),
                           state.nodes[i].mask);
    if (level.nodes[i].loop || !blends(level.nodes[i].block)) continue;
    for (PHINode& phi : level.nodes[i].block->phis())
      for (llvm::AllocaInst* place : phis_[&phi])
        builder_.CreateStore(llvm::PoisonValue::get(place->getAllocatedType()), place);
  }
}

// If nobody waits for later nodes, all who are left are here. All may have left a loop.
bool VectorBody::mayBeEmpty(const Level& level, unsigned index) const {
  if (!level.nodes[index].masked) return false;
  return level.divergent || states_.find(&level)->second.nodes[index].deferred.any();
}

bool VectorBody::isGuarded(const Level& level, unsigned index) const {
  if (!mayBeEmpty(level, index)) return false;
  const LevelNode& node = level.nodes[index];
  for (unsigned next : node.successors)
    if (level.nodes[next].loop) return true;
  if (node.block->size() > short_block) return true;
  return llvm::any_of(*node.block, [&](const Instruction& instruction) {
    return needsLanes(instruction, shapes_) || isExpensive(instruction, shapes_);
  });
}

// Goes past the block when no lane is in its mask.
void VectorBody::guard(Level& level, unsigned index) {
  NodeState& node = states_[&level].nodes[index];
  BasicBlock* inside = BasicBlock::Create(lane_.getContext(), "inside", function_);
  Value* any = anyOf(mask_);
  BasicBlock* past = node.deferred.none() ? afterLoop(level) : route(level, node.deferred);
  builder_.CreateCondBr(any, inside, past);
  builder_.SetInsertPoint(inside);
  node.nonempty = true;
}

void VectorBody::emitTerminator(Level& level, unsigned index) {
  BasicBlock* block = level.nodes[index].block;
  builder_.SetCurrentDebugLocation(block->getTerminator()->getDebugLoc());
  if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator())) return emitReturn(*end);
  auto& branch = *llvm::cast<llvm::BranchInst>(block->getTerminator());
  const bool one_way = branch.isUnconditional() || branch.getSuccessor(0) == branch.getSuccessor(1);
  BasicBlock* header = level.loop ? level.loop->getHeader() : nullptr;
  if (one_way) {
    BasicBlock* next = branch.getSuccessor(0);
    takeEdge(block, next, mask_);
    if (level.divergent && next == header) return closeLoop(level, mask_);
    builder_.CreateBr(target(block, next))->copyMetadata(branch, {llvm::LLVMContext::MD_loop});
    return;
  }
  const bool latch = header && llvm::is_contained(branch.successors(), header);
  if (levels_.parts(block, [&](const BasicBlock* b) { return shapes_.varies(b); }) ||
      (level.divergent && latch))
    return partLanes(level, index, branch);
  BasicBlock* ways[2];
  Value* condition = scalar(branch.getCondition());
  BasicBlock* here = builder_.GetInsertBlock();
  for (unsigned i = 0; i < 2; ++i) {
    ways[i] = BasicBlock::Create(lane_.getContext(), "edge", function_);
    builder_.SetInsertPoint(ways[i]);
    takeEdge(block, branch.getSuccessor(i), mask_);
    builder_.CreateBr(target(block, branch.getSuccessor(i)));
  }
  builder_.SetInsertPoint(here);
  llvm::BranchInst* copy = builder_.CreateCondBr(condition, ways[0], ways[1]);
  copy->copyMetadata(branch, {llvm::LLVMContext::MD_prof});
  if (latch)  // the loop's properties belong to the branch that goes back
    for (BasicBlock* way : ways)
      if (auto* back = way->getTerminator();
          back->getSuccessor(0) == states_[&level].nodes[0].entry)
        back->copyMetadata(branch, {llvm::LLVMContext::MD_loop});
}

// Where a branch that all lanes take leads to.
BasicBlock* VectorBody::target(BasicBlock* from, BasicBlock* to) {
  Level& level = levels_.levelOf(to);
  LevelState& state = states_[&level];
  const unsigned index = levels_.indexOf(to);
  if (level.loop && index == 0) {
    if (level.loop->contains(from)) return state.nodes[0].entry;
    // Into the loop from its preheader: what waits there waits for the loop.
    Level& outer = *level.parent;
    BitVector waiting = states_[&outer].nodes[levels_.indexOf(from)].deferred;
    waiting.set(level.place);
    return route(outer, std::move(waiting));
  }
  BitVector waiting = state.nodes[levels_.nodeIn(level, from)].deferred;
  waiting.set(index);
  return route(level, std::move(waiting));
}

void VectorBody::partLanes(Level& level, unsigned index, llvm::BranchInst& branch) {
  BasicBlock* block = level.nodes[index].block;
  Value* condition = wide(branch.getCondition());
  Value* masks[2] = {both(mask_, condition), both(mask_, builder_.CreateNot(condition))};
  Value* live = nullptr;
  for (unsigned i = 0; i < 2; ++i) {
    takeEdge(block, branch.getSuccessor(i), masks[i]);
    if (level.loop && branch.getSuccessor(i) == level.loop->getHeader()) live = masks[i];
  }
  if (live) return closeLoop(level, live);
  BitVector waiting = states_[&level].nodes[index].deferred;
  for (unsigned next : level.nodes[index].successors) waiting.set(next);
  builder_.CreateBr(route(level, std::move(waiting)));
}

BasicBlock* VectorBody::afterLoop(Level& level) {
  BasicBlock*& after = states_[&level].after;
  if (!after) after = BasicBlock::Create(lane_.getContext(), "after", function_);
  return after;
}

void VectorBody::closeLoop(Level& level, Value* live) {
  BasicBlock* after = afterLoop(level);
  BasicBlock* header = states_[&level].nodes[0].entry;
  if (live)
    builder_.CreateCondBr(anyOf(live), header, after);
  else
    builder_.CreateBr(header);
  builder_.SetInsertPoint(after);
}

// What happens on the way from block to block for the lanes of `mask`.
void VectorBody::takeEdge(BasicBlock* from, BasicBlock* to, Value* mask) {
  Level& level = levels_.levelOf(to);
  LevelState& state = states_[&level];
  const unsigned index = levels_.indexOf(to);
  if (level.divergent && index == 0) {
    builder_.CreateStore(mask ? mask : allLanes(), state.live);
  } else if (llvm::AllocaInst* place = state.nodes[index].mask) {
    if (to->getSinglePredecessor())
      state.nodes[index].known = llvm::dyn_cast_or_null<llvm::Constant>(mask);
    Value* old = builder_.CreateLoad(place->getAllocatedType(), place);
    builder_.CreateStore(builder_.CreateOr(old, mask ? mask : allLanes()), place);
  }
  for (PHINode& phi : to->phis()) assignPhi(phi, from, mask);
}

void VectorBody::assignPhi(PHINode& phi, BasicBlock* from, Value* mask) {
  Value* incoming = phi.getIncomingValueForBlock(from);
  const Phis& places = phis_[&phi];
  const bool blend = mask && blends(phi.getParent());
  if (!shapes_.isVarying(&phi)) {
    Value* value = scalar(incoming);
    const NodeState& source = states_[&levels_.levelOf(from)].nodes[levels_.indexOf(from)];
    if (blend && !source.nonempty) {
      Value* old = builder_.CreateLoad(value->getType(), places.front());
      value = builder_.CreateSelect(anyOf(mask), value, old);
    }
    builder_.CreateStore(value, places.front());
    return;
  }
  Parts values = parts(incoming);
  for (unsigned i = 0; i < values.size(); ++i) {
    if (blend) {
      Value* old = builder_.CreateLoad(values[i]->getType(), places[i]);
      values[i] = builder_.CreateSelect(mask, values[i], old);
    }
    builder_.CreateStore(values[i], places[i]);
  }
}

void VectorBody::emitReturn(llvm::ReturnInst& end) {
  Value* value = end.getReturnValue();
  if (options_.outcome_per_lane)
    builder_.CreateRet(wide(value));
  else if (shapes_.isVarying(value))
    builder_.CreateRet(builder_.CreateExtractElement(wide(value), uint64_t{0}));
  else
    builder_.CreateRet(scalar(value));
}

// A way past a block leads to blocks that use what is computed there, for no lane.
void VectorBody::repairDominance() {
  llvm::DominatorTree tree(*function_);
  llvm::SmallVector<llvm::Use*> broken;
  for (BasicBlock& block : *function_) {
    if (!tree.isReachableFromEntry(&block)) continue;
    for (Instruction& instruction : block) {
      broken.clear();
      for (llvm::Use& use : instruction.uses()) {
        auto* user = llvm::cast<Instruction>(use.getUser());
        if (user->getParent() == &block && !llvm::isa<PHINode>(user)) continue;
        if (!tree.dominates(&instruction, use)) broken.push_back(&use);
      }
      if (broken.empty()) continue;
      llvm::SSAUpdater updater;
      updater.Initialize(instruction.getType(), instruction.getName());
      updater.AddAvailableValue(&block, &instruction);
      for (llvm::Use* use : broken) updater.RewriteUse(*use);
    }
  }
}

}  // namespace weft::compiler
