// Where pixels lie, and their words from memory and back: rows of pixels as whole vectors, others
// one by one.
#pragma once

#include "backends/cpu/pixels/colours.h"

namespace weft::cpu {
namespace {

template <class L>
struct Place {
  typename L::I x, y, z;
};

inline bool usesY(uint32_t shape) { return (shape & port::pixel_dimensions) > 1; }
inline bool usesDepth(uint32_t shape) { return (shape & port::pixel_dimensions) > 2; }
inline bool isLayered(uint32_t shape) { return shape & port::pixel_layered; }
inline bool usesZ(uint32_t shape) { return usesDepth(shape) || isLayered(shape); }

// Of which lanes the pixel is one of the image's. Coordinates beyond it never touch memory,
// whatever the specification leaves undefined.
template <class L>
[[gnu::always_inline]] inline uint32_t lanesInside(const CpuImage& image, uint32_t shape,
                                                   const Place<L>& at) {
  const auto below = [](typename L::I coordinate, uint32_t size) {
    return L::less(unsignedOf<L>(coordinate), typename L::U{} + size);
  };
  uint32_t inside = below(at.x, image.width);
  if (usesY(shape)) inside &= below(at.y, image.height);
  if (usesDepth(shape)) inside &= below(at.z, image.depth);
  if (isLayered(shape)) inside &= below(at.z, image.array_size);
  return inside;
}

// Do the lanes lie side by side?
template <class L>
[[gnu::always_inline]] inline bool isRow(uint32_t shape, const Place<L>& at) {
  uint32_t equal = L::equal(at.x, L::splat(at.x[0]) + L::iota());
  if (usesY(shape)) equal &= L::equal(at.y, L::splat(at.y[0]));
  if (usesZ(shape)) equal &= L::equal(at.z, L::splat(at.z[0]));
  return equal == L::all;
}

template <class L>
int32_t element(typename L::I all, unsigned lane) {
  if constexpr (L::count == 1)
    return all;
  else
    return all[lane];
}

template <class L>
[[gnu::always_inline]] inline uint8_t* addressOf(const CpuImage& image, uint32_t shape,
                                                 const Place<L>& at, unsigned lane,
                                                 unsigned bytes) {
  const auto number = [&](typename L::I all) {
    return uint64_t{static_cast<uint32_t>(element<L>(all, lane))};
  };
  uint64_t address = image.address + number(at.x) * bytes;
  if (usesY(shape)) address += number(at.y) * image.row_pitch;
  if (usesZ(shape)) address += number(at.z) * image.slice_pitch;
  return reinterpret_cast<uint8_t*>(address);
}

// Are all offsets below 2^31?
inline bool isSmall(const CpuImage& image, uint32_t shape) {
  const uint64_t slices = usesDepth(shape) ? image.depth : image.array_size;
  const uint64_t bytes = usesZ(shape)   ? slices * image.slice_pitch
                         : usesY(shape) ? image.height * image.row_pitch
                                        : uint64_t{image.width} * image.pixel_bytes;
  return bytes <= INT32_MAX;
}

// Of lanes that are not inside that of the first pixel, which is there.
template <class L>
[[gnu::always_inline]] inline typename L::I offsetsOf(const CpuImage& image, uint32_t shape,
                                                      const Place<L>& at, uint32_t inside,
                                                      unsigned bytes) {
  typename L::U offsets = unsignedOf<L>(at.x) * bytes;
  if (usesY(shape)) offsets += unsignedOf<L>(at.y) * static_cast<uint32_t>(image.row_pitch);
  if (usesZ(shape)) offsets += unsignedOf<L>(at.z) * static_cast<uint32_t>(image.slice_pitch);
  return signedOf<L>(L::choose(inside, offsets, typename L::U{}));
}

// From pixels of 16 bytes, four lanes in each vector, to their four words, and back.
template <class L>
[[gnu::always_inline]] inline void turn(typename L::U (&w)[4]) {
  const auto a = L::unpackLow(w[0], w[1]), b = L::unpackHigh(w[0], w[1]);
  const auto c = L::unpackLow(w[2], w[3]), d = L::unpackHigh(w[2], w[3]);
  w[0] = L::unpackLowPairs(a, c);
  w[1] = L::unpackHighPairs(a, c);
  w[2] = L::unpackLowPairs(b, d);
  w[3] = L::unpackHighPairs(b, d);
}

template <class L, Layout layout, class At>
[[gnu::always_inline]] inline Words<L, layout> joined(At&& at) {
  Words<L, layout> result;
  forEach<4>([&](auto i) __attribute__((always_inline)) {
    result.word[i] = L::join([&](unsigned piece) { return at(4 * piece + i); });
  });
  turn<L>(result.word);
  return result;
}

// The words of pixels that follow each other.
template <class L, Layout layout>
[[gnu::always_inline]] inline Words<L, layout> loadRow(const uint8_t* from) {
  using U = typename L::U;
  constexpr unsigned bytes = layout.bytes();
  if constexpr (L::count == 1) {
    Words<L, layout> result{};
    __builtin_memcpy(result.word, from, bytes);
    return result;
  } else if constexpr (bytes == 1) {
    return {L::widen(L::template load<typename L::Bytes>(from))};
  } else if constexpr (bytes == 2) {
    return {L::widen(L::template load<typename L::Halves>(from))};
  } else if constexpr (bytes == 4) {
    return {L::template load<U>(from)};
  } else if constexpr (bytes == 8) {
    const U first = L::template load<U>(from), second = L::template load<U>(from + sizeof(U));
    return {L::even(first, second), L::odd(first, second)};
  } else {
    return joined<L, layout>([&](unsigned lane) { return from + lane * bytes; });
  }
}

// Of images of 2 GiB and more.
template <class L, Layout layout>
[[gnu::noinline]] Words<L, layout> loadFar(const CpuImage& image, uint32_t shape,
                                           const Place<L>& at, uint32_t inside) {
  constexpr unsigned bytes = layout.bytes();
  alignas(64) uint8_t row[L::count * bytes] = {};
  for (unsigned lane = 0; lane < L::count; ++lane)
    if (inside >> lane & 1)
      __builtin_memcpy(row + lane * bytes, addressOf<L>(image, shape, at, lane, bytes), bytes);
  return loadRow<L, layout>(row);
}

template <class L, Layout layout>
[[gnu::always_inline]] inline Words<L, layout> loadScattered(const CpuImage& image, uint32_t shape,
                                                             const Place<L>& at, uint32_t inside) {
  constexpr unsigned bytes = layout.bytes();
  if (!isSmall(image, shape)) return loadFar<L, layout>(image, shape, at, inside);
  const auto* const base = reinterpret_cast<const uint8_t*>(image.address);
  const typename L::I offsets = offsetsOf<L>(image, shape, at, inside, bytes);
  if constexpr (bytes == 4) return {L::gather4(base, offsets)};
  int32_t offset[L::count];
  __builtin_memcpy(offset, &offsets, sizeof offset);
  if constexpr (bytes == 16)
    return joined<L, layout>([&](unsigned lane) { return base + offset[lane]; });
  alignas(64) uint8_t row[L::count * bytes];
  forEach<L::count>([&](auto lane) __attribute__((always_inline)) {
    __builtin_memcpy(row + lane * bytes, base + offset[lane], bytes);
  });
  return loadRow<L, layout>(row);
}

template <class L, Layout layout>
[[gnu::always_inline]] inline void storeRow(uint8_t* to, const Words<L, layout>& words) {
  using U = typename L::U;
  constexpr unsigned bytes = layout.bytes();
  const auto put = [&](const auto& value, size_t offset) __attribute__((always_inline)) {
    __builtin_memcpy(to + offset, &value, sizeof value);
  };
  if constexpr (L::count == 1) {
    __builtin_memcpy(to, words.word, bytes);
  } else if constexpr (bytes == 1) {
    put(__builtin_convertvector(words.word[0], typename L::Bytes), 0);
  } else if constexpr (bytes == 2) {
    put(__builtin_convertvector(words.word[0], typename L::Halves), 0);
  } else if constexpr (bytes == 4) {
    put(words.word[0], 0);
  } else if constexpr (bytes == 8) {
    put(L::mixLow(words.word[0], words.word[1]), 0);
    put(L::mixHigh(words.word[0], words.word[1]), sizeof(U));
  } else {
    U turned[4] = {words.word[0], words.word[1], words.word[2], words.word[3]};
    turn<L>(turned);
    forEach<L::count>([&](auto lane) __attribute__((always_inline)) {
      put(L::piece(turned[lane % 4], lane / 4), lane * bytes);
    });
  }
}

// Of a row the lanes that run.
template <class L, Layout layout>
void storePart(uint8_t* to, uint32_t lanes, const Words<L, layout>& words) {
  using U = typename L::U;
  constexpr unsigned bytes = layout.bytes();
  if constexpr (L::stores_parts && bytes == 8) {
    const U first = L::mixLow(words.word[0], words.word[1]);
    const U second = L::mixHigh(words.word[0], words.word[1]);
    L::template storePart<8>(to, lanes & 0xff, first);
    L::template storePart<8>(to + sizeof(U), lanes >> 8, second);
  } else if constexpr (L::stores_parts && bytes < 8) {
    L::template storePart<bytes>(to, lanes, words.word[0]);
  } else {
    alignas(64) uint8_t row[L::count * bytes];
    storeRow<L, layout>(row, words);
    for (unsigned lane = 0; lane < L::count; ++lane)
      if (lanes >> lane & 1) __builtin_memcpy(to + lane * bytes, row + lane * bytes, bytes);
  }
}

// Of lanes that are no row.
template <class L, Layout layout>
void storeScattered(const CpuImage& image, uint32_t shape, const Place<L>& at, uint32_t inside,
                    const Words<L, layout>& words) {
  constexpr unsigned bytes = layout.bytes();
  alignas(64) uint8_t row[L::count * bytes];
  storeRow<L, layout>(row, words);
  for (unsigned lane = 0; lane < L::count; ++lane)
    if (inside >> lane & 1)
      __builtin_memcpy(addressOf<L>(image, shape, at, lane, bytes), row + lane * bytes, bytes);
}

}  // namespace
}  // namespace weft::cpu
