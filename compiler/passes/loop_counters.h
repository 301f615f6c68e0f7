// Loops that scalar evolution does not count, because it does not know that they go forward or when
// their counter wraps: for (i = get_global_id(0); i < n; i += get_global_size(0)). A launch knows.
#pragma once

#include <optional>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>

namespace weft::compiler {

// The loop goes on at most for as long as a counter that begins as `first` and grows by `stride`
// each time it is looked at, once in each iteration, is no more than `last`. All of one width.
struct LoopCounter {
  const llvm::SCEV* first;
  const llvm::SCEV* stride;  // of a launch's sizes, constants and by-value arguments
  const llvm::SCEV* last;    // the same in all iterations
  bool is_signed;
  const llvm::BasicBlock* exiting = nullptr;  // where that is looked at
  bool only_exit = false;                     // it goes on exactly as long
};

// None where it has no such counter.
std::optional<LoopCounter> counterOf(const llvm::Loop& loop, llvm::ScalarEvolution& evolution);

// Are there counters that are kept in more bits than are ever looked at, as `int i` is that a
// size_t is added to?
bool hasWideCounters(const llvm::Function& function);
// Gives them their own width, so that scalar evolution sees what they add up to.
void narrowCounters(llvm::Function& function);

}  // namespace weft::compiler
