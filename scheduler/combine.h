// How copies of the same bytes, which parts of a kernel changed, become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/image.h"

namespace weft {

// Enters into `target` what a part made of `copy`, which was like `before` when it began; all of
// `size` bytes. Without a combination each `element` bytes (1, 2, 4 or 8) are the copy's if any of
// them changed; else `element` is the integers' size, 4 or 8, and divides `size`. Elements that did
// not change are left alone: others may write them meanwhile.
void combine(Combination combination, uint8_t element, std::byte* target, const std::byte* before,
             const std::byte* copy, size_t size) noexcept;

// Did two of these change the same `element` bytes (1, 2, 4 or 8) of `before`? The last element may
// be shorter.
bool changedTwice(uint8_t element, const std::byte* before,
                  std::span<const std::byte* const> copies, size_t size) noexcept;

}  // namespace weft
