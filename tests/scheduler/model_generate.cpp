// The generator of random programs.
#include <CL/cl.h>

#include <algorithm>
#include <random>

#include "tests/scheduler/model.h"

namespace weft::test::model {
namespace {

struct Touch {
  int root = -1;
  Bits reads, writes;

  bool meets(const Touch& b) const {
    return root == b.root && ((writes & (b.reads | b.writes)) | (reads & b.writes)).any();
  }
};

// What the generator remembers of a call.
struct Trace {
  CallSet before;  // calls that are complete when this one starts
  std::vector<Touch> touches;
  std::vector<Touch> mapped;  // of maps and unmaps, against each other: just the region
};

class Generator {
 public:
  Generator(uint64_t seed, const Options& options) : random_(seed) {
    plan_.seed = seed;
    plan_.options = options;
    chooseDevices();
    chooseObjects();
    known_.resize(options.threads);
  }

  Plan run() {
    const size_t steps = 8 + pick(56);
    for (size_t i = 0; i < steps && plan_.calls.size() + 72 < max_calls; ++i) step();
    while (!open_maps_.empty()) unmap(open_maps_.front());
    setUserEvents();
    for (size_t object = 0; object < plan_.objects.size(); ++object)
      if (isRoot(object) && !released_[object]) readBack(int(object));
    return std::move(plan_);
  }

 private:
  size_t pick(size_t n) { return random_() % n; }
  bool chance(unsigned percent) { return pick(100) < percent; }
  bool isRoot(size_t object) const { return plan_.objects[object].root == int(object); }

  void chooseDevices() {
    const int devices = 1 + int(pick(plan_.options.max_devices));
    const bool peers = chance(40);
    for (int d = 0; d < devices; ++d) {
      const bool shares = d > 0 && plan_.options.shared_spaces && chance(15);
      // Enough for what one command uses, or for everything.
      const size_t memory = shares       ? plan_.devices[d - 1].memory
                            : chance(35) ? 2 * root_bytes
                                         : size_t(1) << 20;
      plan_.devices.push_back({shares ? plan_.devices[d - 1].space : d, peers, memory, chance(70)});
    }
    for (int t = 0; t < plan_.options.threads; ++t) {
      const size_t queues = 1 + pick(4);
      for (size_t q = 0; q < queues; ++q)
        plan_.queues.push_back({int(pick(devices)), chance(50), t});
    }
    last_.resize(plan_.queues.size(), -1);
    barrier_.resize(plan_.queues.size());
    in_queue_.resize(plan_.queues.size());
    queue_released_.resize(plan_.queues.size());
  }

  void chooseObjects() {
    const size_t roots = 1 + pick(3);
    for (size_t r = 0; r < roots; ++r)
      plan_.objects.push_back({int(r), 0, root_bytes, static_cast<Contents>(pick(3))});
    const size_t subs = pick(5);
    for (size_t s = 0; s < subs; ++s) {
      const size_t begin =
          pick(root_bytes * 3 / 4) / plan_.options.alignment * plan_.options.alignment;
      const size_t size = 1 + pick(root_bytes - begin);
      plan_.objects.push_back({int(pick(roots)), begin, size, Contents::undefined});
    }
    released_.resize(plan_.objects.size());
  }

  int pickObject() {
    std::vector<int> alive;
    for (size_t i = 0; i < plan_.objects.size(); ++i)
      if (!released_[i]) alive.push_back(int(i));
    return alive[pick(alive.size())];
  }

  int pickQueue() {
    std::vector<int> alive;
    for (size_t i = 0; i < plan_.queues.size(); ++i)
      if (!queue_released_[i]) alive.push_back(int(i));
    return alive[pick(alive.size())];
  }

  const ObjectPlan& object(int index) const { return plan_.objects[index]; }

  void step() {
    struct Row {
      unsigned weight;
      void (Generator::*make)();
    };
    static constexpr Row rows[] = {
        {22, &Generator::kernel},   {10, &Generator::linearCopy},  {6, &Generator::rectangle},
        {10, &Generator::fill},     {8, &Generator::readOrWrite},  {8, &Generator::map},
        {6, &Generator::unmapSome}, {7, &Generator::migrate},      {6, &Generator::markerOrBarrier},
        {4, &Generator::userEvent}, {4, &Generator::setUserEvent}, {4, &Generator::hostWait},
        {3, &Generator::release},
    };
    auto at = unsigned(pick(98));
    for (const Row& row : rows) {
      if (at < row.weight) return (this->*row.make)();
      at -= row.weight;
    }
  }

  // --- what a call touches ---
  Touch touch(const Call& call, const Side& side, bool reads, bool writes) const {
    Touch t{object(side.object).root, {}, {}};
    Bits bits;
    if (plan_.options.failures || call.kind == Kind::migrate)
      bits = claimed(plan_, call, side);
    else
      for (const Move& move : moves(plan_, call)) bits.set(&side == &call.to ? move.to : move.from);
    if (reads) t.reads = bits;
    if (writes) t.writes = bits;
    return t;
  }

  // "... the application must ensure that the memory object is unmapped before any enqueued kernels
  // or commands that read from or write to this memory object or any of its associated memory
  // objects [...] begin execution": a mapping is one of the whole root to all but other mappings.
  Trace trace(const Call& call) const {
    Trace result;
    if (call.kind == Kind::map || call.kind == Kind::unmap) {
      const bool writes = call.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
      Touch all, region;
      all.root = region.root = object(call.to.object).root;
      const Window w = window(plan_, call, call.to);
      for (size_t b = w.begin; b < w.end; ++b) (writes ? region.writes : region.reads).set(b);
      (writes ? all.writes : all.reads).set();
      result.touches = {all};
      result.mapped = {region};
      return result;
    }
    if (call.kind == Kind::migrate) {
      const bool undefined = call.flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
      result.touches = {touch(call, call.to, !undefined, undefined)};
      return result;
    }
    if (!call.movesData()) return result;
    if (call.to.object >= 0) result.touches.push_back(touch(call, call.to, false, true));
    if (call.from.object >= 0) result.touches.push_back(touch(call, call.from, true, false));
    return result;
  }

  static bool conflict(const Trace& a, const Trace& b) {
    const bool maps = !a.mapped.empty() && !b.mapped.empty();
    const auto& x = maps ? a.mapped : a.touches;
    const auto& y = maps ? b.mapped : b.touches;
    return std::any_of(x.begin(), x.end(), [&](const Touch& t) {
      return std::any_of(y.begin(), y.end(), [&](const Touch& u) { return t.meets(u); });
    });
  }

  // --- putting calls into the plan ---
  int append(Call call, Trace trace) {
    plan_.calls.push_back(std::move(call));
    traces_.push_back(std::move(trace));
    return int(plan_.calls.size()) - 1;
  }

  // Something that only the host does.
  int host(Kind kind, int thread, int target = -1, int queue = -1) {
    Call call;
    call.kind = kind;
    call.thread = thread;
    call.target = target;
    call.queue = queue;
    if (target >= 0) call.after.push_back(target);
    return append(std::move(call), {});
  }

  // A command: orders it behind what it conflicts with.
  int enqueue(Call call) {
    if (call.kind != Kind::unmap) closeMaps(call);
    if (call.blocking) setUserEvents();
    if (call.queue < 0) call.queue = pickQueue();
    call.thread = plan_.queues[call.queue].thread;
    Trace t = trace(call);
    const auto conflicts = [&](int other) { return conflict(t, traces_[other]); };
    if (chance(10) && !plan_.calls.empty()) waitOnHost(call, conflicts);
    t.before = known_[call.thread] | queueOrder(call);
    const auto add = [&](int other) {
      call.waits.push_back(other);
      t.before |= traces_[other].before;
      t.before.set(other);
    };
    for (int i = int(plan_.calls.size()) - 1; i >= 0; --i)
      if (!t.before[i] && plan_.calls[i].hasEvent() && conflicts(i)) add(i);
    addWaits(call, t, add);
    std::shuffle(call.waits.begin(), call.waits.end(), random_);
    const Call copy = call;
    const int index = append(std::move(call), std::move(t));
    enqueued(copy, index);
    return index;
  }

  // Waits that order nothing that has to be ordered.
  template <class Add>
  void addWaits(const Call& call, const Trace& t, Add add) {
    const bool takes_none = call.kind == Kind::marker || call.kind == Kind::barrier;
    if (takes_none && chance(60)) return;
    for (const int event : pending_user_events_)
      if (!call.blocking && !t.before[event] && chance(15)) add(event);
    for (size_t n = pick(3); n > 0 && !plan_.calls.empty() && chance(40); --n) {
      const int other = int(pick(plan_.calls.size()));
      const bool gated = call.blocking && plan_.calls[other].kind == Kind::user_event;
      if (plan_.calls[other].hasEvent() && !gated &&
          std::find(call.waits.begin(), call.waits.end(), other) == call.waits.end())
        add(other);
    }
  }

  // What the queue itself promises.
  CallSet queueOrder(const Call& call) const {
    const int q = call.queue;
    if (plan_.queues[q].out_of_order) return barrier_[q];
    return last_[q] < 0 ? CallSet() : closed(last_[q]);
  }

  CallSet closed(int call) const {
    CallSet set = traces_[call].before;
    set.set(call);
    return set;
  }

  void enqueued(const Call& call, int index) {
    const int q = call.queue;
    const bool joins = call.kind == Kind::marker || call.kind == Kind::barrier;
    if (joins && call.waits.empty() && plan_.queues[q].out_of_order)
      traces_[index].before |= in_queue_[q];
    if (call.kind == Kind::barrier) barrier_[q] |= closed(index);
    last_[q] = index;
    in_queue_[q] |= closed(index);
    if (call.blocking) known_[call.thread] |= closed(index);
  }

  // Instead of a wait list.
  template <class Conflicts>
  void waitOnHost(const Call& call, Conflicts conflicts) {
    setUserEvents();
    for (int i = int(plan_.calls.size()) - 1, most = 6; i >= 0 && most > 0; --i) {
      if (!plan_.calls[i].hasEvent() || known_[call.thread][i] || !conflicts(i)) continue;
      host(Kind::wait, call.thread, i);
      --most;
      known_[call.thread] |= closed(i);
    }
  }

  // Nothing may touch an object that is mapped for writing, or write to a mapped one.
  void closeMaps(const Call& call) {
    const Trace t = trace(call);
    for (size_t i = 0; i < open_maps_.size();)
      if (conflict(t, traces_[open_maps_[i]]))
        unmap(open_maps_[i]);
      else
        ++i;
  }

  // --- the calls ---
  Side side(int index, size_t bytes) {
    Side s;
    s.object = index;
    s.base = pick(object(index).size - bytes + 1);
    return s;
  }

  bool disjoint(const Call& call) const {
    return !touch(call, call.to, false, true).meets(touch(call, call.from, true, false));
  }

  void kernel() {
    Call call;
    call.kind = Kind::kernel;
    const int to = pickObject(), from = chance(30) ? to : pickObject();
    const size_t step = 1 + pick(4), from_step = from == to ? step : 1 + pick(4);
    const size_t room =
        std::min((object(to).size - 1) / step, (object(from).size - 1) / from_step) + 1;
    const size_t count = 1 + pick(room);
    call.to = side(to, (count - 1) * step + 1);
    call.to.step = step;
    call.from = call.to;
    if (from != to) {
      call.from = side(from, (count - 1) * from_step + 1);
      call.from.step = from_step;
    }
    call.region = {count, 1, 1};
    call.multiplier = uint8_t(1 + 2 * pick(8));
    call.addend = uint8_t(random_());
    if (from == to || disjoint(call)) enqueue(std::move(call));
  }

  void linearCopy() {
    Call call;
    call.kind = Kind::copy;
    const int to = pickObject(), from = pickObject();
    const size_t bytes = 1 + pick(std::min(object(to).size, object(from).size));
    call.to = side(to, bytes);
    call.from = side(from, bytes);
    call.region = {bytes, 1, 1};
    if (disjoint(call)) enqueue(std::move(call));
  }

  // A side with room for the region at `pitches`; false when the object has none.
  bool rectSide(Side& s, int index, const std::array<size_t, 3>& region) {
    s.row = region[0] + pick(6);
    s.slice = s.row * region[1] + pick(3) * s.row;
    const size_t bytes = (region[2] - 1) * s.slice + (region[1] - 1) * s.row + region[0];
    if (index < 0) {
      s.base = pick(5);
      return true;
    }
    if (bytes > object(index).size) return false;
    s.object = index;
    s.base = pick(object(index).size - bytes + 1);
    return true;
  }

  void rectangle() {
    static constexpr Kind kinds[] = {Kind::copy_rect, Kind::read_rect, Kind::write_rect};
    Call call;
    call.kind = kinds[pick(3)];
    call.region = {1 + pick(9), 1 + pick(5), 1 + pick(3)};
    const int to = call.kind == Kind::read_rect ? -1 : pickObject();
    const int from = call.kind == Kind::write_rect ? -1 : pickObject();
    if (!rectSide(call.to, to, call.region) || !rectSide(call.from, from, call.region)) return;
    if (call.kind == Kind::copy_rect) {
      // The spans must not overlap even where the bytes do not.
      const Window a = window(plan_, call, call.to), b = window(plan_, call, call.from);
      const bool apart = a.end <= b.begin || b.end <= a.begin;
      if (object(to).root == object(from).root && !apart) return;
    }
    enqueue(std::move(call));
  }

  void fill() {
    Call call;
    call.kind = Kind::fill;
    const size_t pattern = size_t(1) << pick(4);
    const int to = pickObject();
    if (object(to).size < pattern || object(to).origin % pattern) return;
    const size_t patterns = object(to).size / pattern;
    const size_t count = 1 + pick(patterns);
    call.to.object = to;
    call.to.base = pick(patterns - count + 1) * pattern;
    call.region = {count * pattern, 1, 1};
    call.modulo = pattern;
    enqueue(std::move(call));
  }

  void readOrWrite() {
    Call call;
    const int index = pickObject();
    const size_t bytes = 1 + pick(object(index).size);
    call.kind = chance(50) ? Kind::read : Kind::write;
    (call.kind == Kind::read ? call.from : call.to) = side(index, bytes);
    call.region = {bytes, 1, 1};
    call.blocking = chance(15);
    enqueue(std::move(call));
  }

  void map() {
    static constexpr uint64_t flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION};
    Call call;
    call.kind = Kind::map;
    const int index = pickObject();
    const size_t bytes = 1 + pick(object(index).size);
    call.to = side(index, bytes);
    call.region = {bytes, 1, 1};
    call.flags = flags[pick(4)];
    call.blocking = true;
    open_maps_.push_back(enqueue(std::move(call)));
  }

  void unmap(int mapping) {
    open_maps_.erase(std::find(open_maps_.begin(), open_maps_.end(), mapping));
    Call call = plan_.calls[mapping];
    call.kind = Kind::unmap;
    call.queue = -1;
    call.blocking = false;
    call.waits.clear();
    call.target = mapping;
    call.after = {mapping};
    enqueue(std::move(call));
  }

  void unmapSome() {
    if (!open_maps_.empty()) unmap(open_maps_[pick(open_maps_.size())]);
  }

  void migrate() {
    Call call;
    call.kind = Kind::migrate;
    call.to.object = pickObject();
    if (chance(30)) call.flags |= CL_MIGRATE_MEM_OBJECT_HOST;
    if (chance(15)) call.flags |= CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    enqueue(std::move(call));
  }

  void markerOrBarrier() {
    Call call;
    call.kind = chance(50) ? Kind::marker : Kind::barrier;
    enqueue(std::move(call));
  }

  void userEvent() {
    if (pending_user_events_.size() >= 4) return;
    pending_user_events_.push_back(host(Kind::user_event, int(pick(plan_.options.threads))));
  }

  void setUserEvent() {
    if (pending_user_events_.empty()) return;
    const size_t which = pick(pending_user_events_.size());
    const int event = pending_user_events_[which];
    pending_user_events_.erase(pending_user_events_.begin() + ptrdiff_t(which));
    const int set = host(Kind::set_user_event, int(pick(plan_.options.threads)), event);
    if (plan_.options.failures && chance(30)) plan_.calls[set].status = chance(20) ? 1 : -1001;
  }

  void setUserEvents() {
    while (!pending_user_events_.empty()) setUserEvent();
  }

  void hostWait() {
    const int q = pickQueue();
    setUserEvents();
    const int thread = plan_.queues[q].thread;
    host(Kind::finish, thread, -1, q);
    known_[thread] |= in_queue_[q];
  }

  // An object or a queue is given up by the host while commands may still use it.
  void release() {
    const bool queue = chance(40);
    const int which = queue ? pickQueue() : pickObject();
    const auto gone = queue ? std::count(queue_released_.begin(), queue_released_.end(), true)
                            : std::count(released_.begin(), released_.end(), true);
    if (gone + 1 >= std::ssize(queue ? queue_released_ : released_)) return;
    if (!queue) {
      const bool mapped = std::any_of(open_maps_.begin(), open_maps_.end(),
                                      [&](int map) { return plan_.calls[map].to.object == which; });
      if (mapped) return;
    }
    (queue ? queue_released_ : released_)[which] = true;
    Call call;
    call.kind = queue ? Kind::release_queue : Kind::release_object;
    call.queue = which;
    call.to.object = which;
    call.thread = queue ? plan_.queues[which].thread : int(pick(plan_.options.threads));
    for (size_t i = 0; i < plan_.calls.size(); ++i) {
      const Call& c = plan_.calls[i];
      if (queue ? c.queue == which : c.to.object == which || c.from.object == which)
        call.after.push_back(int(i));
    }
    append(std::move(call), {});
  }

  void readBack(int index) {
    Call call;
    call.kind = Kind::read;
    call.from.object = index;
    call.region[0] = root_bytes;
    call.blocking = true;
    enqueue(std::move(call));
  }

  std::mt19937_64 random_;
  Plan plan_;
  std::vector<Trace> traces_;
  std::vector<CallSet> known_;  // by thread: calls it knows to be complete
  std::vector<int> last_;       // by queue
  std::vector<CallSet> barrier_, in_queue_;
  std::vector<bool> released_, queue_released_;
  std::vector<int> open_maps_, pending_user_events_;
};

}  // namespace

Plan generate(uint64_t seed, const Options& options) { return Generator(seed, options).run(); }

}  // namespace weft::test::model
