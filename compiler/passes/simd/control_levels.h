// A function's control flow as nested levels: the function itself and each loop, every one a
// directed acyclic graph of blocks and inner loops. Says which blocks some lanes may skip while
// others run them.
#pragma once

#include <memory>
#include <vector>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>

namespace weft::compiler {

struct Level;

struct LevelNode {
  llvm::BasicBlock* block = nullptr;                        // of an inner loop: its header
  Level* loop = nullptr;                                    // null for a block
  llvm::SmallVector<unsigned, 2> successors, predecessors;  // in this level; without duplicates
  llvm::BitVector postdominators;                           // itself among them
  llvm::BitVector dominators;
  bool leaves = false;   // a way leads to the end of the level: back edge, exit or return
  bool masked = false;   // lanes that run the level may not all come here
  unsigned mask_of = 0;  // a masked node runs for the same lanes as this one
};

struct Level {
  llvm::Loop* loop = nullptr;  // null for the function
  Level* parent = nullptr;
  unsigned place = 0;            // among the parent's nodes
  std::vector<LevelNode> nodes;  // in topological order
  bool divergent = false;        // lanes may leave the loop in different turns or by different ways
};

class ControlLevels {
 public:
  // Wants loops in simplified form and branches and one return as the only terminators; `valid` is
  // false where that, or reducibility, is not given.
  ControlLevels(llvm::Function& function, llvm::LoopInfo& loops);

  bool valid() const { return valid_; }
  Level& top() { return *levels_.front(); }
  // Innermost first.
  llvm::ArrayRef<Level*> levels() const { return order_; }
  Level& levelOf(const llvm::BasicBlock* block) const { return *places_.lookup(block).level; }
  unsigned indexOf(const llvm::BasicBlock* block) const { return places_.lookup(block).index; }
  // The node of `level` that is or contains `block`.
  unsigned nodeIn(const Level& level, const llvm::BasicBlock* block) const;
  bool isMasked(const llvm::BasicBlock* block) const {
    return levelOf(block).nodes[indexOf(block)].masked;
  }
  // May lanes reach the start of `block` by different ways, or in different turns of a loop?
  bool joins(const llvm::BasicBlock* block) const { return joins_.contains(block); }

  // Do lanes part at the end of the block? In a loop that lanes leave in different turns all do
  // that leave it, so that it ends in one place.
  bool parts(const llvm::BasicBlock* block,
             llvm::function_ref<bool(const llvm::BasicBlock*)> varies) const;
  // Marks what follows when lanes may part at the end of the blocks for which `varies` holds.
  // Marks are only ever added. Returns whether there are new ones.
  bool divide(llvm::function_ref<bool(const llvm::BasicBlock*)> varies);
  // Finds the masked nodes that share a mask. To be called once, after the last divide.
  void shareMasks();

 private:
  struct Place {
    Level* level = nullptr;
    unsigned index = 0;
  };
  void build(Level& level);
  void connect(Level& level);
  void part(Level& level, unsigned node);
  void makeDivergent(Level& level);
  bool leavesTogether(const llvm::Loop& loop, const llvm::BasicBlock* from,
                      llvm::function_ref<bool(const llvm::BasicBlock*)> varies) const;

  llvm::Function& function_;
  llvm::LoopInfo& loops_;
  std::vector<std::unique_ptr<Level>> levels_;  // the function's first
  std::vector<Level*> order_;
  llvm::DenseMap<const llvm::BasicBlock*, Place> places_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> joins_;
  bool valid_ = true;
  bool changed_ = false;
};

}  // namespace weft::compiler
