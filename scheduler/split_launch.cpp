#include "scheduler/split_launch.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string_view>

#include "core/guarded.h"
#include "core/reaper.h"
#include "partition/policy.h"
#include "partition/split.h"
#include "profiling/clock.h"
#include "profiling/store.h"
#include "scheduler/launch_command.h"

namespace weft {
namespace {

using partition::Slice;
using profiling::DeviceKey;
using profiling::KernelKey;
using profiling::PerformanceStore;

constexpr uint64_t most_blocks = 64;
constexpr double slice_ns = 10'000;  // of handing out a part, until it was measured
constexpr double trusted = 0.3;      // confidence of a prediction
constexpr double home_tolerance = 0.02;
constexpr size_t flush_at = 64;  // measurements

// WEFT_UNIFIED_SPLIT: for tests and measurements.
struct Setting {
  enum class Mode : uint8_t { guided, never, always, random } mode = Mode::guided;
  uint64_t seed = 0;

  static Setting read() {
    const char* const text = std::getenv("WEFT_UNIFIED_SPLIT");
    const std::string_view value = text ? text : "";
    if (value == "never") return {Mode::never, 0};
    if (value == "always") return {Mode::always, 0};
    if (!value.starts_with("random")) return {};
    Setting setting{Mode::random, 1};
    if (const size_t colon = value.find(':'); colon != value.npos)
      std::from_chars(value.data() + colon + 1, value.data() + value.size(), setting.seed);
    return setting;
  }
};

// What all unified devices of the process know. Never destroyed: parts may end at any time.
struct Knowledge {
  Setting setting = Setting::read();
  PerformanceStore store{profiling::storeDirectory()};
  // The shares of a kernel's last launch.
  Guarded<std::map<KernelKey, std::vector<uint64_t>>> homes;
  Guarded<std::mt19937_64> random{setting.seed};

  static Knowledge& get() {
    static Knowledge* const instance = new Knowledge;
    return *instance;
  }
};

// Nanoseconds of a work-item, of a kernel that nobody has measured.
double estimatedItemTime(const port::Capabilities& device) {
  constexpr double on_cpu_unit = 10, on_gpu_unit = 1;
  const bool gpu = device.device_class == port::DeviceClass::gpu;
  return (gpu ? on_gpu_unit : on_cpu_unit) / static_cast<double>(device.compute_units);
}

DeviceKey keyOf(const Device& device) {
  constexpr char digits[] = "0123456789abcdef";
  const port::Capabilities& capabilities = device.capabilities();
  std::string uuid;
  for (const uint8_t byte : capabilities.uuid) {
    uuid += digits[byte >> 4];
    uuid += digits[byte & 15];
  }
  // Parts of a device have its number.
  return {uuid + '/' + std::to_string(capabilities.compute_units), capabilities.driver_version};
}

KernelKey keyOf(const DeviceKernel& kernel, const port::LaunchRecord& record) {
  std::string local;
  for (const uint64_t size : record.local_size)
    local.append(local.empty() ? "" : "x").append(std::to_string(size));
  return {kernel.build->code_id + ' ' + kernel.info().name, kernel.build->options, local};
}

std::vector<partition::BoundArgument> bind(const ArgumentSet& arguments) {
  std::vector<partition::BoundArgument> bound(arguments.values.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const ArgumentValue& value = arguments.values[i];
    bound[i].shared_memory = value.svm != nullptr;
    if (const MemObject* object = value.memory.get()) {
      bound[i] = {&object->storage(), object->origin(), object->size(), object->kernelMayWrite(),
                  false};
      // Whatever memory it is the application's view of, all members see it at once.
      bound[i].shared_memory = object->usesSvm();
    }
  }
  return bound;
}

// One launch, from the decision to divide it to the end of its last part. Shared by the command and
// its parts.
class Division {
 public:
  Division(Queue& queue, const DeviceKernel& kernel, Ref<ArgumentSet> arguments,
           const port::LaunchRecord& record)
      : device_(queue.device()),
        build_(kernel.build),
        index_(kernel.index),
        arguments_(std::move(arguments)),
        record_(record),
        key_(keyOf(kernel, record)),
        split_(kernel.info(), record_, arguments_->values, bind(*arguments_), most_blocks) {
    for (size_t i = 0; i < build_->members.size(); ++i) {
      const DeviceBuild::MemberCode& code = build_->members[i];
      const auto index = code.module ? code.image->find(kernel.info().name) : std::nullopt;
      if (index) members_.push_back({device_.members()[i].get(), code.module.get(), *index});
    }
  }

  // Somebody who can run parts of it: a device, and the kernel there.
  struct Member {
    Device* device;
    port::Module* module;
    uint32_t kernel;
  };

  // False: one device should run all of it.
  bool decide();

  const partition::Split& split() const { return split_; }
  const std::shared_ptr<const DeviceBuild>& build() const { return build_; }
  uint32_t kernel() const { return index_; }
  const Ref<ArgumentSet>& arguments() const { return arguments_; }
  const port::LaunchRecord& record() const { return record_; }
  const Member& member(size_t index) const { return members_[index]; }
  size_t members() const { return members_.size(); }

  std::optional<Slice> next(size_t member) {
    return policy_->next(member, static_cast<double>(profiling::now() - begun_), 0);
  }
  void finished(size_t member, const Slice& slice, uint64_t nanoseconds);

 private:
  double itemsPerBlock() const;
  std::vector<partition::MemberModel> models(bool& known);

  Device& device_;
  std::shared_ptr<const DeviceBuild> build_;
  uint32_t index_;
  Ref<ArgumentSet> arguments_;
  port::LaunchRecord record_;
  KernelKey key_;
  partition::Split split_;
  std::vector<Member> members_;
  std::unique_ptr<partition::Policy> policy_;
  uint64_t begun_ = profiling::now();
};

double Division::itemsPerBlock() const {
  double items = 1;
  for (const uint64_t size : record_.global_size) items *= static_cast<double>(size);
  return items / static_cast<double>(split_.blocks());
}

std::vector<partition::MemberModel> Division::models(bool& known) {
  const double share = static_cast<double>(split_.blocks()) / static_cast<double>(members());
  std::vector<partition::MemberModel> result(members());
  for (size_t i = 0; i < result.size(); ++i) {
    partition::MemberModel& model = result[i];
    model.slice_ns = slice_ns;
    const auto items = static_cast<uint64_t>(std::max(share * itemsPerBlock(), 1.0));
    const Device& device = *members_[i].device;
    const auto time = Knowledge::get().store.kernelTime(key_, keyOf(device), items);
    model.measured = time && time->confidence > trusted;
    known &= model.measured;
    if (time) {
      model.unit_ns = time->nanoseconds / share;
      model.spread = time->spread;
    } else {
      model.unit_ns = estimatedItemTime(device.capabilities()) * itemsPerBlock();
    }
  }
  return result;
}

bool Division::decide() {
  using Mode = Setting::Mode;
  Knowledge& knowledge = Knowledge::get();
  const Mode mode = knowledge.setting.mode;
  if (mode == Mode::never || members() < 2 || split_.splitClass() != partition::SplitClass::exact)
    return false;
  const uint64_t blocks = split_.blocks();
  if (mode == Mode::random) {
    std::vector<double> weights(members());
    auto random = knowledge.random.lock();
    for (double& weight : weights) weight = static_cast<double>((*random)() % 1000 + 1);
    policy_ = partition::staticPolicy(partition::apportion(weights, blocks));
    return true;
  }
  bool known = true;
  std::vector<partition::MemberModel> models = this->models(known);
  // What nobody has measured yet is divided in order to measure it.
  const bool always = mode == Mode::always || !known;
  const partition::SplitMargin none{-1e9, 0};
  partition::Plan plan = partition::plan(models, blocks, always ? none : partition::SplitMargin{});
  if (!plan.split()) return false;
  auto homes = knowledge.homes.lock();
  std::vector<uint64_t>& home = (*homes)[key_];
  home = partition::keepHomes(home, std::move(plan.shares), home_tolerance);
  policy_ = partition::guidedPolicy(std::move(models), home);
  return true;
}

void Division::finished(size_t member, const Slice& slice, uint64_t nanoseconds) {
  const auto time = static_cast<double>(nanoseconds);
  policy_->finished(member, slice, static_cast<double>(profiling::now() - begun_), time);
  const double items = itemsPerBlock() * static_cast<double>(slice.count());
  Knowledge::get().store.recordKernel(key_, keyOf(*members_[member].device),
                                      static_cast<uint64_t>(std::max(items, 1.0)), time);
}

class SplitLaunch;

// A run of blocks on one member.
class Part final : public LaunchCommand {
 public:
  Part(SplitLaunch& whole, std::shared_ptr<Division> division, Queue& queue, cl_command_type type,
       size_t member, const Slice& slice)
      : LaunchCommand(queue, type, division->build(), division->kernel(), division->arguments(),
                      division->record()),
        whole_(&whole),
        division_(std::move(division)),
        member_(member),
        slice_(slice) {
    runOn(*division_->member(member).device);
  }

  void begin() { releaseGuard(); }

 private:
  void accesses(AccessList& list) override;
  port::GroupBox box() const override { return division_->split().box(slice_); }
  Code code() const override {
    const Division::Member& member = division_->member(member_);
    return {*member.module, member.kernel};
  }
  void finalize(cl_int status) noexcept override;

  Ref<SplitLaunch> whole_;
  std::shared_ptr<Division> division_;
  size_t member_;
  Slice slice_;
};

class SplitLaunch final : public Command {
 public:
  SplitLaunch(Queue& queue, cl_command_type type, std::shared_ptr<Division> division)
      : Command(queue, type), division_(std::move(division)) {
    state_.lock()->begin = ~uint64_t{0};
  }

  // A part has ended, but not yet been counted down.
  void ended(size_t member, const Slice& slice, cl_int status, uint64_t begin, uint64_t end,
             const std::shared_ptr<Division>& division) noexcept;

 private:
  struct State {
    cl_int failure = CL_SUCCESS;
    uint64_t begin = 0, end = 0;
    bool handed_out = false;
  };

  void ready() noexcept override;
  void accesses(AccessList& list) override;
  void finalize(cl_int) noexcept override { division_ = nullptr; }
  Part* nextPart(State& state, size_t member, const std::shared_ptr<Division>& division) noexcept;

  std::shared_ptr<Division> division_;
  Guarded<State> state_;  // and the policy, and this node's edges
};

void Part::accesses(AccessList& list) {
  std::vector<partition::PartAccess> touched;
  division_->split().accesses(slice_, touched);
  const auto& values = arguments().values;
  for (const partition::PartAccess& access : touched)
    list.push_back({values[access.argument].memory.get(), access.begin, access.end, access.reads,
                    access.writes});
  // The part has the addresses of all, so their memory may not go meanwhile.
  for (const ArgumentValue& value : values)
    if (MemObject* object = value.memory.get();
        object && std::none_of(list.begin(), list.end(),
                               [&](const Access& access) { return access.object == object; }))
      list.push_back({object, object->origin(), object->origin() + 1, false, false});
}

void Part::finalize(cl_int status) noexcept {
  LaunchCommand::finalize(status);
  whole_->ended(member_, slice_, status, times_.started.load(std::memory_order_relaxed),
                times_.ended.load(std::memory_order_relaxed), division_);
  division_ = nullptr;
}

// What others have to know of that would read it ahead of time. The parts say what they read.
void SplitLaunch::accesses(AccessList& list) {
  std::vector<partition::PartAccess> touched;
  division_->split().accesses({0, division_->split().blocks()}, touched);
  for (const partition::PartAccess& access : touched)
    if (access.writes)
      list.push_back({division_->arguments()->values[access.argument].memory.get(), access.begin,
                      access.end, false, true});
}

// Called with the dependencies gone, and again when all parts have ended.
void SplitLaunch::ready() noexcept {
  const RuntimeScope scope;
  std::vector<Part*> parts;
  bool over = false;
  state_.with([&](State& state) {
    over = std::exchange(state.handed_out, true);
    if (over) return;
    holdAgain();
    for (size_t member = 0; member < division_->members(); ++member)
      if (Part* part = nextPart(state, member, division_)) parts.push_back(part);
  });
  if (over) {
    const State state = *state_.lock();
    times_.started.store(std::min(state.begin, state.end), std::memory_order_relaxed);
    times_.ended.store(state.end, std::memory_order_relaxed);
    return complete(state.failure);
  }
  times_.submitted.store(profiling::now(), std::memory_order_relaxed);
  advance(CL_SUBMITTED);
  advance(CL_RUNNING);
  for (Part* part : parts) part->begin();
  releaseGuard();
}

Part* SplitLaunch::nextPart(State& state, size_t member,
                            const std::shared_ptr<Division>& division) noexcept {
  if (state.failure < 0) return nullptr;
  try {
    const auto slice = division->next(member);
    if (!slice) return nullptr;
    // The graph's reference, which it gives up when it completes.
    Part* const part = new Part(*this, division, *queue(), type(), member, *slice);
    waitFor(*part, false);
    return part;
  } catch (const Error& error) {
    state.failure = error.code();
  } catch (...) {
    state.failure = CL_OUT_OF_HOST_MEMORY;
  }
  return nullptr;
}

// Who is done makes work for all who have none: a speed that was found out may be news to them.
void SplitLaunch::ended(size_t member, const Slice& slice, cl_int status, uint64_t begin,
                        uint64_t end, const std::shared_ptr<Division>& division) noexcept {
  Part* next = nullptr;
  state_.with([&](State& state) {
    state.begin = std::min(state.begin, begin);
    state.end = std::max(state.end, end);
    if (status < 0 && state.failure == CL_SUCCESS) state.failure = status;
    if (status >= 0) division->finished(member, slice, end - begin);
    next = nextPart(state, member, division);
  });
  if (next) next->begin();
}

}  // namespace

Ref<Event> enqueueSplit(WaitList waits, Queue& queue, cl_command_type type,
                        const DeviceKernel& kernel, const Ref<ArgumentSet>& arguments,
                        const port::LaunchRecord& record) {
  auto division = std::make_shared<Division>(queue, kernel, arguments, record);
  if (!division->decide()) return nullptr;
  if (Knowledge::get().store.pending() >= flush_at)
    queue.context().platform().background().run([] { keepMeasurements(); });
  return enqueueCommand<SplitLaunch>(waits, queue, type, std::move(division));
}

void keepMeasurements() noexcept {
  try {
    Knowledge::get().store.flush();
  } catch (const std::bad_alloc&) {  // they are measured again
  }
}

}  // namespace weft
