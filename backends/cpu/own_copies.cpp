#include "backends/cpu/own_copies.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/pool.h"

namespace weft::cpu {
namespace {

// Of all copies of a thread: what it clears and combines takes a fraction of what it runs.
constexpr size_t most_bytes = size_t{64} << 10;

size_t linesOf(size_t bytes) {
  return (bytes + pool::line_bytes - 1) / pool::line_bytes * pool::line_bytes;
}

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

Range rangeOf(const port::Memory& memory) {
  return {memory.deviceAddress(), memory.deviceAddress() + memory.size()};
}

// Does nothing but that argument lead to its memory?
bool isAlone(const port::Launch& launch, size_t argument) {
  const Range own = rangeOf(*launch.arguments[argument].memory);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const port::LaunchArgument& other = launch.arguments[i];
    if (i == argument) continue;
    if (other.raw_address != 0) return false;  // into whatever
    if (!other.memory) continue;
    const Range range = rangeOf(*other.memory);
    if (range.begin < own.end && own.begin < range.end) return false;
  }
  return true;
}

// What leaves every other integer as it is.
template <class T>
T neutral(Combination combination) {
  using Signed = std::make_signed_t<T>;
  switch (combination) {
    case Combination::bit_and:
    case Combination::minimum:
      return std::numeric_limits<T>::max();
    case Combination::minimum_signed:
      return T(std::numeric_limits<Signed>::max());
    case Combination::maximum_signed:
      return T(std::numeric_limits<Signed>::min());
    default:
      return 0;
  }
}

// Others may be at `target` with atomics, too.
template <class T, class Join>
void joinAtomically(T& target, Join&& join) {
  const std::atomic_ref<T> shared(target);
  T before = shared.load(std::memory_order_relaxed);
  for (T after = join(before); after != before; after = join(before))
    if (shared.compare_exchange_weak(before, after, std::memory_order_acq_rel)) return;
}

template <class T>
void join(Combination combination, T& target, T value) {
  using Signed = std::make_signed_t<T>;
  const std::atomic_ref<T> shared(target);
  switch (combination) {
    case Combination::add:
      shared.fetch_add(value, std::memory_order_acq_rel);
      return;
    case Combination::bit_and:
      shared.fetch_and(value, std::memory_order_acq_rel);
      return;
    case Combination::bit_or:
      shared.fetch_or(value, std::memory_order_acq_rel);
      return;
    case Combination::bit_xor:
      shared.fetch_xor(value, std::memory_order_acq_rel);
      return;
    case Combination::minimum:
      return joinAtomically(target, [&](T before) { return std::min(before, value); });
    case Combination::maximum:
      return joinAtomically(target, [&](T before) { return std::max(before, value); });
    case Combination::minimum_signed:
      return joinAtomically(target,
                            [&](T before) { return T(std::min(Signed(before), Signed(value))); });
    case Combination::maximum_signed:
      return joinAtomically(target,
                            [&](T before) { return T(std::max(Signed(before), Signed(value))); });
    case Combination::none:
      return;
  }
}

template <class T>
void clear(const CombinedArgument& of, std::byte* copy) {
  auto* const integers = reinterpret_cast<T*>(copy);
  std::fill_n(integers, of.bytes / sizeof(T), neutral<T>(of.combination));
}

template <class T>
void combineInto(const CombinedArgument& of, std::byte* copy, size_t first) {
  auto* const target = reinterpret_cast<T*>(of.target);
  auto* const values = reinterpret_cast<T*>(copy);
  const size_t count = of.bytes / sizeof(T);
  constexpr size_t line = pool::line_bytes / sizeof(T);
  const size_t begin = first * line % count;
  const T unchanged = neutral<T>(of.combination);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i + begin < count ? i + begin : i + begin - count;
    if (values[at] == unchanged) continue;
    join(of.combination, target[at], values[at]);
    values[at] = unchanged;
  }
}

}  // namespace

bool hasCombinedArguments(const KernelInfo& kernel) noexcept {
  // Else its pointers may come from elsewhere, or work-groups may hear of each other.
  if (kernel.split_hazards != no_split_hazard) return false;
  return std::ranges::any_of(kernel.arguments, [](const ArgumentInfo& argument) {
    return argument.combination != Combination::none;
  });
}

size_t findCombinedArguments(const port::Launch& launch, const KernelInfo& kernel,
                             std::vector<CombinedArgument>& found) {
  found.clear();
  size_t bytes = 0;
  for (size_t i = 0; i < launch.arguments.size() && i < kernel.arguments.size(); ++i) {
    const ArgumentInfo& info = kernel.arguments[i];
    const port::LaunchArgument& argument = launch.arguments[i];
    if (info.combination == Combination::none || !argument.memory || argument.value) continue;
    assert(info.combined_bytes == sizeof(uint32_t) || info.combined_bytes == sizeof(uint64_t));
    if (argument.offset >= argument.memory->size()) continue;
    auto* const begin = reinterpret_cast<std::byte*>(argument.memory->deviceAddress());
    CombinedArgument one{i, info.combination, info.combined_bytes, begin + argument.offset,
                         argument.memory->size() - argument.offset};
    one.bytes -= one.bytes % one.element;
    const bool aligned = reinterpret_cast<uintptr_t>(one.target) % one.element == 0;
    if (one.bytes == 0 || one.bytes > most_bytes - bytes || !aligned || !isAlone(launch, i))
      continue;
    bytes += one.bytes;
    found.push_back(one);
  }
  return bytes;
}

OwnCopies::OwnCopies(std::span<const CombinedArgument> combined,
                     std::span<const void* const> arguments, ScratchBlock& block,
                     size_t first) noexcept
    : combined_(combined), first_(first) {
  // The arguments, where copies are, and the copies.
  const size_t pointers = linesOf((arguments.size() + combined.size()) * sizeof(void*));
  size_t bytes = pointers;
  for (const CombinedArgument& one : combined) bytes += linesOf(one.bytes);
  std::byte* const memory = combined.empty() ? nullptr : block.reserve(bytes);
  if (!memory) return;
  arguments_ = reinterpret_cast<const void**>(memory);
  std::ranges::copy(arguments, arguments_);
  const void** place = arguments_ + arguments.size();
  copies_ = memory + pointers;
  std::byte* copy = copies_;
  for (const CombinedArgument& one : combined) {
    *place = copy;
    arguments_[one.argument] = place++;
    one.element == sizeof(uint64_t) ? clear<uint64_t>(one, copy) : clear<uint32_t>(one, copy);
    copy += linesOf(one.bytes);
  }
}

void OwnCopies::combine() noexcept {
  if (!arguments_) return;
  std::byte* copy = copies_;
  for (const CombinedArgument& one : combined_) {
    if (one.element == sizeof(uint64_t))
      combineInto<uint64_t>(one, copy, first_);
    else
      combineInto<uint32_t>(one, copy, first_);
    copy += linesOf(one.bytes);
  }
}

}  // namespace weft::cpu
