// Hands out an operation's work in pieces, by the seats of a device's workers.
//
// Each seat has a share of neighbouring items, the same one every time an operation of that size
// comes along: what a launch leaves in a core's caches is there for the next one. Whoever is done
// with the share of its seat helps where most is left, from the far end. Taking a piece is one
// atomic operation on a cache line of the seat's own. So nobody has to register who takes part, and
// however many do, they do not wait for each other.
//
// Who comes late finds the shares filled anew: each filling is a *turn*, and a piece is only given
// to whoever asks for one of its turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/locality.h"

namespace weft::cpu {

// Where a worker sits.
struct Seat {
  static constexpr size_t none = ~size_t{0};
  static constexpr size_t no_node = none;

  unsigned pu = 0;        // the system's number
  size_t node = no_node;  // an index of Home::nodes
};

// Some of a device's seats. Thread-safe.
class SeatSet {
 public:
  explicit SeatSet(size_t seats) : words_((seats + 63) / 64) {}

  bool contains(size_t seat) const noexcept {
    return words_[seat / 64].load(std::memory_order_relaxed) >> seat % 64 & 1;
  }
  void insert(size_t seat) noexcept {
    words_[seat / 64].fetch_or(uint64_t{1} << seat % 64, std::memory_order_relaxed);
  }
  void erase(size_t seat) noexcept {
    words_[seat / 64].fetch_and(~(uint64_t{1} << seat % 64), std::memory_order_relaxed);
  }

 private:
  std::vector<std::atomic<uint64_t>> words_;
};

class Shares {
 public:
  // Where one participant helps; its own.
  struct Helped {
    size_t seat = Seat::none;
  };
  struct Piece {
    size_t seat = 0;
    uint64_t begin = 0;  // in the seat's share
    uint64_t end = 0;

    uint64_t size() const noexcept { return end - begin; }
  };

  explicit Shares(std::span<const Seat> seats);

  // The items from `begin` to `end`, in pieces of about `piece`. `owned` are work-groups that
  // belong to nodes: those go to the node's seats. Without them shares are for the seats of which
  // `isThere(seat)`, or for all where there are none. Not before all pieces of the last turn were
  // done with. Returns the turn. Without `owned` it does not throw.
  template <class IsThere>
  uint32_t fill(uint64_t begin, uint64_t end, uint64_t piece, std::span<const NodeGroups> owned,
                IsThere&& isThere) {
    there_.clear();
    for (size_t seat = 0; seat < seats_.size(); ++seat)
      if (isThere(seat)) there_.push_back(seat);
    return fill(begin, end, piece, owned);
  }

  // A piece of that turn's, of the share of the seat or of the one where most is left; none when
  // all of that were given. Thread-safe, also beside fill().
  std::optional<Piece> takeOwn(uint32_t turn, size_t seat) noexcept {
    return pieceOf(turn, seat, false);
  }
  std::optional<Piece> takeAnothers(uint32_t turn, size_t seat, Helped& helped) noexcept;
  // Has the seat a share of its own in this turn?
  bool isTaker(size_t seat) const noexcept { return takers_.contains(seat); }
  // So many items of a share were done. True for the last ones of the turn: everything that others
  // did before they said so has happened. Thread-safe.
  bool done(size_t seat, uint64_t items) noexcept;
  // How many pieces were not given yet, of whichever turn it is.
  uint64_t left() const noexcept;

  // visit(begin, end) for the items of a piece.
  template <class Visit>
  void forEachRun(const Piece& piece, Visit&& visit) const {
    if (!owned_) {
      const uint64_t begin = shares_[piece.seat].begin;
      return visit(begin + piece.begin, begin + piece.end);
    }
    for (const Run& run : runs_[piece.seat]) {
      const uint64_t first = std::max(piece.begin, run.at);
      const uint64_t last = std::min(piece.end, run.at + run.size());
      if (first < last) visit(run.begin + (first - run.at), run.begin + (last - run.at));
    }
  }

 private:
  struct Run {
    uint64_t at = 0;  // in the share
    uint64_t begin = 0;
    uint64_t end = 0;

    uint64_t size() const noexcept { return end - begin; }
  };
  // Alone on its cache lines: `left` is written by its seat's thread, and rarely by others. Filling
  // only writes there, since reading would mean to wait for each of these threads.
  struct alignas(128) Share {
    std::atomic<uint64_t> left{0};    // see Left
    std::atomic<uint64_t> undone{0};  // items
    uint64_t begin = 0;               // where all is one run
    uint64_t size = 0;
  };
  struct Planned {
    size_t seat = 0;
    uint64_t begin = 0;
    uint64_t size = 0;
  };
  uint32_t fill(uint64_t begin, uint64_t end, uint64_t piece, std::span<const NodeGroups> owned);
  void planEvenly(uint64_t begin, uint64_t end, uint64_t piece) noexcept;
  void planByOwners(uint64_t begin, uint64_t end, uint64_t piece,
                    std::span<const NodeGroups> owned);
  void add(size_t seat, uint64_t begin, uint64_t end);
  void deal(uint64_t begin, uint64_t end, size_t node);
  std::optional<Piece> pieceOf(uint32_t turn, size_t seat, bool last) noexcept;
  size_t fullest(uint32_t turn, size_t node) const noexcept;

  // Shares that are not done, of neighbouring seats, so that not all seats' threads end in one
  // line.
  struct alignas(128) Group {
    std::atomic<uint32_t> undone{0};
  };
  static constexpr size_t group_seats = 8;

  const std::vector<Seat> seats_;
  std::vector<Share> shares_;  // one a seat
  std::vector<Group> groups_;
  Group all_;  // groups that are not done
  std::vector<size_t> there_;
  std::vector<Planned> planned_;        // by seat
  std::vector<std::vector<Run>> runs_;  // one a seat, where work-groups belong to nodes
  bool owned_ = false;
  uint64_t piece_ = 1;
  SeatSet takers_;
  uint32_t turn_ = 0;
};

}  // namespace weft::cpu
