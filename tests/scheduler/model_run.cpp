#include "tests/scheduler/model_run.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>

#include "core/kernel.h"
#include "scheduler/enqueue.h"
#include "tests/scheduler/model_machine.h"

namespace weft::test::model {
namespace {

struct Hang : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Runner {
 public:
  explicit Runner(const Plan& plan)
      : plan_(plan),
        random_(plan.seed * 0x9e3779b97f4a7c15u + 1),
        machine_(makeMachine(plan)),
        made_(plan.calls.size()),
        events_(plan.calls.size()),
        pointers_(plan.calls.size()),
        sources_(plan.calls.size()) {
    result_.outcome.statuses.resize(plan.calls.size(), CL_COMPLETE);
    result_.outcome.host.resize(plan.calls.size());
    patience_ = 1 + unsigned(random_() % 6);
    if (plan.options.failures) failing_percent_ = unsigned(random_() % 12);
    makeObjects();
    program_ = machine_->program();
  }

  Runner(const Plan& plan, Choices& choices, int failures) : Runner(plan) {
    choices_ = &choices;
    failures_left_ = failures;
  }

  RunResult run() {
    try {
      if (choices_)
        runChosen();
      else if (plan_.options.threads == 1)
        runAlone();
      else
        runThreads();
      drain();
      collect();
    } catch (const Hang& hang) {
      giveUp(hang.what());
    }
    checkDevices();
    return std::move(result_);
  }

 private:
  void makeObjects() {
    for (const QueuePlan& queue : plan_.queues)
      queues_.push_back(make<Queue>(Ref<Context>(&machine_->context()),
                                    Ref<Device>(&machine_->device(queue.device)),
                                    queue.out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0,
                                    std::vector<cl_queue_properties>{}));
    for (size_t i = 0; i < plan_.objects.size(); ++i) {
      const ObjectPlan& object = plan_.objects[i];
      if (object.root != int(i)) {
        objects_.push_back(
            make<Buffer>(objects_[object.root], CL_MEM_READ_WRITE, object.origin, object.size));
        continue;
      }
      auto& bytes = host_pointers_.emplace_back(object.size);
      for (size_t b = 0; b < object.size; ++b) bytes[b] = initialData(int(i), b);
      const cl_mem_flags flags[] = {0, CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR};
      const bool none = object.contents == Contents::undefined;
      objects_.push_back(
          make<Buffer>(Ref<Context>(&machine_->context()), flags[int(object.contents)], object.size,
                       none ? nullptr : bytes.data(), std::vector<cl_mem_properties>{}));
    }
  }

  // Does what happens on the devices happen when this object says so?
  bool manual() const { return plan_.options.machine == MachineKind::fake; }

  // --- the device's side ---
  // Something happens on some device; false when nothing can.
  bool pump() {
    if (!manual()) return false;
    const uint64_t choice = random_();
    const size_t count = plan_.devices.size();
    // Sometimes what has ended is told later, perhaps after what was waiting for it on a device.
    const Reach reach = choice % 8 == 0   ? Reach::start
                        : choice % 8 <= 2 ? Reach::run
                                          : Reach::finish;
    for (size_t i = 0; i < count; ++i) {
      FakeDevice& fake = *machine_->fake((choice / 8 + i) % count);
      const bool fails = reach != Reach::start && (choice >> 32) % 100 < failing_percent_;
      const size_t failed = fake.failures();
      if (!fake.finishAny(choice >> 16, fails ? CL_OUT_OF_RESOURCES : 0, reach)) continue;
      result_.outcome.failed_operations += fake.failures() - failed;
      return true;
    }
    return reach != Reach::finish && count > 0 && anyPending();
  }

  bool anyPending() {
    for (size_t d = 0; d < plan_.devices.size(); ++d)
      if (machine_->fake(d)->pending() != 0) return true;
    return false;
  }

  void mischief() {
    if (plan_.options.failures && random_() % 60 == 0) {
      machine_->fake(random_() % plan_.devices.size())->failAllocations(1);
      result_.outcome.failed_allocations = true;
    }
    for (uint64_t n = random_() % patience_; n > 0; --n) pump();
  }

  void drain() {
    while (pump()) {
    }
    if (manual()) return;
    for (const Ref<Event>& event : events_)
      if (event) event->wait();
  }

  // --- one schedule of all there are ---
  size_t able() const {
    size_t count = 0;
    for (size_t d = 0; d < plan_.devices.size(); ++d) count += machine_->fake(d)->able();
    return count;
  }
  bool failsNow() {
    if (failures_left_ == 0 || choices_->choose(2) == 0) return false;
    --failures_left_;
    return true;
  }
  // Of those that may end, the one of that number does.
  void finishChosen(size_t index) {
    size_t device = 0;
    while (index >= machine_->fake(device)->able()) index -= machine_->fake(device++)->able();
    const bool fails = failsNow();
    machine_->fake(device)->finishAny(index, fails ? CL_OUT_OF_RESOURCES : 0);
    result_.outcome.failed_operations += fails;
  }
  void runChosen() {
    for (size_t i = 0; i < plan_.calls.size(); ++i) {
      // The last calls read the results, from commands that have ended.
      const bool last = plan_.calls[i].blocking;
      while (const size_t count = able()) {
        const size_t next = choices_->choose(count + !last);
        if (next == count) break;
        finishChosen(next);
      }
      if (!last && plan_.calls[i].movesData() && failsNow()) {
        machine_->fake(size_t(plan_.queues[plan_.calls[i].queue].device))->failAllocations(1);
        result_.outcome.failed_allocations = true;
      }
      call(int(i));
    }
  }

  void runAlone() {
    for (size_t i = 0; i < plan_.calls.size(); ++i) {
      call(int(i));
      mischief();
    }
  }

  void runThreads() {
    std::atomic<int> running{plan_.options.threads};
    std::vector<std::thread> threads;
    for (int t = 0; t < plan_.options.threads; ++t)
      threads.emplace_back([this, t, &running] {
        for (size_t i = 0; i < plan_.calls.size(); ++i)
          if (plan_.calls[i].thread == t) call(int(i));
        --running;
      });
    using Clock = std::chrono::steady_clock;
    auto last = Clock::now();
    while (running > 0) {
      if (pump()) {
        last = Clock::now();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (Clock::now() - last < std::chrono::seconds(120)) continue;
      std::fprintf(stderr, "hang\n%s", describe(plan_).c_str());
      std::abort();
    }
    for (auto& thread : threads) thread.join();
  }

  // --- the host's side ---
  void await(Event& event) {
    if (plan_.options.threads > 1 || !manual()) {
      event.wait();
      return;
    }
    while (choices_ && !event.done()) {
      const size_t count = able();
      if (count == 0) throw Hang("an event never completes");
      finishChosen(choices_->choose(count));
    }
    while (!event.done())
      if (!pump()) throw Hang("an event never completes");
  }

  void call(int index) {
    const Call& call = plan_.calls[index];
    for (const int other : call.after) awaitMade(other);
    for (const int other : call.waits) awaitMade(other);
    if (call.hasEvent())
      enqueue(index, call);
    else
      hostCall(call);
    made_[index].store(true, std::memory_order_release);
  }

  void awaitMade(int other) {
    while (!made_[other].load(std::memory_order_acquire)) std::this_thread::yield();
  }

  void hostCall(const Call& call) {
    switch (call.kind) {
      case Kind::set_user_event: {
        auto& user = static_cast<UserEvent&>(*events_[call.target]);
        if (call.status <= 0) user.setStatus(call.status);
        Ref<UserEvent>(&user).detach()->releaseHandle();
        return;
      }
      case Kind::wait:
        return await(*events_[call.target]);
      case Kind::finish:
        if (plan_.options.threads == 1 && manual()) await(*enqueueMarker(*queues_[call.queue], {}));
        return queues_[call.queue]->finish();
      case Kind::release_object:
        return objects_[call.to.object].detach()->releaseHandle();
      default:
        return queues_[call.queue].detach()->releaseHandle();
    }
  }

  void enqueue(int index, const Call& call) {
    std::vector<Ref<Event>> waits;
    for (const int wait : call.waits) waits.push_back(events_[wait]);
    prepareHost(index, call);
    events_[index] = issue(index, call, waits);
    if (call.blocking) await(*events_[index]);
    if (call.kind == Kind::map && events_[index]->status() == CL_COMPLETE) useMap(index, call);
  }

  void prepareHost(int index, const Call& call) {
    if (!call.movesData() || (call.to.object >= 0 && call.from.object >= 0)) return;
    const size_t bytes = hostBytes(plan_, call);
    if (call.to.object < 0 || call.kind == Kind::map)
      result_.outcome.host[index].assign(bytes, untouched);
    sources_[index].resize(bytes);
    for (size_t b = 0; b < bytes; ++b) sources_[index][b] = hostData(index, b);
  }

  void useMap(int index, const Call& call) {
    auto* const bytes = static_cast<uint8_t*>(pointers_[index]);
    const size_t size = call.region[0];
    const bool invalidates = call.flags & CL_MAP_WRITE_INVALIDATE_REGION;
    if (!invalidates) std::copy_n(bytes, size, result_.outcome.host[index].begin());
    if (call.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
      for (size_t i = 0; i < size; i += invalidates ? 1 : 2) bytes[i] = hostData(index, i);
  }

  static RectLayout layout(const Side& side) { return {{side.base, 0, 0}, side.row, side.slice}; }

  Buffer& buffer(const Side& side) { return *objects_[side.object]; }

  Ref<Event> issue(int index, const Call& call, WaitList waits) {
    if (call.kind == Kind::user_event) return make<UserEvent>(Ref<Context>(&machine_->context()));
    Queue& queue = *queues_[call.queue];
    auto& in = result_.outcome.host[index];
    const auto& out = sources_[index];
    const size_t bytes = call.region[0];
    const Side &to = call.to, &from = call.from;
    switch (call.kind) {
      case Kind::kernel:
        return launch(queue, call, waits);
      case Kind::copy:
        return enqueueCopy(queue, buffer(from), buffer(to), from.base, to.base, bytes, waits);
      case Kind::copy_rect:
        return enqueueCopyRect(queue, buffer(from), buffer(to), layout(from), layout(to),
                               call.region, waits);
      case Kind::fill:
        return enqueueFill(queue, buffer(to), out.data(), call.modulo, to.base, bytes, waits);
      case Kind::read:
        return enqueueRead(queue, buffer(from), from.base, bytes, in.data(), waits);
      case Kind::read_rect:
        return enqueueReadRect(queue, buffer(from), layout(from), layout(to), call.region,
                               in.data(), waits);
      case Kind::write:
        return enqueueWrite(queue, buffer(to), to.base, bytes, out.data(), waits);
      case Kind::write_rect:
        return enqueueWriteRect(queue, buffer(to), layout(to), layout(from), call.region,
                                out.data(), waits);
      case Kind::map: {
        Mapped mapped = enqueueMap(queue, buffer(to), call.flags, to.base, bytes, waits);
        pointers_[index] = mapped.pointer;
        return mapped.event;
      }
      case Kind::unmap:
        return enqueueUnmap(queue, buffer(to), pointers_[call.target], waits);
      case Kind::migrate: {
        MemObject* const object = objects_[to.object].get();
        return enqueueMigrate(queue, {&object, 1}, call.flags, waits);
      }
      case Kind::marker:
        return enqueueMarker(queue, waits);
      default:
        return enqueueBarrier(queue, waits);
    }
  }

  Ref<Event> launch(Queue& queue, const Call& call, WaitList waits) {
    const bool in_place = call.to.object == call.from.object;
    const auto kernel = make<Kernel>(program_, in_place ? "update" : "combine");
    const cl_mem to = buffer(call.to).handle(), from = buffer(call.from).handle();
    kernel->setArgument(0, sizeof to, &to);
    kernel->setArgument(1, sizeof from, &from);
    const uint64_t values[] = {call.to.base,   call.to.step,    call.from.base, call.from.step,
                               call.region[0], call.multiplier, call.addend};
    for (cl_uint i = 0; i < std::size(values); ++i)
      kernel->setArgument(2 + i, sizeof values[i], &values[i]);
    const size_t global = 1;
    NDRange range;
    range.global = &global;
    Ref<Event> event = enqueueLaunch(queue, *kernel, range, waits);
    Ref<Kernel>(kernel).detach()->releaseHandle();
    return event;
  }

  // --- afterwards ---
  void collect() {
    for (size_t i = 0; i < plan_.calls.size(); ++i)
      if (events_[i]) result_.outcome.statuses[i] = events_[i]->status();
  }

  void giveUp(const char* what) {
    // Commands that wait for ever hold everything: nothing can be taken down.
    std::fprintf(stderr, "%s\n%s", what, describe(plan_).c_str());
    std::abort();
  }

  void checkDevices() {
    events_.clear();
    for (auto& queue : queues_)
      if (queue) queue.detach()->releaseHandle();
    for (auto& object : objects_)
      if (object) object.detach()->releaseHandle();
    program_ = nullptr;
    for (size_t d = 0; d < plan_.devices.size(); ++d) {
      if (!manual()) break;
      FakeDevice& fake = *machine_->fake(d);
      if (fake.violations() != 0) result_.wrong += "a device was misused; ";
      // What ended on a completing thread is destroyed by the reaper's.
      for (int i = 0; fake.allocatedBytes() != 0 && i < 300'000; ++i)
        std::this_thread::sleep_for(std::chrono::microseconds(i < 100 ? 10 : 200));
      if (fake.allocatedBytes() != 0) result_.wrong += "device memory leaks; ";
    }
  }

  const Plan& plan_;
  std::mt19937_64 random_;
  Choices* choices_ = nullptr;
  int failures_left_ = 0;
  unsigned patience_ = 1;
  unsigned failing_percent_ = 0;
  std::unique_ptr<Machine> machine_;
  std::vector<std::vector<uint8_t>> host_pointers_;
  std::vector<Ref<Queue>> queues_;
  std::vector<Ref<Buffer>> objects_;
  Ref<Program> program_;
  std::vector<std::atomic<bool>> made_;
  std::vector<Ref<Event>> events_;
  std::vector<void*> pointers_;
  std::vector<std::vector<uint8_t>> sources_;
  RunResult result_;
};

}  // namespace

RunResult run(const Plan& plan) { return Runner(plan).run(); }

RunResult run(const Plan& plan, Choices& choices, int failures) {
  return Runner(plan, choices, failures).run();
}

}  // namespace weft::test::model
