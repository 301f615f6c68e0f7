// What lanes of one vector, a sub-group, hand to each other, as calls of functions that only
// vectors have a form of. They are the ones that own_sub_group.cl asks of its target.
#pragma once

#include <optional>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instruction.h>

namespace llvm {
class Module;
}

namespace weft::compiler {

enum class Exchange : uint8_t {
  lane,          // the lane's place in the vector
  members,       // how many lanes the vector's sub-group has
  runs,          // 1 where the lane runs, else 0
  ballot,        // of a number: the lanes that run and whose number is not zero
  shuffle,       // of a number of 32 bits and a lane: that lane's number
  shuffle_long,  // the same of 64
};

llvm::Value* createExchange(llvm::IRBuilder<>& builder, Exchange exchange,
                            llvm::ArrayRef<llvm::Value*> arguments = {});
// A shuffle of any number of up to 64 bits.
llvm::Value* createShuffle(llvm::IRBuilder<>& builder, llvm::Value* number, llvm::Value* lane);
// Gives the functions of exchanges that `module` has the attributes that passes have to know.
void declareExchanges(llvm::Module& module);

std::optional<Exchange> exchangeOf(const llvm::Instruction& instruction);
// Does what it gives depend on the lanes that come, and not only on where this one is?
bool isHandedOver(const llvm::Instruction& instruction);
bool hasExchanges(const llvm::Function& function);

}  // namespace weft::compiler
