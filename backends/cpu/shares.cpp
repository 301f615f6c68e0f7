#include "backends/cpu/shares.h"

namespace weft::cpu {
namespace {

constexpr uint64_t ceiling(uint64_t n, uint64_t divisor) { return (n + divisor - 1) / divisor; }

// Pieces from `first` to before `end`, of a turn, in one word.
struct Left {
  static constexpr unsigned piece_bits = 20, turn_bits = 24;
  static constexpr uint64_t most_pieces = (uint64_t{1} << piece_bits) - 1;
  static constexpr uint32_t turns = uint32_t{1} << turn_bits;

  uint64_t first = 0;
  uint64_t end = 0;
  uint32_t turn = 0;

  static Left of(uint64_t word) noexcept {
    return {word & most_pieces, word >> piece_bits & most_pieces, uint32_t(word >> 2 * piece_bits)};
  }
  uint64_t word() const noexcept {
    return uint64_t(turn) << 2 * piece_bits | end << piece_bits | first;
  }
  uint64_t count() const noexcept { return end - first; }
};

}  // namespace

Shares::Shares(std::span<const Seat> seats)
    : seats_(seats.begin(), seats.end()),
      shares_(seats.size()),
      groups_(ceiling(seats.size(), group_seats)),
      takers_(seats.size()) {
  there_.reserve(seats.size());
  planned_.reserve(seats.size());
}

void Shares::add(size_t seat, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  std::vector<Run>& runs = runs_[seat];
  const uint64_t at = runs.empty() ? 0 : runs.back().at + runs.back().size();
  runs.push_back({at, begin, end});
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
    add(seat, begin + count * i / takers, begin + count * (i + 1) / takers);
    ++i;
  }
}

uint32_t Shares::fill(uint64_t begin, uint64_t end, uint64_t piece,
                      std::span<const NodeGroups> owned) {
  owned_ = !owned.empty();
  planned_.clear();
  if (owned_)
    planByOwners(begin, end, piece, owned);
  else
    planEvenly(begin, end, piece);
  turn_ = (turn_ + 1) % Left::turns;
  uint32_t undone_groups = 0;
  for (size_t group = 0, i = 0; group < groups_.size(); ++group) {
    uint32_t undone = 0;
    for (; i < planned_.size() && planned_[i].seat / group_seats == group; ++i) ++undone;
    groups_[group].undone.store(undone, std::memory_order_relaxed);
    undone_groups += undone != 0;
  }
  all_.undone.store(undone_groups, std::memory_order_relaxed);
  // Mostly they are those of the last time, and many look at it.
  for (size_t seat = 0, i = 0; seat < seats_.size(); ++seat) {
    const bool takes = i < planned_.size() && planned_[i].seat == seat;
    i += takes;
    if (takers_.contains(seat) == takes) continue;
    takes ? takers_.insert(seat) : takers_.erase(seat);
  }
  for (const Planned& plan : planned_) {
    Share& share = shares_[plan.seat];
    share.undone.store(plan.size, std::memory_order_relaxed);
    share.begin = plan.begin;
    share.size = plan.size;
    const Left left{0, (plan.size + piece_ - 1) / piece_, turn_};
    share.left.store(left.word(), std::memory_order_release);
  }
  return turn_;
}

// Where there are not enough pieces for all, some have one each: a half of them, a quarter and so
// on, so that a launch that takes a little longer or shorter than the last one is shared by the
// same threads.
void Shares::planEvenly(uint64_t begin, uint64_t end, uint64_t piece) noexcept {
  if (there_.empty())
    for (size_t seat = 0; seat < seats_.size(); ++seat) there_.push_back(seat);
  const uint64_t count = end - begin, pieces = ceiling(count, piece);
  uint64_t takers = there_.size();
  while (takers > 1 && (10 * pieces < 7 * takers || count < takers)) takers = (takers + 1) / 2;
  const uint64_t share = ceiling(count, takers);
  const uint64_t each = std::clamp<uint64_t>((share + piece / 2) / piece, 1, Left::most_pieces);
  piece_ = ceiling(share, each);
  for (uint64_t i = 0; i < takers; ++i) {
    const uint64_t first = count * i / takers, last = count * (i + 1) / takers;
    if (first < last)
      planned_.push_back({there_[i * there_.size() / takers], begin + first, last - first});
  }
}

void Shares::planByOwners(uint64_t begin, uint64_t end, uint64_t piece,
                          std::span<const NodeGroups> owned) {
  runs_.resize(seats_.size());
  for (auto& runs : runs_) runs.clear();
  uint64_t at = begin;
  for (const NodeGroups& own : owned) {
    deal(at, std::min(own.begin, end), Seat::no_node);
    deal(std::max(own.begin, begin), std::min(own.end, end), own.node);
    at = std::max(at, own.end);
  }
  deal(at, end, Seat::no_node);
  uint64_t largest = 0;
  for (size_t seat = 0; seat < seats_.size(); ++seat) {
    const uint64_t size =
        runs_[seat].empty() ? 0 : runs_[seat].back().at + runs_[seat].back().size();
    largest = std::max(largest, size);
    if (size != 0) planned_.push_back({seat, 0, size});
  }
  piece_ = std::max(piece, ceiling(largest, Left::most_pieces));
}

uint64_t Shares::left() const noexcept {
  uint64_t pieces = 0;
  for (const Share& share : shares_)
    pieces += Left::of(share.left.load(std::memory_order_relaxed)).count();
  return pieces;
}

bool Shares::done(size_t seat, uint64_t items) noexcept {
  constexpr auto order = std::memory_order_acq_rel;
  return shares_[seat].undone.fetch_sub(items, order) == items &&
         groups_[seat / group_seats].undone.fetch_sub(1, order) == 1 &&
         all_.undone.fetch_sub(1, order) == 1;
}

std::optional<Shares::Piece> Shares::takeAnothers(uint32_t turn, size_t seat,
                                                  Helped& helped) noexcept {
  for (;;) {
    if (helped.seat != Seat::none)
      if (const auto piece = pieceOf(turn, helped.seat, true)) return piece;
    helped.seat = fullest(turn, seats_[seat].node);
    if (helped.seat == Seat::none) return std::nullopt;
  }
}

std::optional<Shares::Piece> Shares::pieceOf(uint32_t turn, size_t seat, bool last) noexcept {
  Share& share = shares_[seat];
  uint64_t word = share.left.load(std::memory_order_relaxed);
  for (;;) {
    Left left = Left::of(word);
    if (left.turn != turn || left.count() == 0) return std::nullopt;
    const uint64_t index = last ? --left.end : left.first++;
    if (!share.left.compare_exchange_weak(word, left.word(), std::memory_order_acquire,
                                          std::memory_order_relaxed))
      continue;
    return Piece{seat, index * piece_, std::min((index + 1) * piece_, share.size)};
  }
}

// Where most is left, on that node if anything is.
size_t Shares::fullest(uint32_t turn, size_t node) const noexcept {
  size_t best = Seat::none;
  std::pair<bool, uint64_t> best_rank{false, 0};
  for (size_t seat = 0; seat < shares_.size(); ++seat) {
    const Left left = Left::of(shares_[seat].left.load(std::memory_order_relaxed));
    const uint64_t count = left.turn == turn ? left.count() : 0;
    const std::pair rank{seats_[seat].node == node, count};
    if (count == 0 || (best != Seat::none && rank <= best_rank)) continue;
    best = seat;
    best_rank = rank;
  }
  return best;
}

}  // namespace weft::cpu
