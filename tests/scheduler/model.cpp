#include "tests/scheduler/model.h"

#include <CL/cl.h>

#include <algorithm>
#include <sstream>

namespace weft::test::model {
namespace {

const char* const kind_names[] = {"kernel",  "copy",           "copy_rect",      "fill",
                                  "read",    "read_rect",      "write",          "write_rect",
                                  "map",     "unmap",          "migrate",        "marker",
                                  "barrier", "user_event",     "set_user_event", "wait",
                                  "finish",  "release_object", "release_queue"};

size_t origin(const Plan& plan, const Side& side) {
  return side.object < 0 ? 0 : plan.objects[side.object].origin;
}

size_t span(const Call& call, const Side& side) {
  return (call.region[2] - 1) * side.slice + (call.region[1] - 1) * side.row +
         (call.region[0] - 1) * side.step + 1;
}

// One byte of the reference.
struct Byte {
  uint8_t value = 0;
  bool known = false;
  bool lost = false;
  bool doubtful = false;  // as it was, or lost
};
using Root = std::vector<Byte>;

class Reference {
 public:
  Reference(const Plan& plan, const Outcome& outcome) : plan_(plan), outcome_(outcome) {
    for (size_t i = 0; i < plan.objects.size(); ++i) {
      Root& root = roots_.emplace_back(root_bytes);
      if (plan.objects[i].contents == Contents::undefined) continue;
      for (size_t b = 0; b < root_bytes; ++b) root[b] = {initialData(int(i), b), true, false};
    }
  }

  std::string run() {
    for (size_t i = 0; i < plan_.calls.size() && !wrong_; ++i) step(int(i));
    if (!wrong_ && !plan_.options.failures && outcome_.failed_operations != 0)
      complain(0) << "failures where none were asked for";
    return message_.str();
  }

 private:
  Root& root(const Side& side) { return roots_[plan_.objects[side.object].root]; }
  bool transfersFailed() const { return outcome_.failed_operations > own_failures_; }

  std::ostream& complain(int call) {
    wrong_ = true;
    return message_ << "call " << call << " (" << kind_names[int(plan_.calls[call].kind)] << "): ";
  }

  bool readsLost(const Call& call) { return readsWhat(call, &Byte::lost); }
  bool readsWhat(const Call& call, bool Byte::* property) {
    const auto lost = [&](const Side& side) {
      if (side.object < 0) return false;
      const Bits bits = claimed(plan_, call, side);
      for (size_t b = 0; b < root_bytes; ++b)
        if (bits[b] && root(side)[b].*property) return true;
      return false;
    };
    if (call.kind == Kind::migrate) return !undefinesContents(call) && lost(call.to);
    if (call.kind == Kind::unmap) return false;
    return (call.movesData() && lost(call.from)) || (keepsBytes(call) && lost(call.to));
  }

  static bool undefinesContents(const Call& call) {
    return call.flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  }

  // Does the runtime have to keep bytes of the destination that the call may leave as they are?
  static bool keepsBytes(const Call& call) {
    if (call.to.object < 0) return false;
    if (call.kind == Kind::map) return !(call.flags & CL_MAP_WRITE_INVALIDATE_REGION);
    return call.kind == Kind::kernel;
  }

  void doubt(const Call& call) {
    const Bits bits = claimed(plan_, call, call.to);
    for (size_t b = 0; b < root_bytes; ++b)
      if (bits[b]) root(call.to)[b].doubtful = true;
  }

  // Every byte that the runtime takes the call to write.
  void overwrite(const Call& call, const Byte& byte) {
    const Bits bits = claimed(plan_, call, call.to);
    for (size_t b = 0; b < root_bytes; ++b)
      if (bits[b]) root(call.to)[b] = byte;
  }

  bool waitsFailed(const Call& call) const {
    return std::any_of(call.waits.begin(), call.waits.end(),
                       [&](int wait) { return outcome_.statuses[wait] < 0; });
  }

  // It was submitted ahead of the failure, perhaps.
  bool mayHaveRun(const Call& call) const {
    if (call.queue < 0 || call.to.object < 0 || !call.movesData()) return false;
    const QueuePlan& queue = plan_.queues[call.queue];
    return (!queue.out_of_order && runsAhead(queue.device)) || plan_.devices[queue.device].fences;
  }

  // A failed call: is its status the right one, and what is left of what it writes?
  void fail(int index, const Call& call, int status) {
    const bool excused = waitsFailed(call) || readsLost(call) || readsWhat(call, &Byte::doubtful) ||
                         transfersFailed();
    switch (status) {
      case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
        if (!excused) complain(index) << "failed though nothing it waits for did";
        if (mayHaveRun(call)) doubt(call);
        return;
      case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        if (!outcome_.failed_allocations) complain(index) << "no allocation failed";
        return;
      case CL_OUT_OF_RESOURCES:
      case CL_DEVICE_NOT_AVAILABLE:
        if (outcome_.failed_operations == 0) complain(index) << "failed by itself";
        if (waitsFailed(call)) complain(index) << "ran after what it waits for failed";
        if (call.to.object >= 0 && call.movesData()) overwrite(call, {0, false, true});
        return;
      default:
        complain(index) << "status " << status;
    }
  }

  void step(int index) {
    const Call& call = plan_.calls[index];
    if (call.kind == Kind::user_event || !call.hasEvent()) return;
    const int status = outcome_.statuses[index];
    if (status == CL_OUT_OF_RESOURCES || status == CL_DEVICE_NOT_AVAILABLE) ++own_failures_;
    if (status > CL_COMPLETE)
      complain(index) << "never completed";
    else if (status < 0)
      fail(index, call, status);
    else if (waitsFailed(call))
      complain(index) << "completed though something it waits for failed";
    else if (readsLost(call))
      complain(index) << "completed though bytes that it reads were lost";
    else
      apply(index, call);
  }

  void apply(int index, const Call& call) {
    if (call.kind == Kind::migrate && undefinesContents(call)) overwrite(call, {});
    if (!call.movesData()) return;
    if (call.kind == Kind::map) return applyMap(index, call);
    if (call.to.object < 0) return compareHost(index, call, call.from);
    const Root before = call.from.object >= 0 ? root(call.from) : Root{};
    for (const Move& move : moves(plan_, call)) {
      const Byte from =
          call.from.object >= 0 ? before[move.from] : Byte{hostData(index, move.from), true, false};
      const auto value = uint8_t(from.value * call.multiplier + call.addend);
      root(call.to)[move.to] = {value, from.known, false};
    }
  }

  // The host sees the region, then writes every other byte of it, or all when it asked for that.
  void applyMap(int index, const Call& call) {
    const bool invalidates = call.flags & CL_MAP_WRITE_INVALIDATE_REGION;
    if (!invalidates) compareHost(index, call, call.to);
    if (!(call.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))) return;
    const Window w = window(plan_, call, call.to);
    for (size_t i = 0; i < w.end - w.begin; i += invalidates ? 1 : 2)
      root(call.to)[w.begin + i] = {hostData(index, i), true, false};
  }

  void compareHost(int index, const Call& call, const Side& source) {
    const auto& seen = outcome_.host[index];
    std::vector<bool> touched(seen.size());
    for (const Move& move : moves(plan_, call)) {
      touched.at(move.to) = true;
      const Byte& expected = root(source)[move.from];
      if (!expected.known || seen[move.to] == expected.value) continue;
      complain(index) << "byte " << move.from << " of root " << plan_.objects[source.object].root
                      << " is " << int(seen[move.to]) << ", not " << int(expected.value);
      return;
    }
    for (size_t i = 0; i < seen.size(); ++i)
      if (!touched[i] && seen[i] != untouched) {
        complain(index) << "wrote host byte " << i;
        return;
      }
  }

  const Plan& plan_;
  const Outcome& outcome_;
  std::vector<Root> roots_;  // by object number; those of sub-buffers stay unused
  size_t own_failures_ = 0;
  bool wrong_ = false;
  std::ostringstream message_;
};

}  // namespace

std::vector<Move> moves(const Plan& plan, const Call& call) {
  std::vector<Move> list;
  const Side& from = call.kind == Kind::map ? call.to : call.from;
  const Side& to = call.kind == Kind::map ? call.from : call.to;
  const size_t to_origin = origin(plan, to) + to.base, from_origin = origin(plan, from) + from.base;
  for (size_t z = 0; z < call.region[2]; ++z)
    for (size_t y = 0; y < call.region[1]; ++y)
      for (size_t x = 0; x < call.region[0]; ++x) {
        const size_t source = x * from.step + y * from.row + z * from.slice;
        list.push_back({to_origin + x * to.step + y * to.row + z * to.slice,
                        from_origin + (call.modulo ? source % call.modulo : source)});
      }
  return list;
}

size_t hostBytes(const Plan& plan, const Call& call) {
  const Side& side = call.to.object < 0 ? call.to : call.from;
  return side.base + (call.modulo ? call.modulo : span(call, side)) + 0 * plan.calls.size();
}

uint8_t hostData(int call, size_t index) { return uint8_t(call * 37 + index * 11 + 5); }
uint8_t initialData(int object, size_t index) { return uint8_t(object * 53 + index * 3 + 1); }

Window window(const Plan& plan, const Call& call, const Side& side) {
  const ObjectPlan& object = plan.objects[side.object];
  if (call.kind == Kind::kernel || call.kind == Kind::migrate)
    return {object.origin, object.origin + object.size};
  return {object.origin + side.base, object.origin + side.base + span(call, side)};
}

Bits claimed(const Plan& plan, const Call& call, const Side& side) {
  Bits bits;
  if (call.kind == Kind::kernel || call.kind == Kind::migrate) {
    const Window w = window(plan, call, side);
    for (size_t b = w.begin; b < w.end; ++b) bits.set(b);
  } else {
    const bool to = &side == &call.to && call.kind != Kind::map;
    for (const Move& move : moves(plan, call)) bits.set(to ? move.to : move.from);
  }
  return bits;
}

std::string compare(const Plan& plan, const Outcome& outcome) {
  return Reference(plan, outcome).run();
}

std::string describe(const Plan& plan) {
  std::ostringstream out;
  out << "seed " << plan.seed << "\n";
  for (size_t i = 0; i < plan.devices.size(); ++i)
    out << "device " << i << " space " << plan.devices[i].space
        << (plan.devices[i].peers ? " peers" : "") << (plan.devices[i].fences ? " fences" : "")
        << " memory " << plan.devices[i].memory << "\n";
  for (size_t i = 0; i < plan.queues.size(); ++i)
    out << "queue " << i << " device " << plan.queues[i].device << " thread "
        << plan.queues[i].thread << (plan.queues[i].out_of_order ? " out of order\n" : "\n");
  for (size_t i = 0; i < plan.objects.size(); ++i)
    out << "object " << i << " root " << plan.objects[i].root << " [" << plan.objects[i].origin
        << ", +" << plan.objects[i].size << ") contents " << int(plan.objects[i].contents) << "\n";
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    const Call& c = plan.calls[i];
    out << "call " << i << " " << kind_names[int(c.kind)] << " thread " << c.thread << " queue "
        << c.queue << " to " << c.to.object << "+" << c.to.base << " from " << c.from.object << "+"
        << c.from.base << " region " << c.region[0] << "," << c.region[1] << "," << c.region[2]
        << " flags " << c.flags << " status " << c.status << " target " << c.target
        << (c.blocking ? " blocking" : "") << " waits";
    for (const int wait : c.waits) out << " " << wait;
    out << "\n";
  }
  return out.str();
}

}  // namespace weft::test::model
