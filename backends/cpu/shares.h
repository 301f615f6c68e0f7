// Hands out an operation's work in pieces, by the seats of a device's workers.
//
// Each seat has a share of neighbouring items, the same one every time an operation of that size
// comes along: what a launch leaves in a core's caches is there for the next one. Whoever is done
// with the share of its seat helps where most is left, from the far end. Taking a piece is one
// atomic operation on a cache line of the seat's own.
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

  // The items from `begin` to `end`, in pieces of at most `piece`. `owned` are work-groups that
  // belong to nodes: those go to the node's seats. Not while somebody takes. Returns the number of
  // pieces. Without `owned` it does not throw.
  uint64_t fill(uint64_t begin, uint64_t end, uint64_t piece, std::span<const NodeGroups> owned);

  // A piece for whoever sits there; none when all were given. Thread-safe.
  std::optional<Piece> take(size_t seat, Helped& helped) noexcept;

  // visit(begin, end) for the items of a piece.
  template <class Visit>
  void forEachRun(const Piece& piece, Visit&& visit) const {
    for (const Run& run : shares_[piece.seat].runs) {
      const uint64_t length = run.end - run.begin;
      const uint64_t first = std::max(piece.begin, run.at);
      const uint64_t last = std::min(piece.end, run.at + length);
      if (first < last) visit(run.begin + (first - run.at), run.begin + (last - run.at));
    }
  }

 private:
  struct Run {
    uint64_t at = 0;  // in the share
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  // Alone on its cache lines: `left` is written by its seat's thread, and rarely by others.
  struct alignas(128) Share {
    std::atomic<uint64_t> left{0};  // pieces: the first one, and the end in the upper half
    uint64_t size = 0;
    std::vector<Run> runs;

    void add(uint64_t begin, uint64_t end);
  };
  void deal(uint64_t begin, uint64_t end, size_t node);
  std::optional<Piece> pieceOf(size_t seat, bool last) noexcept;
  size_t fullest(size_t node) const noexcept;

  const std::vector<Seat> seats_;
  std::vector<Share> shares_;  // one a seat
  uint64_t piece_ = 1;
};

}  // namespace weft::cpu
