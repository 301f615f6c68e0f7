// Accesses whose addresses are not linear in the lane but may well be neighbours when the program
// runs: the index is made of ids by arithmetic alone, with a clamp, a mask or a wrap on the way.
#pragma once

#include <optional>

#include <llvm/IR/Instruction.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

struct NeighbourIndex {
  llvm::Value* index = nullptr;  // before it is extended; null: none
  llvm::Value* extended = nullptr;
  bool is_extended = false;  // to 64 bits
  bool is_signed = false;    // if so
  bool is_linear = false;    // as expected unless extending wraps
  uint64_t step = 1;         // by which the index is to grow from lane to lane, and
  uint64_t stride = 1;       // from lane to lane in elements; of reversed ones of their absolutes
  bool is_reversed = false;  // it is to grow less
};

// The one varying index of the address `pointer`, whose elements are `bytes` apart.
NeighbourIndex neighbourIndex(llvm::Value* pointer, uint64_t bytes, const LaneShapes& shapes);
// Of lanes that may be neighbours the other way round, as along a diagonal: a[d - id].
NeighbourIndex reversedIndex(llvm::Value* pointer, uint64_t bytes, const LaneShapes& shapes);
// Of lanes whose `count` elements each, in a row, may lie two to `widest` from those of the next:
// the fields of records.
NeighbourIndex stridedIndex(llvm::Value* pointer, uint64_t bytes, uint64_t count, uint64_t widest,
                            const LaneShapes& shapes);

// Of lanes whose `count` elements each, in a row, may be followed by those of the next: records.
NeighbourIndex recordIndex(llvm::Value* pointer, uint64_t bytes, uint64_t count,
                           const LaneShapes& shapes);

// Is the index an id times a number that only the program knows, and more? Then each lane has a row
// of its own, unless that number is one.
bool isOfRows(llvm::Value* pointer, uint64_t bytes, const LaneShapes& shapes);
// Of lanes that may well all have the same, as the quotients of ids next to each other: a stride of
// none.
NeighbourIndex sameIndex(llvm::Value* pointer, uint64_t bytes, const LaneShapes& shapes);

// Is it made of ids by arithmetic and choices alone?
bool isMadeOfIds(const llvm::Value* index, const LaneShapes& shapes);

// Is it made of ids by arithmetic alone, so that the lanes' numbers may well follow each other?
bool mayBeNeighbours(const llvm::Value* number, const LaneShapes& shapes);

// Is it chosen, or divided, so that many lanes may have the same: the smaller one of a limit and of
// what an id makes?
bool mayBeSame(const llvm::Value* number, const LaneShapes& shapes);

// The id, or the quotient or remainder of one, that is all in a number which differs between lanes,
// but for choices and uniform sums: lanes next to each other differ by one at most by the number,
// but where a remainder begins again. Null: none, or several.
const llvm::Value* idBehind(const llvm::Value* number, const LaneShapes& shapes);

// An id and a constant, but no less, or no more, than another constant: max(0, id - 5).
struct ClampedId {
  int64_t limit, offset;
};
std::optional<ClampedId> clampedId(const llvm::Value* number);

// A number without what is added to it that is the same for all lanes, each of which goes to
// `uniform`: with its sign.
struct UniformTerm {
  llvm::Value* value;
  bool is_subtracted;
};
llvm::Value* withoutUniformTerms(llvm::Value* number, const LaneShapes& shapes,
                                 llvm::SmallVectorImpl<UniformTerm>& uniform);

}  // namespace weft::compiler
