#include "backends/cpu/shares.h"

namespace weft::cpu {
namespace {

constexpr uint64_t pack(uint64_t first, uint64_t end) { return end << 32 | first; }
constexpr uint64_t firstOf(uint64_t left) { return uint32_t(left); }
constexpr uint64_t endOf(uint64_t left) { return left >> 32; }
constexpr uint64_t countOf(uint64_t left) { return endOf(left) - firstOf(left); }

}  // namespace

Shares::Shares(std::span<const Seat> seats)
    : seats_(seats.begin(), seats.end()), shares_(seats.size()) {
  for (Share& share : shares_) share.runs.reserve(1);
}

void Shares::Share::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  runs.push_back({size, begin, end});
  size += end - begin;
}

// To the node's seats, or to all where it has none.
void Shares::deal(uint64_t begin, uint64_t end, size_t node) {
  if (begin >= end) return;
  const auto sits = [&](const Seat& seat) { return seat.node == node; };
  const auto there = size_t(std::count_if(seats_.begin(), seats_.end(), sits));
  const size_t takers = there ? there : seats_.size();
  const uint64_t count = end - begin;
  size_t i = 0;
  for (size_t seat = 0; seat < seats_.size(); ++seat) {
    if (there && !sits(seats_[seat])) continue;
    shares_[seat].add(begin + count * i / takers, begin + count * (i + 1) / takers);
    ++i;
  }
}

uint64_t Shares::fill(uint64_t begin, uint64_t end, uint64_t piece,
                      std::span<const NodeGroups> owned) {
  piece_ = piece;
  for (Share& share : shares_) {
    share.runs.clear();
    share.size = 0;
  }
  if (owned.empty()) {
    // Where there are not enough pieces for all seats, whole ones for some.
    const uint64_t count = end - begin, seats = seats_.size();
    const uint64_t takers = std::clamp<uint64_t>((count + piece - 1) / piece, 1, seats);
    for (uint64_t i = 0; i < takers; ++i)
      shares_[i * seats / takers].add(begin + count * i / takers, begin + count * (i + 1) / takers);
  }
  uint64_t at = begin;
  for (const NodeGroups& own : owned) {
    deal(at, std::min(own.begin, end), Seat::no_node);
    deal(std::max(own.begin, begin), std::min(own.end, end), own.node);
    at = std::max(at, own.end);
  }
  if (!owned.empty()) deal(at, end, Seat::no_node);
  uint64_t pieces = 0;
  for (Share& share : shares_) {
    const uint64_t own = (share.size + piece - 1) / piece;
    share.left.store(pack(0, own), std::memory_order_relaxed);
    pieces += own;
  }
  return pieces;
}

std::optional<Shares::Piece> Shares::take(size_t seat, Helped& helped) noexcept {
  if (const auto piece = pieceOf(seat, false)) return piece;
  for (;;) {
    if (helped.seat != Seat::none)
      if (const auto piece = pieceOf(helped.seat, true)) return piece;
    helped.seat = fullest(seats_[seat].node);
    if (helped.seat == Seat::none) return std::nullopt;
  }
}

std::optional<Shares::Piece> Shares::pieceOf(size_t seat, bool last) noexcept {
  Share& share = shares_[seat];
  uint64_t left = share.left.load(std::memory_order_relaxed);
  for (;;) {
    if (countOf(left) == 0) return std::nullopt;
    const uint64_t index = last ? endOf(left) - 1 : firstOf(left);
    const uint64_t rest = last ? pack(firstOf(left), index) : pack(index + 1, endOf(left));
    if (!share.left.compare_exchange_weak(left, rest, std::memory_order_relaxed)) continue;
    return Piece{seat, index * piece_, std::min((index + 1) * piece_, share.size)};
  }
}

// Where most is left, on that node if anything is.
size_t Shares::fullest(size_t node) const noexcept {
  size_t best = Seat::none;
  std::pair<bool, uint64_t> best_rank{false, 0};
  for (size_t seat = 0; seat < shares_.size(); ++seat) {
    const uint64_t count = countOf(shares_[seat].left.load(std::memory_order_relaxed));
    const std::pair rank{seats_[seat].node == node, count};
    if (count == 0 || (best != Seat::none && rank <= best_rank)) continue;
    best = seat;
    best_rank = rank;
  }
  return best;
}

}  // namespace weft::cpu
