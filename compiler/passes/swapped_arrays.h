// Private arrays that a program exchanges by their pointers.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace weft::compiler {

// Makes one array of those that a pointer goes to in turn, such as the last row of a table and the
// one that is being worked out, and numbers of such pointers: where in it they begin. The number is
// then seen to be the same in all work-items, and the array to be accessed by elements. Returns
// whether there were any.
bool joinSwappedArrays(llvm::Function& body);

// Does it exchange two private arrays by their pointers, turn by turn?
bool exchangesArrays(const llvm::Loop& loop);

// Makes two turns one of loops that exchange small arrays where then each pointer is one array's,
// whose elements become variables. Wants loops in their simple forms, with their tests at their
// ends. Returns whether there were any.
bool unrollExchanges(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

}  // namespace weft::compiler
