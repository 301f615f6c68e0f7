#include "scheduler/combine.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace weft {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// All ones in each unit of `Bytes` bytes in which `difference` has a bit.
template <size_t Bytes>
uint64_t unitsOf(uint64_t difference) {
  constexpr unsigned bits = 8 * Bytes;
  constexpr uint64_t ones = ~uint64_t{0} / (~uint64_t{0} >> (64 - bits));  // the low bit of each
  constexpr uint64_t high = ones << (bits - 1), low = ~high;
  const uint64_t set = (((difference & low) + low) | difference) & high;
  return (set << 1) - (set >> (bits - 1));
}

// The last bytes may be fewer than a unit, which then nobody can write.
template <size_t Bytes>
void takeUnits(std::byte* target, const std::byte* before, const std::byte* copy, size_t size) {
  size_t i = 0;
  for (; i + Bytes <= size; i += Bytes)
    if (std::memcmp(before + i, copy + i, Bytes) != 0) std::memcpy(target + i, copy + i, Bytes);
  if (i < size && std::memcmp(before + i, copy + i, size - i) != 0)
    std::memcpy(target + i, copy + i, size - i);
}

// Others may be writing what is beside the units that changed, so nothing else is stored.
template <size_t Bytes>
void takeChanged(std::byte* target, const std::byte* before, const std::byte* copy, size_t size) {
  constexpr size_t word = sizeof(uint64_t);
  size_t i = 0;
  for (; i + word <= size; i += word) {
    const auto one = load<uint64_t>(copy + i);
    const uint64_t difference = one ^ load<uint64_t>(before + i);
    if (difference == 0) continue;
    if (unitsOf<Bytes>(difference) == ~uint64_t{0})
      std::memcpy(target + i, &one, word);
    else
      takeUnits<Bytes>(target + i, before + i, copy + i, word);
  }
  takeUnits<Bytes>(target + i, before + i, copy + i, size - i);
}

using Taker = void (*)(std::byte*, const std::byte*, const std::byte*, size_t);
constexpr std::pair<uint8_t, Taker> takers[] = {
    {1, takeChanged<1>}, {2, takeChanged<2>}, {4, takeChanged<4>}, {8, takeChanged<8>}};

template <size_t Bytes>
bool changeTwice(const std::byte* before, std::span<const std::byte* const> copies, size_t size) {
  // The bytes of [at, at + count), count at most a word's.
  const auto wordAt = [](const std::byte* at, size_t count) {
    uint64_t word = 0;
    std::memcpy(&word, at, count);
    return word;
  };
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    const size_t count = std::min(sizeof(uint64_t), size - i);
    const uint64_t was = wordAt(before + i, count);
    uint64_t changed = 0;
    for (const std::byte* const copy : copies) {
      const uint64_t difference = wordAt(copy + i, count) ^ was;
      if (difference == 0) continue;
      const uint64_t units = unitsOf<Bytes>(difference);
      if (changed & units) return true;
      changed |= units;
    }
  }
  return false;
}

template <class T>
T combined(Combination combination, T target, T before, T copy) {
  using S = std::make_signed_t<T>;
  switch (combination) {
    case Combination::add:
      return target + (copy - before);
    case Combination::bit_and:
      return target & copy;
    case Combination::bit_or:
      return target | copy;
    case Combination::bit_xor:
      return target ^ (copy ^ before);
    case Combination::minimum:
      return std::min(target, copy);
    case Combination::maximum:
      return std::max(target, copy);
    case Combination::minimum_signed:
      return static_cast<T>(std::min(static_cast<S>(target), static_cast<S>(copy)));
    case Combination::maximum_signed:
      return static_cast<T>(std::max(static_cast<S>(target), static_cast<S>(copy)));
    case Combination::none:
      break;
  }
  return copy;
}

template <class T>
void combineEach(Combination combination, std::byte* target, const std::byte* before,
                 const std::byte* copy, size_t size) {
  for (size_t i = 0; i + sizeof(T) <= size; i += sizeof(T)) {
    const T was = load<T>(before + i), now = load<T>(copy + i);
    if (now == was) continue;
    const T one = combined(combination, load<T>(target + i), was, now);
    std::memcpy(target + i, &one, sizeof one);
  }
}

}  // namespace

void combine(Combination combination, uint8_t element, std::byte* target, const std::byte* before,
             const std::byte* copy, size_t size) noexcept {
  if (combination == Combination::none)
    return std::ranges::find(takers, element, &std::pair<uint8_t, Taker>::first)
        ->second(target, before, copy, size);
  if (element == sizeof(uint64_t))
    combineEach<uint64_t>(combination, target, before, copy, size);
  else
    combineEach<uint32_t>(combination, target, before, copy, size);
}

bool changedTwice(uint8_t element, const std::byte* before,
                  std::span<const std::byte* const> copies, size_t size) noexcept {
  switch (element) {
    case 1:
      return changeTwice<1>(before, copies, size);
    case 2:
      return changeTwice<2>(before, copies, size);
    case 4:
      return changeTwice<4>(before, copies, size);
    default:
      return changeTwice<8>(before, copies, size);
  }
}

}  // namespace weft
