#include "compiler/passes/context_layout.h"

#include <algorithm>
#include <numeric>

namespace weft::compiler {
namespace {

constexpr uint64_t context_alignment = 128;
constexpr uint64_t between_elements = 16;  // lanes

// What must be added to a size so that the address can be rounded up.
uint64_t slack(llvm::Align alignment) {
  return alignment.value() > context_alignment ? alignment.value() : 0;
}

}  // namespace

unsigned ContextLayout::addPerLane(uint64_t size, llvm::Align alignment) {
  size = llvm::alignTo(std::max<uint64_t>(size, 1), alignment) + slack(alignment);
  slots_.push_back({size, size, alignment});
  return static_cast<unsigned>(slots_.size() - 1);
}

unsigned ContextLayout::addSpread(uint64_t count, uint64_t element_bytes) {
  const uint64_t size = count * element_bytes;
  const uint64_t between = llvm::divideCeil(size * between_elements, lane_capacity_multiple);
  slots_.push_back({llvm::alignTo(size + between, 2), element_bytes,
                    llvm::Align(llvm::bit_floor(std::min<uint64_t>(element_bytes, 128)))});
  return static_cast<unsigned>(slots_.size() - 1);
}

llvm::Value* ContextLayout::elementDistance(llvm::IRBuilder<>& builder, llvm::Value* capacity) {
  return builder.CreateNUWAdd(capacity, builder.getInt64(between_elements));
}

unsigned ContextLayout::addPerGroup(uint64_t size, llvm::Align alignment) {
  // At least 64 times the slot's size is there, whatever the local size.
  size = std::max<uint64_t>(size, 1) + slack(alignment);
  uint64_t share = llvm::alignTo(llvm::divideCeil(size, lane_capacity_multiple), 2);
  slots_.push_back({share, 0, alignment});
  return static_cast<unsigned>(slots_.size() - 1);
}

void ContextLayout::finish() {
  // Every offset is multiplied by a multiple of 64, so an offset that is a multiple of 2 serves
  // alignments up to 128.
  for (Slot& slot : slots_) {
    bytes_ = llvm::alignTo(bytes_,
                           std::max<uint64_t>(1, slot.alignment.value() / lane_capacity_multiple));
    slot.offset = bytes_;
    bytes_ += slot.size;
  }
}

uint64_t ContextLayout::privateBytes() const {
  uint64_t bytes = 0;
  for (const Slot& slot : slots_)
    bytes += slot.lane_size ? slot.size : slot.size * lane_capacity_multiple;
  return bytes;
}

llvm::Value* ContextLayout::address(llvm::IRBuilder<>& builder, unsigned slot, llvm::Value* context,
                                    llvm::Value* capacity, llvm::Value* lane) const {
  const Slot& place = slots_[slot];
  llvm::Value* base = context;
  if (place.offset) {
    llvm::Value* offset = builder.CreateNUWMul(capacity, builder.getInt64(place.offset));
    base = builder.CreateInBoundsGEP(builder.getInt8Ty(), context, offset);
  }
  if (place.lane_size) {
    llvm::Type* stride = llvm::ArrayType::get(builder.getInt8Ty(), place.lane_size);
    base = builder.CreateInBoundsGEP(stride, base, lane);
  }
  if (!slack(place.alignment)) return base;
  llvm::Value* up =
      builder.CreateConstGEP1_64(builder.getInt8Ty(), base, place.alignment.value() - 1);
  return builder.CreateIntrinsic(llvm::Intrinsic::ptrmask, {up->getType(), builder.getInt64Ty()},
                                 {up, builder.getInt64(-place.alignment.value())});
}

}  // namespace weft::compiler
