#include "scheduler/replay.h"

#include <algorithm>
#include <optional>

#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/enqueued_replay.h"
#include "scheduler/knowledge.h"
#include "scheduler/next_step.h"
#include "scheduler/state.h"
#include "scheduler/tracing.h"

namespace weft {
namespace {

// Of a kernel that is through, when what it enqueued was given up.
constexpr port::OperationStatus given_up = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

}  // namespace

// A recorded command. Its counts are set anew for each run.
struct Replay::Node final : port::Operation {
  Replay* replay = nullptr;
  uint32_t index = 0;
  std::atomic<uint32_t> pending{0};
  Node* next_ended = nullptr;
  RecordedWork::Room room;

  bool isEmpty() const { return std::holds_alternative<std::monostate>(work); }
  void started(port::Nanoseconds when) noexcept override { replay->started(when); }
  void finished(port::OperationStatus status, port::Nanoseconds start,
                port::Nanoseconds end) noexcept override {
    replay->finished(*this, status, start, end);
  }
};

Replay::Replay(const Recording& recording)
    : recording_(recording), nodes_(std::make_unique<Node[]>(recording.size())) {
  for (uint32_t i = 0; i < recording.size(); ++i) {
    nodes_[i].replay = this;
    nodes_[i].index = i;
  }
}

Replay::~Replay() = default;

bool Replay::prepare(Device& device, uint64_t evictions) {
  if (prepared_ && evictions == evictions_) return operations_ > 0;
  prepared_ = false;
  device_ = &device;
  operations_ = 0;
  for (uint32_t i = 0; i < recording_.size(); ++i) {
    Node& node = nodes_[i];
    node.work = {};
    if (const RecordedWork* work = recording_.work(i)) node.work = work->make(device, node.room);
    if (!node.isEmpty()) ++operations_;
  }
  prepared_ = true;
  evictions_ = evictions;
  return operations_ > 0;
}

void Replay::noteMoves(const Device& device) {
  for (const uint32_t i : recording_.usersOfSvm())
    recording_.work(i)->noteMoves(device, nodes_[i].work, nodes_[i].room);
}

void Replay::run(const Event& command, port::Operation& whole, port::Stream& stream,
                 bool in_order) noexcept {
  command_ = &command;
  whole_ = &whole;
  stream_ = &stream;
  in_order_ = in_order;
  begun_.store(false, std::memory_order_relaxed);
  failure_.store(0, std::memory_order_relaxed);
  skipped_.store(false, std::memory_order_relaxed);
  first_start_.store(~port::Nanoseconds{0}, std::memory_order_relaxed);
  last_end_.store(0, std::memory_order_relaxed);
  for (uint32_t i = 0; i < recording_.size(); ++i) {
    nodes_[i].timed = whole.timed;
    nodes_[i].wants_start = whole.wants_start;
    nodes_[i].observed = true;
  }
  if (in_order)
    submitAll();
  else
    submitRoots();
}

// The stream keeps their order, which is one that the edges allow. With the last one the replay may
// be over.
void Replay::submitAll() noexcept {
  port::Stream& stream = *stream_;
  uint32_t left = operations_;
  remaining_.store(left, std::memory_order_relaxed);
  for (Node* node = nodes_.get(); left > 0; ++node) {
    if (node->isEmpty()) continue;
    --left;
    node->observed = left == 0 && whole_->observed;
    stream.submit(*node);
  }
}

void Replay::submitRoots() noexcept {
  const uint32_t size = recording_.size();
  remaining_.store(size + 1, std::memory_order_relaxed);  // one for this function
  for (uint32_t i = 0; i < size; ++i)
    nodes_[i].pending.store(recording_.dependencies(i), std::memory_order_relaxed);
  for (uint32_t i = 0; i < size; ++i) {
    if (recording_.dependencies(i) > 0) continue;
    if (nodes_[i].isEmpty())
      end(nodes_[i]);
    else
      stream_->submit(nodes_[i]);
  }
  arrive(1);
}

void Replay::started(port::Nanoseconds when) noexcept {
  if (begun_.load(std::memory_order_relaxed)) return;
  if (!begun_.exchange(true, std::memory_order_relaxed)) whole_->started(when);
}

void Replay::finished(Node& node, port::OperationStatus status, port::Nanoseconds start,
                      port::Nanoseconds ended) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (tracing::on()) record(node, status, start, ended);
  noteFailure(status);
  for (auto seen = first_start_.load(relaxed); start < seen;)
    if (first_start_.compare_exchange_weak(seen, start, relaxed)) break;
  for (auto seen = last_end_.load(relaxed); ended > seen;)
    if (last_end_.compare_exchange_weak(seen, ended, relaxed)) break;
  if (in_order_)
    arrive(1);
  else
    end(node);
}

void Replay::record(const Node& node, port::OperationStatus status, port::Nanoseconds start,
                    port::Nanoseconds ended) const noexcept {
  const RecordedWork& work = *recording_.work(node.index);
  tracing::CommandRecord record;
  record.command = tracing::idOf(&node);
  record.parent = tracing::idOf(command_);
  record.queue = tracing::idOf(command_->queue());
  record.device = tracing::idOf(tracing::workerOf(device_));
  record.queued = command_->times().submitted.load(std::memory_order_relaxed);
  record.submitted = record.queued;
  record.started = start;
  record.ended = ended;
  record.completed = profiling::now();
  record.type = work.type();
  record.status = status < 0 ? status : CL_COMPLETE;
  tracing::describe(node.work, record);
  try {
    tracing::write(record, work.what());
  } catch (const std::bad_alloc&) {  // there is no memory for its name
    tracing::write(record, {});
  }
}

// The first that is more than what was given up.
void Replay::noteFailure(port::OperationStatus status) noexcept {
  if (status >= 0) return;
  port::OperationStatus known = 0;
  if (failure_.compare_exchange_strong(known, status, std::memory_order_relaxed)) return;
  if (known == given_up) failure_.compare_exchange_strong(known, status, std::memory_order_relaxed);
}

bool Replay::wasOnlyGivenUp() const noexcept {
  return failure_.load(std::memory_order_relaxed) == given_up &&
         !skipped_.load(std::memory_order_relaxed);
}

// Goes on with what waited for `first`. What follows a failure does not run.
void Replay::end(Node& first) noexcept {
  first.next_ended = nullptr;
  uint32_t count = 0;
  for (Node* list = &first; list; ++count) {
    const uint32_t index = list->index;
    list = list->next_ended;
    for (const uint32_t successor : recording_.successors(index)) {
      Node& next = nodes_[successor];
      if (next.pending.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      const bool failed = failure_.load(std::memory_order_relaxed) < 0;
      if (failed && !next.isEmpty()) skipped_.store(true, std::memory_order_relaxed);
      if (next.isEmpty() || failed) {
        next.next_ended = list;
        list = &next;
      } else {
        stream_->submit(next);
      }
    }
  }
  arrive(count);
}

void Replay::arrive(uint32_t count) noexcept {
  if (remaining_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
  constexpr auto relaxed = std::memory_order_relaxed;
  whole_->finished(failure_.load(relaxed), first_start_.load(relaxed), last_end_.load(relaxed));
}

namespace {

// Of what takes several commands: if one fails all is lost that any of them writes, unless nothing
// has begun by then.
class Execution final : public Object {
 public:
  explicit Execution(Recordings recordings) : recordings_(std::move(recordings)) {}

  void begin() noexcept { begun_.store(true, std::memory_order_relaxed); }
  // One of its commands ends so, before anybody who is ordered behind the last one is submitted.
  void fail(const Context& context) noexcept {
    if (begun_.load(std::memory_order_relaxed) && !lost_.exchange(true, std::memory_order_relaxed))
      loseWrites(context, recordings_);
  }

 private:
  const Recordings recordings_;
  std::atomic<bool> begun_{false}, lost_{false};
};

// What the application enqueued may be several recordings, and one of them becomes several where
// there turns out to be less memory than it needs.
class ReplayCommand final : public NextStep {
 public:
  // Of a recording that another command was to run, which waits for this one: on an inner queue,
  // and under its ticket, if it had any.
  struct InPlaceOf {
    std::optional<uint64_t> ticket;
  };
  // What it is one of, if that is all there is to do: null. The last one knows how all have ended.
  struct Part {
    Ref<Execution> whole;
    bool last = true;
  };

  ReplayCommand(Queue& queue, Ref<Recording> recording, Part part, Ref<Event> previous,
                std::optional<InPlaceOf> other)
      : NextStep(queue, khr::command_command_buffer, std::move(previous)),
        recording_(std::move(recording)),
        part_(std::move(part)),
        other_(other),
        tells_of_all_(part_.whole && part_.last) {}

 private:
  void ready() noexcept override;
  bool hasAnotherWay(cl_int failure) noexcept override {
    return failure == CL_MEM_OBJECT_ALLOCATION_FAILURE && recording_->cut();
  }
  void goAnotherWay(std::optional<uint64_t> ticket) noexcept override;
  std::optional<uint64_t> inheritedTicket() const override {
    return other_ ? other_->ticket : std::nullopt;
  }
  void accesses(AccessList& list) override { list = recording_->accesses(); }
  // Whoever comes behind may take what any of the parts wrote. Others ask until this has ended.
  bool isDeviceWork() const override { return !tells_of_all_.load(std::memory_order_relaxed); }
  bool isOneOperation() const override { return false; }
  bool ranDespite(cl_int status) const override {
    return status == given_up && replay_ && replay_->wasOnlyGivenUp();
  }

  void prepare() override {
    const State& state = State::of(context());
    const Device* const owner = state.owner(space());
    const uint64_t evictions = owner ? State::of(context()).counters(*owner).evictions.load() : 0;
    replay_ = recording_->takeReplay();
    // Stands for the operations: submitTo() hands over those.
    if (!replay_->prepare(queue()->device(), evictions)) return;
    replay_->noteMoves(queue()->device());
    work = port::HostCall{};
  }
  void submitTo(port::Stream& stream) noexcept override {
    begun_ = true;
    if (part_.whole) part_.whole->begin();
    replay_->run(*this, *this, stream, !queue()->outOfOrder());
  }

  void finalize(cl_int status) noexcept override {
    const bool ran = status == CL_COMPLETE || (begun_ && ranDespite(status));
    if (part_.whole && !all_enqueued_ && !ran) part_.whole->fail(context());
    part_.whole = nullptr;
    NextStep::finalize(status);
    if (replay_) recording_->giveBack(std::move(replay_));
    recording_ = nullptr;
    last_piece_ = nullptr;
  }

  Ref<Recording> recording_;
  Part part_;
  std::optional<InPlaceOf> other_;
  std::atomic<bool> tells_of_all_;  // how all parts of the whole have ended
  std::unique_ptr<Replay> replay_;
  bool begun_ = false;
  bool in_pieces_ = false;
  bool all_enqueued_ = false;  // and tell of their failures
  Ref<Event> last_piece_;
};

// Enqueues the recordings, or the pieces that they were cut into, one after the other.
class InTurn {
 public:
  // `execution`: of what these are a part of, if anything.
  InTurn(Queue& queue, Ref<Execution> execution, std::optional<ReplayCommand::InPlaceOf> other)
      : queue_(queue), execution_(std::move(execution)), other_(other) {}

  void enqueue(const Recordings& recordings, WaitList waits) {
    Recordings all;
    gather(recordings, all);
    if (!execution_ && all.size() > 1) execution_ = make<Execution>(recordings);
    for (const Ref<Recording>& recording : all) {
      const WaitList before = last_ ? WaitList(&last_, 1) : waits;
      last_ = enqueueCommand<ReplayCommand>(
          before, queue_, recording, ReplayCommand::Part{execution_, &recording == &all.back()},
          last_, other_);
    }
  }
  // False: there is no memory for all of them.
  bool tryToEnqueue(const Recordings& recordings) noexcept {
    try {
      enqueue(recordings, {});
      return true;
    } catch (...) {
      return false;
    }
  }
  // So far.
  const Ref<Event>& last() const { return last_; }

 private:
  static void gather(const Recordings& recordings, Recordings& all) {
    for (const Ref<Recording>& recording : recordings)
      if (const Recordings pieces = recording->pieces(); pieces.empty())
        all.push_back(recording);
      else
        gather(pieces, all);
  }

  Queue& queue_;
  Ref<Execution> execution_;
  std::optional<ReplayCommand::InPlaceOf> other_;
  Ref<Event> last_;
};

// Again when the pieces have ended.
void ReplayCommand::ready() noexcept {
  if (!in_pieces_) return NextStep::ready();
  const RuntimeScope scope;
  constexpr auto relaxed = std::memory_order_relaxed;
  if (last_piece_) {
    times_.started.store(last_piece_->times().started.load(relaxed), relaxed);
    times_.ended.store(last_piece_->times().ended.load(relaxed), relaxed);
  }
  complete(all_enqueued_ ? last_piece_->status() : CL_OUT_OF_HOST_MEMORY);
}

void ReplayCommand::goAnotherWay(std::optional<uint64_t> ticket) noexcept {
  in_pieces_ = true;
  times_.submitted.store(profiling::now(), std::memory_order_relaxed);
  advance(CL_SUBMITTED);
  advance(CL_RUNNING);
  holdAgain();
  try {
    const Ref<Queue> inner = other_ ? Ref<Queue>(queue()) : queue()->inner();
    if (!part_.whole) part_.whole = make<Execution>(Recordings{recording_});
    tells_of_all_.store(part_.last, std::memory_order_relaxed);
    InTurn pieces(*inner, part_.whole, InPlaceOf{ticket});
    all_enqueued_ = pieces.tryToEnqueue(recording_->pieces());
    last_piece_ = pieces.last();
    if (last_piece_) waitFor(*last_piece_, false);
  } catch (...) {  // there is no memory for that
  }
  releaseGuard();
}

}  // namespace

Ref<Event> enqueueRecordings(Queue& queue, const Recordings& recordings, WaitList waits) {
  const auto has_families = [&](const Ref<Recording>& recording) {
    return recording->hasFamilies(queue.device());
  };
  if (balances(queue) || std::ranges::any_of(recordings, has_families))
    return enqueueReplayOfCommands(queue, recordings, waits);
  InTurn commands(queue, nullptr, std::nullopt);
  commands.enqueue(recordings, waits);
  return commands.last();
}

}  // namespace weft
