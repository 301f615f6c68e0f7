#include "scheduler/division.h"

#include <algorithm>
#include <numeric>

#include "profiling/clock.h"
#include "scheduler/knowledge.h"
#include "scheduler/residency.h"

namespace weft {
namespace {

using partition::Slice;
using profiling::KernelKey;

constexpr uint64_t most_blocks = 64;
constexpr double slice_ns = 10'000;  // of handing out a part, until it was measured
constexpr double trusted = 0.3;      // confidence of a prediction
constexpr double home_tolerance = 0.02;

// Nanoseconds of a work-item, of a kernel that nobody has measured.
double estimatedItemTime(const port::Capabilities& device) {
  constexpr double on_cpu_unit = 10, on_gpu_unit = 1;
  const bool gpu = device.device_class == port::DeviceClass::gpu;
  return (gpu ? on_gpu_unit : on_cpu_unit) / static_cast<double>(device.compute_units);
}

// Of a link that nobody has measured.
double estimatedTransferTime(uint64_t bytes) {
  constexpr double fixed = 10'000, bytes_per_ns = 10;
  return fixed + static_cast<double>(bytes) / bytes_per_ns;
}

double transferTime(const Device* source, const Device* target, uint64_t bytes) {
  const auto time = Knowledge::get().store.transferTime(linkBetween(source, target), bytes);
  return time ? time->nanoseconds : estimatedTransferTime(bytes);
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

// What parts read of one argument.
struct Reads {
  uint64_t of_blocks = 0;  // each block's bytes added up
  std::vector<std::pair<size_t, size_t>> ranges;

  void join() {
    std::sort(ranges.begin(), ranges.end());
    size_t last = 0;
    for (size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].first <= ranges[last].second)
        ranges[last].second = std::max(ranges[last].second, ranges[i].second);
      else
        ranges[++last] = ranges[i];
    }
    if (!ranges.empty()) ranges.resize(last + 1);
  }
  uint64_t bytes() const {
    return std::accumulate(
        ranges.begin(), ranges.end(), uint64_t{0},
        [](uint64_t sum, const auto& range) { return sum + range.second - range.first; });
  }
};

}  // namespace

Division::Division(Queue& queue, const DeviceKernel& kernel, Ref<ArgumentSet> arguments,
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
    if (index) members_.push_back({{device_.members()[i].get(), code.module.get(), *index}});
  }
}

bool Division::possible() const {
  return Knowledge::get().setting.mode != SplitSetting::Mode::never && members() > 1 &&
         split_.splitClass() == partition::SplitClass::exact;
}

double Division::itemsPerBlock() const {
  double items = 1;
  for (const uint64_t size : record_.global_size) items *= static_cast<double>(size);
  return items / static_cast<double>(split_.blocks());
}

// Bytes that all blocks read have to be there before the first part begins; those of one block move
// with it. Where a member has had a home, only what is missing there counts.
void Division::predictTransfers(partition::MemberModel& model, const Device& device,
                                const Slice& home) const {
  const port::MemorySpace space = device.capabilities().memory_space;
  std::vector<Reads> reads(arguments_->values.size());
  std::vector<partition::PartAccess> touched;
  for (uint64_t block = home.begin; block < home.end; ++block) {
    touched.clear();
    split_.accesses({block, block + 1}, touched);
    for (const partition::PartAccess& access : touched) {
      if (!access.reads) continue;
      reads[access.argument].of_blocks += access.end - access.begin;
      reads[access.argument].ranges.emplace_back(access.begin, access.end);
    }
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    if (reads[i].ranges.empty()) continue;
    reads[i].join();
    const bool shared = 2 * reads[i].of_blocks > 3 * reads[i].bytes();
    double time = 0;
    for (const auto& [source, bytes] :
         missingBytes(*arguments_->values[i].memory, reads[i].ranges, space))
      time += transferTime(source, &device, bytes);
    if (shared)
      model.start_ns += time;
    else
      model.transfer_ns += time / static_cast<double>(home.count());
  }
}

std::vector<partition::MemberModel> Division::models(std::span<const uint64_t> homes,
                                                     bool& known) const {
  const uint64_t blocks = split_.blocks();
  const double share = static_cast<double>(blocks) / static_cast<double>(members());
  const auto items = static_cast<uint64_t>(std::max(share * itemsPerBlock(), 1.0));
  std::vector<partition::MemberModel> result(members());
  uint64_t begin = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    partition::MemberModel& model = result[i];
    const Device& device = *member(i).device;
    model.slice_ns = slice_ns;
    const auto time = Knowledge::get().store.kernelTime(key_, weft::keyOf(device), items);
    model.measured = time && time->confidence > trusted;
    known &= model.measured;
    if (time) {
      model.unit_ns = time->nanoseconds / share;
      model.spread = time->spread;
    } else {
      model.unit_ns = estimatedItemTime(device.capabilities()) * itemsPerBlock();
    }
    const bool has_home = homes.size() == result.size() && homes[i] > 0;
    predictTransfers(model, device, has_home ? Slice{begin, begin + homes[i]} : Slice{0, blocks});
    if (has_home) begin += homes[i];
  }
  return result;
}

void Division::plan() {
  using Mode = SplitSetting::Mode;
  Knowledge& knowledge = Knowledge::get();
  const Mode mode = knowledge.setting.mode;
  const uint64_t blocks = split_.blocks();
  begun_ = profiling::now();
  if (mode == Mode::random) {
    std::vector<double> weights(members());
    auto random = knowledge.random.lock();
    for (double& weight : weights) weight = static_cast<double>((*random)() % 1000 + 1);
    policy_ = partition::staticPolicy(partition::apportion(weights, blocks));
    return;
  }
  const std::vector<uint64_t> before =
      knowledge.homes.with([&](auto& homes) { return homes[key_]; });
  bool known = true;
  std::vector<partition::MemberModel> models = this->models(before, known);
  // What nobody has measured yet is divided in order to measure it.
  const bool always = mode == Mode::always || !known;
  const partition::SplitMargin none{-1e9, 0};
  partition::Plan plan = partition::plan(models, blocks, always ? none : partition::SplitMargin{});
  std::vector<uint64_t> home = partition::keepHomes(before, std::move(plan.shares), home_tolerance);
  knowledge.homes.with([&](auto& homes) { homes[key_] = home; });
  policy_ = partition::guidedPolicy(std::move(models), home);
}

// While one part runs the bytes of the next one move, for those who have a memory of their own.
std::optional<Slice> Division::next(size_t index) {
  State& state = members_[index];
  const bool moves = state.member.device->capabilities().memory_space != port::host_space;
  if (state.in_hand >= (moves ? 2u : 1u)) return std::nullopt;
  const auto slice =
      policy_->next(index, static_cast<double>(profiling::now() - begun_), state.in_hand);
  if (slice) ++state.in_hand;
  return slice;
}

void Division::finished(size_t index, const Slice& slice, uint64_t begin, uint64_t end) {
  State& state = members_[index];
  --state.in_hand;
  // What ran beside the part before it counts once.
  const uint64_t since = std::max(begin, std::min(state.busy_until, end));
  state.busy_until = std::max(state.busy_until, end);
  const auto time = static_cast<double>(end - since);
  policy_->finished(index, slice, static_cast<double>(profiling::now() - begun_), time);
  const double items = itemsPerBlock() * static_cast<double>(slice.count());
  Knowledge::get().store.recordKernel(key_, weft::keyOf(*state.member.device),
                                      static_cast<uint64_t>(std::max(items, 1.0)), time);
}

}  // namespace weft
