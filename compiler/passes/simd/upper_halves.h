// The upper halves of products of 64-bit numbers, as mul_hi and divisions by constants want them:
// processors have them for one lane at a time, vectors make them of products of halves.
#pragma once

#include <optional>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace weft::compiler {

// Factors of at most 64 bits.
struct UpperHalf {
  struct Factor {
    llvm::Value* value = nullptr;
    bool is_signed = false;
  };
  Factor left, right;
};

// Nothing if the instruction is no such half.
std::optional<UpperHalf> upperHalf(const llvm::Instruction& instruction);

// A step on the way from factors to upper halves, in 128 bits, that leads nowhere else.
bool leadsToUpperHalf(const llvm::Instruction& instruction);

// Of vectors of 64-bit numbers, extended from factors as these say.
llvm::Value* makeUpperHalf(llvm::IRBuilderBase& builder, const UpperHalf& half, llvm::Value* left,
                           llvm::Value* right);

// Divisions of 64-bit numbers by constants, as products and shifts. The code generator does the
// same, but not for vectors.
void divideByProducts(llvm::Function& lane);

}  // namespace weft::compiler
