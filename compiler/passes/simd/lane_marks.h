// What the code of a lane knows of the others: questions for all lanes that run, and what follows
// from the answers, as calls of functions that only vectors take for what they are. Of a lane alone
// they are ordinary functions: nothing is said to hold, and numbers are what they are.
#pragma once

#include <optional>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instruction.h>

namespace weft::compiler {

enum class LaneMark : uint8_t {
  are_neighbours,  // i1: does the number grow by one from lane to lane?
  are_same,        // i1: is it the same in all?
  neighbour,       // the number, where it is known to grow by one
  first,           // the first lane's number: that of all where it is the same
  least,           // the least number of all lanes, compared as signed, and
  greatest,        // the greatest: less than the least where no lane runs
};

llvm::Value* createLaneMark(llvm::IRBuilder<>& builder, LaneMark mark, llvm::Value* number);

std::optional<LaneMark> laneMark(const llvm::Instruction& instruction);

}  // namespace weft::compiler
