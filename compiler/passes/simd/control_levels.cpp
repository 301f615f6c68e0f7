#include "compiler/passes/simd/control_levels.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

constexpr size_t most_blocks = 600;

bool isIrreducible(llvm::Function& function, llvm::LoopInfo& loops) {
  // In reducible control flow every edge back in a depth-first walk goes to a loop's header.
  enum : uint8_t { open = 1, closed = 2 };
  llvm::DenseMap<const BasicBlock*, uint8_t> state;
  llvm::SmallVector<std::pair<BasicBlock*, unsigned>> stack{{&function.getEntryBlock(), 0}};
  state[&function.getEntryBlock()] = open;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == block->getTerminator()->getNumSuccessors()) {
      state[block] = closed;
      stack.pop_back();
      continue;
    }
    BasicBlock* successor = block->getTerminator()->getSuccessor(next++);
    uint8_t& seen = state[successor];
    if (seen == open) {
      Loop* loop = loops.getLoopFor(successor);
      if (!loop || loop->getHeader() != successor || !loop->contains(block)) return true;
    } else if (seen == 0) {
      seen = open;
      stack.push_back({successor, 0});
    }
  }
  return false;
}

bool hasSimpleShape(llvm::Function& function, llvm::LoopInfo& loops) {
  unsigned returns = 0;
  if (function.size() > most_blocks) return false;
  for (BasicBlock& block : function) {
    const bool ends = llvm::isa<llvm::ReturnInst>(block.getTerminator());
    if (!ends && !llvm::isa<llvm::BranchInst>(block.getTerminator())) return false;
    returns += ends;
  }
  if (returns != 1) return false;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isLoopSimplifyForm() || loop->hasNoExitBlocks()) return false;
  }
  return !isIrreducible(function, loops);
}

}  // namespace

ControlLevels::ControlLevels(llvm::Function& function, llvm::LoopInfo& loops)
    : function_(function), loops_(loops) {
  valid_ = hasSimpleShape(function, loops);
  if (!valid_) return;
  levels_.push_back(std::make_unique<Level>());
  build(*levels_.front());
}

// Nodes in reverse post-order, inner loops as one node each.
void ControlLevels::build(Level& level) {
  BasicBlock* first = level.loop ? level.loop->getHeader() : &function_.getEntryBlock();
  struct Visit {
    BasicBlock* block;
    Loop* inner;
    llvm::SmallVector<BasicBlock*> next;
  };
  auto innerLoop = [&](BasicBlock* block) -> Loop* {
    Loop* loop = loops_.getLoopFor(block);
    if (loop == level.loop) return nullptr;
    while (loop->getParentLoop() != level.loop) loop = loop->getParentLoop();
    return loop;
  };
  auto enter = [&](BasicBlock* block) {
    Visit visit{block, innerLoop(block), {}};
    llvm::SmallVector<BasicBlock*> targets;
    if (visit.inner)
      visit.inner->getUniqueExitBlocks(targets);
    else
      llvm::append_range(targets, llvm::successors(block));
    for (BasicBlock* target : targets)
      if (target != first && (!level.loop || level.loop->contains(target)))
        visit.next.push_back(target);
    return visit;
  };
  llvm::SmallPtrSet<BasicBlock*, 16> seen{first};
  llvm::SmallVector<Visit> stack{enter(first)};
  std::vector<LevelNode> reversed;
  while (!stack.empty()) {
    if (stack.back().next.empty()) {
      LevelNode node;
      node.block = stack.back().block;
      if (stack.back().inner) {
        levels_.push_back(std::make_unique<Level>());
        node.loop = levels_.back().get();
        node.loop->loop = stack.back().inner;
        node.loop->parent = &level;
      }
      reversed.push_back(std::move(node));
      stack.pop_back();
      continue;
    }
    BasicBlock* next = stack.back().next.pop_back_val();
    if (seen.insert(next).second) stack.push_back(enter(next));
  }
  level.nodes.assign(std::make_move_iterator(reversed.rbegin()),
                     std::make_move_iterator(reversed.rend()));
  for (unsigned i = 0; i < level.nodes.size(); ++i) {
    LevelNode& node = level.nodes[i];
    if (node.loop)
      node.loop->place = i;
    else
      places_[node.block] = {&level, i};
  }
  for (LevelNode& node : level.nodes)
    if (node.loop) build(*node.loop);
  connect(level);
  order_.push_back(&level);
}

unsigned ControlLevels::nodeIn(const Level& level, const BasicBlock* block) const {
  Place place = places_.lookup(block);
  while (place.level != &level) place = {place.level->parent, place.level->place};
  return place.index;
}

void ControlLevels::connect(Level& level) {
  const unsigned count = static_cast<unsigned>(level.nodes.size());
  for (unsigned i = 0; i < count; ++i) {
    LevelNode& node = level.nodes[i];
    llvm::SmallVector<BasicBlock*> targets;
    if (node.loop)
      node.loop->loop->getUniqueExitBlocks(targets);
    else
      llvm::append_range(targets, llvm::successors(node.block));
    node.leaves = targets.empty();
    for (BasicBlock* target : targets) {
      const bool inside = !level.loop || level.loop->contains(target);
      if (!inside || (level.loop && target == level.loop->getHeader())) {
        node.leaves = true;
        continue;
      }
      const unsigned next = nodeIn(level, target);
      if (llvm::is_contained(node.successors, next)) continue;
      node.successors.push_back(next);
      level.nodes[next].predecessors.push_back(i);
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    LevelNode& node = level.nodes[i];
    node.dominators.resize(count, i != 0);
    for (unsigned before : node.predecessors) node.dominators &= level.nodes[before].dominators;
    node.dominators.set(i);
  }
  for (unsigned i = count; i-- > 0;) {
    LevelNode& node = level.nodes[i];
    node.postdominators.resize(count, !node.leaves);
    for (unsigned next : node.successors) node.postdominators &= level.nodes[next].postdominators;
    node.postdominators.set(i);
  }
}

// Lanes part at `from`: what they may reach before they all meet again is masked.
void ControlLevels::part(Level& level, unsigned from) {
  constexpr unsigned none = ~0u;
  const LevelNode& origin = level.nodes[from];
  if (origin.successors.size() + origin.leaves < 2) return;
  std::vector<unsigned> way(level.nodes.size(), none);
  auto reach = [&](unsigned node, unsigned by) {
    if (way[node] == none) {
      way[node] = by;
    } else if (way[node] != by && way[node] != node) {
      way[node] = node;
      if (joins_.insert(level.nodes[node].block).second) changed_ = true;
    }
  };
  // The ways are told apart by numbers that no node has.
  const auto count = static_cast<unsigned>(level.nodes.size());
  for (unsigned next : origin.successors) reach(next, count + next);
  for (unsigned i = from + 1; i < level.nodes.size(); ++i) {
    if (way[i] == none) continue;
    if (origin.postdominators.test(i)) break;
    changed_ |= !std::exchange(level.nodes[i].masked, true);
    for (unsigned next : level.nodes[i].successors) reach(next, way[i]);
  }
}

// Do all lanes in the loop come to the end of `from`, and leave there or stay?
bool ControlLevels::leavesTogether(const Loop& loop, const BasicBlock* from,
                                   llvm::function_ref<bool(const BasicBlock*)> varies) const {
  if (varies(from)) return false;
  Place place = places_.lookup(from);
  while (!place.level->nodes[place.index].masked) {
    if (place.level->loop == &loop) return true;
    if (place.level->divergent) return false;
    place = {place.level->parent, place.level->place};
  }
  return false;
}

void ControlLevels::makeDivergent(Level& level) {
  if (std::exchange(level.divergent, true)) return;
  changed_ = true;
  llvm::SmallVector<std::pair<BasicBlock*, BasicBlock*>> edges;
  level.loop->getExitEdges(edges);
  for (const auto& edge : edges) {
    joins_.insert(edge.second);
    // Whoever leaves several loops at once does so as lanes of each.
    for (Level* inner = places_.lookup(edge.first).level; inner != &level; inner = inner->parent)
      makeDivergent(*inner);
  }
}

bool ControlLevels::parts(const BasicBlock* block,
                          llvm::function_ref<bool(const BasicBlock*)> varies) const {
  if (block->getTerminator()->getNumSuccessors() < 2) return false;
  if (varies(block)) return true;
  const Level& level = levelOf(block);
  return level.divergent && llvm::any_of(llvm::successors(block), [&](const BasicBlock* next) {
           return !level.loop->contains(next);
         });
}

bool ControlLevels::divide(llvm::function_ref<bool(const BasicBlock*)> varies) {
  bool any = false;
  do {
    changed_ = false;
    for (Level* level : order_) {
      for (unsigned i = 0; i < level->nodes.size(); ++i) {
        const LevelNode& node = level->nodes[i];
        if (node.loop ? node.loop->divergent : parts(node.block, varies)) part(*level, i);
      }
      if (!level->loop || level->divergent) continue;
      llvm::SmallVector<std::pair<BasicBlock*, BasicBlock*>> edges;
      level->loop->getExitEdges(edges);
      if (llvm::all_of(edges, [&](const auto& edge) {
            return leavesTogether(*level->loop, edge.first, varies);
          }))
        continue;
      makeDivergent(*level);
    }
    any |= changed_;
  } while (changed_);
  return any;
}

void ControlLevels::shareMasks() {
  for (Level* level : order_)
    for (unsigned i = 0; i < level->nodes.size(); ++i) {
      LevelNode& node = level->nodes[i];
      node.mask_of = i;
      for (unsigned d = i; node.masked && d-- > 0;) {
        if (!node.dominators.test(d) || !level->nodes[d].postdominators.test(i)) continue;
        node.mask_of = level->nodes[d].mask_of;
        break;
      }
    }
}

}  // namespace weft::compiler
