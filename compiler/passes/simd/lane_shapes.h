// What a value looks like over the lanes of a vector: the same in all of them, growing by a
// constant from lane to lane, or anything.
#pragma once

#include <array>
#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/exchanges.h"

namespace weft::compiler {

struct LaneShape {
  enum Kind : uint8_t { unknown, uniform, linear, varying };
  Kind kind = unknown;
  int64_t stride = 0;  // of linear ones: bytes for pointers; arithmetic is modulo the type's size

  bool operator==(const LaneShape&) const = default;
};

// The parameters of a lane function that differ between lanes, and those that make global ids.
struct LaneParameters {
  llvm::Argument* local_id;  // of the dimension along which lanes run
  llvm::Argument* lane;
  std::array<llvm::Argument*, 2> global_bases;  // of the group, and of one that runs with it
  llvm::Argument* group_id;
  std::array<llvm::Argument*, 2> group_sizes;  // the group's, and that of most
};

// Of a lane's function, whose parameters from `hidden` on are the environment.
LaneParameters laneParameters(const llvm::Function& function, unsigned hidden);

class LaneShapes {
 public:
  // Divides `levels` to the end.
  LaneShapes(llvm::Function& function, const LaneParameters& parameters, ControlLevels& levels);

  LaneShape of(const llvm::Value* value) const;
  bool isUniform(const llvm::Value* value) const { return of(value).kind == LaneShape::uniform; }
  bool isVarying(const llvm::Value* value) const { return of(value).kind == LaneShape::varying; }
  // Do lanes that come to the end of the block together part there?
  bool varies(const llvm::BasicBlock* block) const;

  // Is the value extended to more bits still linear? Then so are the operands it is made from.
  bool canExtend(const llvm::Value* value, bool is_signed) const;
  // Is a global id narrowed to 32 bits somewhere as if that lost nothing? Then no vector may hold
  // lanes from both sides of a multiple of 2^31, or near an odd one.
  bool narrowsGlobalId() const { return narrows_global_id_; }
  // Or group_id * group_size + local_id.
  bool narrowsProduct() const { return narrows_product_; }

 private:
  LaneShape transfer(const llvm::Instruction& instruction) const;
  LaneShape ofArithmetic(const llvm::Instruction& instruction) const;
  LaneShape ofSignExtension(const llvm::Instruction& instruction) const;
  LaneShape ofCast(const llvm::CastInst& cast) const;
  LaneShape ofElement(const llvm::GetElementPtrInst& element) const;
  LaneShape ofPhi(const llvm::PHINode& phi) const;
  LaneShape ofCall(const llvm::CallBase& call) const;
  LaneShape ofExchange(const llvm::CallBase& call, Exchange exchange) const;
  LaneShape ofOperands(const llvm::Instruction& instruction) const;
  LaneShape meet(LaneShape a, LaneShape b) const;
  bool isId(const llvm::Value* value) const;
  std::optional<uint64_t> greatest(const llvm::Value* value) const;
  bool propagate(llvm::Function& function);

  LaneParameters parameters_;
  const ControlLevels& levels_;
  llvm::DenseMap<const llvm::Value*, LaneShape> shapes_;
  mutable bool narrows_global_id_ = false, narrows_product_ = false;
};

// What `or` makes of numbers without common bits, as in lanes that run, is their sum. In others it
// need not be.
bool isDisjointOr(const llvm::Instruction& instruction);

// Can the instruction be done once for all lanes if its operands are the same in all?
bool isOncePerVector(const llvm::Instruction& instruction);

// What a division divides by, if that is the same for all lanes; else null. The select that keeps
// signed divisions defined (pipeline/divisions.h) has the dividend in its condition, and so hides
// it.
llvm::Value* uniformDivisor(const llvm::Instruction& division, const LaneShapes& shapes);

}  // namespace weft::compiler
