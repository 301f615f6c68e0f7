// Loads of lanes that lie near each other, though none follows the one before it: each pixel of a
// smaller image is wanted by two lanes next to each other, or by all behind an edge.
#include "compiler/passes/simd/vector_access.h"

namespace weft::compiler {

using llvm::Instruction;
using llvm::Value;

// One vector, from which each lane takes its element, where no lane's place is farther from the
// first one's than the vector is long. It may be read whole if it lies in one page, as the first
// lane reads of it.
VectorBody::Parts VectorBody::gatherNear(const Access& access, const NeighbourIndex& index,
                                         Instruction& from) {
  const bool suits = index.index && !index.is_linear && index.stride == index.step &&
                     index.index->getType()->isIntegerTy(32) && access.count == 1 &&
                     access.bytes <= sizeof(uint32_t) && !access.element->isPointerTy() &&
                     access.mayReadMore() && options_.permuted_lanes >= options_.width &&
                     mayBeSame(index.index, shapes_);
  if (!suits) return gather(access, from);
  const auto [first, places] = placesOf(index.index);
  NeighbourIndex rising = index;  // to the end of the vector
  rising.step = std::max<uint64_t>(index.step, 1);
  llvm::Type* const address_type = builder_.getInt64Ty();
  Value* const extended = index.is_signed ? builder_.CreateSExt(first, address_type)
                                          : builder_.CreateZExt(first, address_type);
  Value* const address = builder_.CreateFreeze(firstAddress(access.pointer, index, extended));
  Value* const near =
      builder_.CreateAnd(builder_.CreateAnd(areInside(places), fitsExtended(rising, first)),
                         isInOnePage(address, access.bytes * options_.width));
  llvm::BasicBlock *const window = newBlock("window"),
                          *far = newBlock("scattered"), *const after = newBlock("loaded");
  builder_.CreateCondBr(near, window, far);
  builder_.SetInsertPoint(window);
  Value* const taken = takeFrom(access, address, places, from);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(far);
  Value* const others = gather(access, from).front();
  far = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  llvm::PHINode* const either = builder_.CreatePHI(taken->getType(), 2);
  either->addIncoming(taken, window);
  either->addIncoming(others, far);
  return {either};
}

// The number of the first lane, and how much more the others have.
VectorBody::Places VectorBody::placesOf(Value* number) {
  llvm::SmallVector<UniformTerm, 2> same_for_all;
  Value* all = wide(withoutUniformTerms(number, shapes_, same_for_all));
  if (mask_) all = builder_.CreateFreeze(all);
  Value* first = builder_.CreateExtractElement(all, uint64_t{0});
  Value* const more = builder_.CreateSub(all, builder_.CreateVectorSplat(options_.width, first));
  for (const UniformTerm& term : same_for_all)
    first = term.is_subtracted ? builder_.CreateSub(first, scalar(term.value))
                               : builder_.CreateAdd(first, scalar(term.value));
  if (mask_) first = builder_.CreateFreeze(first);
  return {first, more};
}

// Does the first lane run, and do all others that run have places in one vector?
Value* VectorBody::areInside(Value* places) {
  Value* inside =
      builder_.CreateICmpULT(places, llvm::ConstantInt::get(places->getType(), options_.width));
  if (mask_) inside = builder_.CreateOr(inside, builder_.CreateNot(mask_));
  Value* const all = builder_.CreateAndReduce(inside);
  return mask_ ? builder_.CreateAnd(all, builder_.CreateExtractElement(mask_, uint64_t{0})) : all;
}

Value* VectorBody::isInOnePage(Value* address, uint64_t bytes) {
  constexpr uint64_t page = 4096;
  Value* const place =
      builder_.CreateAnd(builder_.CreatePtrToInt(address, builder_.getInt64Ty()), page - 1);
  return builder_.CreateICmpULE(place, builder_.getInt64(page - bytes));
}

// Elements of the vector at `address`.
Value* VectorBody::takeFrom(const Access& access, Value* address, Value* places,
                            const Instruction& from) {
  llvm::FixedVectorType* const type = vectorOf(access.element);
  llvm::Type* const bits =
      type->getWithNewType(builder_.getIntNTy(static_cast<unsigned>(8 * access.bytes)));
  Value* const loaded = builder_.CreateAlignedLoad(type, address, access.alignment);
  describeAccess(loaded, from);
  Value* const words = builder_.CreateZExt(builder_.CreateBitCast(loaded, bits), places->getType());
  return builder_.CreateBitCast(builder_.CreateTrunc(permuted(words, places), bits), type);
}

}  // namespace weft::compiler
