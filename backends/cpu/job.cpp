#include "backends/cpu/job.h"

#include <array>

#include "backends/cpu/clock.h"
#include "backends/cpu/executor.h"
#include "backends/cpu/stream.h"

namespace weft::cpu {
namespace {

// Who has a piece of that length is back before anybody misses him.
constexpr port::Nanoseconds brief_ns = 10'000;

}  // namespace

// Of a launch whose participants have copies: what they made of those counts before their pieces
// do. By seats, so that most participants have to tell once.
class Job::Untold {
 public:
  bool isEmpty() const noexcept { return seats_ == 0; }
  bool isFull() const noexcept { return seats_ == shares_.size(); }
  void add(const Shares::Piece& piece) noexcept {
    size_t i = 0;
    while (i < seats_ && shares_[i].seat != piece.seat) ++i;
    if (i == seats_) shares_[seats_++] = {piece.seat, 0};
    shares_[i].items += piece.size();
  }
  // True for the last ones of the turn.
  bool tell(Shares& shares) noexcept {
    bool last = false;
    while (seats_ != 0) {
      const Share& share = shares_[--seats_];
      last = shares.done(share.seat, share.items);
    }
    return last;
  }

 private:
  struct Share {
    size_t seat = 0;
    uint64_t items = 0;
  };
  std::array<Share, 16> shares_;
  size_t seats_ = 0;
};

uint32_t Job::begin(bool launch, StreamCore& stream, port::Operation& operation,
                    port::Nanoseconds start, const Cut& cut, std::span<const NodeGroups> owned) {
  status_.store(0, std::memory_order_relaxed);
  ends_left_.store(2, std::memory_order_relaxed);
  launch_ = launch;
  stream_.store(&stream, std::memory_order_relaxed);
  stack_bytes_.store(launch ? frame.stackBytes() : 0, std::memory_order_relaxed);
  in_order_ = stream.order == port::Order::in_order;
  operation_ = &operation;
  start_ = start;
  piece_ = cut.piece;
  piece_ns_ = cut.piece_ns;
  expected_ns_ = std::max(0.0, piece_ns_) * double(cut.end - cut.begin) / double(piece_);
  chained_ = cut.chained;
  copies_ = cut.copies;
  const uint32_t turn = shares_.fill(cut.begin, cut.end, cut.piece, owned, [&](size_t seat) {
    return cut.there && (seat == cut.own || cut.there->contains(seat));
  });
  state_.store(uint64_t{turn} << 1, std::memory_order_release);
  return turn;
}

std::optional<uint32_t> Job::turn() const noexcept {
  const uint64_t state = state_.load(std::memory_order_acquire);
  return state & 1 ? std::nullopt : std::optional(uint32_t(state >> 1));
}

std::optional<uint32_t> Job::turnFor(const StreamCore& stream) const noexcept {
  const auto before = turn();
  const bool is = before && stream_.load(std::memory_order_acquire) == &stream &&
                  isForGuests(stack_bytes_.load(std::memory_order_acquire));
  return is && turn() == before ? before : std::nullopt;
}

void Job::takePart(uint32_t turn, Runner& runner, size_t seat) noexcept {
  setKernelFloatState();
  Shares::Helped helped;
  std::optional<OwnCopies> copies;
  Untold untold;
  bool counted = false, any = false;
  const auto tell = [&] {
    copies->combine();
    if (!untold.tell(shares_)) return false;
    finish(turn, runner);
    return true;
  };
  for (;;) {
    auto piece = shares_.takeOwn(turn, seat);
    if (!piece && this->turn() == turn) piece = shares_.takeAnothers(turn, seat, helped);
    if (!piece) {
      if (untold.isEmpty() || !tell()) executor_.wakeForMore(close(turn));
      break;
    }
    if (launch_) frame.fetch();
    const bool unknown = piece_ns_ < 0;
    // Of those who linger many come at once, to be back in a moment: only who stays is counted.
    if (!counted && (!runner.lingering || any || unknown || piece_ns_ > double(brief_ns))) {
      executor_.stopLingering(runner);
      participants_.fetch_add(1, std::memory_order_relaxed);
      counted = true;
      executor_.callHelpers(*this, turn);
    }
    if (!any && copies_) copies.emplace(combined, frame.arguments(), runner.scratch.copies, seat);
    run(*piece, runner, copies ? copies->arguments() : nullptr);
    // Now somebody knows.
    if (unknown && !any) executor_.callHelpers(*this, turn);
    any = true;
    // Whatever follows the last of them may be another turn already.
    if (copies) {
      untold.add(*piece);
      if (untold.isFull() && tell()) break;
    } else if (shares_.done(piece->seat, piece->size())) {
      finish(turn, runner);
      break;
    }
    if (runner.executor && executor_.wantsBack(*this)) break;
  }
  if (!untold.isEmpty()) tell();
  if (counted) participants_.fetch_sub(1, std::memory_order_relaxed);
}

// Found out by several, maybe, and by some of them in another turn. For the first: what all of it
// takes one thread, if it is one of a chain.
double Job::close(uint32_t turn) noexcept {
  uint64_t open = uint64_t{turn} << 1;
  if (state_.load(std::memory_order_relaxed) == open &&
      state_.compare_exchange_strong(open, open | 1, std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
    const double expected_ns = chained_ ? expected_ns_ : 0;
    executor_.withdraw(*this);  // then another turn may begin
    return expected_ns;
  }
  return 0;
}

void Job::run(const Shares::Piece& piece, Runner& runner, const void* const* arguments) noexcept {
  if (!launch_) {
    shares_.forEachRun(piece, [&](uint64_t from, uint64_t to) { transfer.run(from, to); });
    return;
  }
  const port::Nanoseconds start = now();
  port::OperationStatus status = 0;
  shares_.forEachRun(piece, [&](uint64_t from, uint64_t to) {
    if (status == 0) status = frame.run(from, to, runner.scratch, arguments);
  });
  // All participants would write it at once.
  const port::Nanoseconds elapsed = now() - start;
  if (elapsed > brief_ns || piece_ns_ < 0 || ++runner.brief_pieces % 7 == 0)
    frame.timing().record(elapsed, piece.size() * frame.itemsPerGroup());
  if (status != 0) status_.store(status, std::memory_order_relaxed);
}

void Job::finish(uint32_t turn, Runner& runner) noexcept {
  // That of an unordered operation will be gone. An in-order one goes on on this thread.
  StreamCore* const next = in_order_ ? stream() : nullptr;
  Executor& executor = executor_;
  if (next) next->fetchNext();
  runner.ends = runner.executor && !runner.spare;
  const Errands::Open errands(executor.errandsOf(runner));
  operation_->finished(status_.load(std::memory_order_relaxed), start_, now());
  close(turn);
  executor.letGo(*this);  // then it may begin something else
  if (next) executor.resume(*next);
  runner.ends = false;
}

}  // namespace weft::cpu
