#include "scheduler/recording.h"

#include <algorithm>
#include <map>
#include <set>

#include "scheduler/replay.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"

namespace weft {
namespace {

// What a sequence of commands does to an object's bytes, as if it were one command.
class TouchedBytes {
 public:
  explicit TouchedBytes(MemObject& object) : object_(&object) {}

  void add(const Access& access) {
    if (access.begin == access.end) return;
    size_t at = access.begin;
    split(access.begin);
    split(access.end);
    const size_t low = access.object->origin(), high = low + access.object->size();
    for (auto it = pieces_.lower_bound(at); at < access.end; ++it) {
      const size_t next = it == pieces_.end() ? access.end : std::min(it->first, access.end);
      if (at < next)
        it = pieces_.emplace_hint(it, at, Piece{next, access.reads, access.writes, low, high});
      else
        it->second.then(access, low, high);
      at = it->second.end;
    }
    if (pieces_.size() > many_) coarsen();
  }

  void appendTo(AccessList& list) const {
    for (const auto& [begin, piece] : pieces_) {
      if (!list.empty() && list.back().object == object_ && list.back().end == begin &&
          list.back().reads == piece.reads && list.back().writes == piece.writes)
        list.back().end = piece.end;
      else
        list.push_back({object_, begin, piece.end, piece.reads, piece.writes});
    }
  }

 private:
  // As an Access: writes without reads is all of it.
  struct Piece {
    size_t end;
    bool reads;
    bool writes;
    // What those are bound to that touch it: it may grow so far.
    size_t low;
    size_t high;

    // What was written first need not have been valid before, whoever reads it later.
    void then(const Access& access, size_t bound_low, size_t bound_high) {
      reads = reads || (access.reads && !writes);
      writes = writes || access.writes;
      low = std::min(low, bound_low);
      high = std::max(high, bound_high);
    }
  };
  static constexpr size_t most_pieces = 256;

  void split(size_t at) {
    auto it = pieces_.lower_bound(at);
    if (it == pieces_.begin()) return;
    --it;
    if (it->second.end <= at) return;
    Piece rest = it->second;
    it->second.end = at;
    pieces_.emplace(at, rest);
  }

  // What lies between two pieces is counted to them, and read, so that it stays as it is. But not
  // what nobody is bound to: that may be another sub-buffer's.
  void coarsen() {
    for (auto it = pieces_.begin(); std::next(it) != pieces_.end();) {
      const auto next = std::next(it);
      Piece &one = it->second, &other = next->second;
      if (one.high < other.low) {
        it = next;
        continue;
      }
      one = {other.end, true, one.writes || other.writes, std::min(one.low, other.low),
             std::max(one.high, other.high)};
      pieces_.erase(next);
    }
    many_ = std::max(most_pieces, 2 * pieces_.size());
  }

  MemObject* object_;
  std::map<size_t, Piece> pieces_;
  size_t many_ = most_pieces;  // it is worth trying to have fewer
};

AccessList accessesOf(std::span<const Ref<const RecordedWork>> works) {
  std::map<const Storage*, TouchedBytes> touched;
  AccessList list;
  for (const auto& work : works) {
    if (!work) continue;
    list.clear();
    work->accesses(list);
    // One object may be several arguments of a kernel, which reads what it then overwrites.
    std::ranges::stable_partition(list, &Access::reads);
    for (const Access& access : list)
      if (const Storage& storage = access.object->storage(); !storage.inPlace())
        touched.try_emplace(&storage, *access.object).first->second.add(access);
  }
  list.clear();
  for (const auto& [storage, bytes] : touched) bytes.appendTo(list);
  return list;
}

// Where to cut, so that what is used between two cuts is no more than `limit` bytes, if each
// command's own is not.
std::vector<size_t> cuts(std::span<const Ref<const RecordedWork>> works, uint64_t limit) {
  std::vector<size_t> result;
  std::set<const Storage*> used;
  uint64_t bytes = 0;
  AccessList list;
  for (size_t i = 0; i < works.size(); ++i) {
    if (!works[i]) continue;
    list.clear();
    works[i]->accesses(list);
    for (bool again : {true, false}) {
      for (const Access& access : list)
        if (const Storage& storage = access.object->storage();
            !storage.inPlace() && used.insert(&storage).second)
          bytes += storage.size();
      if (bytes <= limit || !again) break;
      if (i > 0) result.push_back(i);
      used.clear();
      bytes = 0;
    }
  }
  return result;
}

// Bytes of all that they use.
uint64_t bytesUsed(std::span<const Ref<const RecordedWork>> works) {
  std::set<const Storage*> used;
  uint64_t bytes = 0;
  AccessList list;
  for (const auto& work : works)
    if (work) work->accesses(list);
  for (const Access& access : list)
    if (const Storage& storage = access.object->storage();
        !storage.inPlace() && used.insert(&storage).second)
      bytes += storage.size();
  return bytes;
}

Recordings inPieces(std::span<const Ref<const RecordedWork>> works,
                    std::span<const RecordedEdge> edges, std::vector<size_t> ends,
                    bool several_spaces) {
  ends.push_back(works.size());
  Recordings recordings;
  size_t begin = 0;
  for (const size_t end : ends) {
    std::vector<RecordedEdge> inner;
    for (const auto& [from, to] : edges)
      if (from >= begin && to < end)
        inner.emplace_back(static_cast<uint32_t>(from - begin), static_cast<uint32_t>(to - begin));
    const auto part = works.subspan(begin, end - begin);
    recordings.push_back(make<Recording>(
        std::vector<Ref<const RecordedWork>>(part.begin(), part.end()), inner, several_spaces));
    begin = end;
  }
  return recordings;
}

}  // namespace

Recording::Recording(std::vector<Ref<const RecordedWork>> works,
                     std::span<const RecordedEdge> edges, bool several_spaces)
    : works_(std::move(works)),
      first_successor_(works_.size() + 1),
      successors_(edges.size()),
      dependencies_(works_.size()) {
  for (const auto& [from, to] : edges) {
    ++first_successor_[from + 1];
    ++dependencies_[to];
  }
  for (size_t i = 0; i < works_.size(); ++i) first_successor_[i + 1] += first_successor_[i];
  std::vector<uint32_t> next(first_successor_.begin(), first_successor_.end());
  for (const auto& [from, to] : edges) successors_[next[from]++] = to;
  if (several_spaces) accesses_ = accessesOf(works_);
  for (uint32_t i = 0; several_spaces && i < size(); ++i)
    if (works_[i] && works_[i]->usesSvm()) users_of_svm_.push_back(i);
  idle_.lock()->reserve(most_idle);
}

Recording::~Recording() = default;

bool Recording::hasFamilies(const Device& device) const {
  return std::ranges::any_of(
      works_, [&](const Ref<const RecordedWork>& work) { return work && work->isFamily(device); });
}

bool Recording::cut() noexcept {
  try {
    const auto pieces = pieces_.lock();
    if (!pieces->empty()) return true;
    const uint64_t all = bytesUsed(works_);
    uint64_t most = 0;  // of a command
    for (const auto& work : works_) most = std::max(most, bytesUsed({&work, 1}));
    if (most == all) return false;
    std::vector<RecordedEdge> edges;
    for (uint32_t i = 0; i < size(); ++i)
      for (const uint32_t successor : successors(i)) edges.emplace_back(i, successor);
    *pieces = inPieces(works_, edges, cuts(works_, std::max(all / 2, most)), true);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::unique_ptr<Replay> Recording::takeReplay() {
  {
    auto idle = idle_.lock();
    if (!idle->empty()) {
      auto replay = std::move(idle->back());
      idle->pop_back();
      return replay;
    }
  }
  return std::make_unique<Replay>(*this);
}

void Recording::giveBack(std::unique_ptr<Replay> replay) noexcept {
  auto idle = idle_.lock();
  if (idle->size() < most_idle) idle->push_back(std::move(replay));
}

void loseWrites(const Context& context, const Recordings& recordings) {
  const Claim nobody;
  State& state = State::of(context);
  const auto tickets = state.tickets().lock();
  state.noteLoss();
  for (const Ref<Recording>& recording : recordings)
    for (const Access& access : recording->accesses())
      if (access.writes)
        Residency::of(*access.object)
            .settle(access.begin, access.end, nobody, Residency::Result::lost);
}

Recordings makeRecordings(const Context& context, const Device& device,
                          std::span<const Ref<const RecordedWork>> works,
                          std::span<const RecordedEdge> edges) {
  const bool several = !context.singleSpace();
  std::vector<size_t> ends;
  if (several && device.capabilities().memory_space != port::host_space)
    ends = cuts(works, State::of(context).memoryFor(device));
  return inPieces(works, edges, std::move(ends), several);
}

}  // namespace weft
