#include "scheduler/division.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiling/clock.h"
#include "scheduler/knowledge.h"
#include "scheduler/residency.h"

namespace weft {
namespace {

using partition::Slice;

constexpr double slice_ns = 10'000;  // of handing out a part
constexpr double sure_spread = 0.1;
// Of launches that need some bytes, those that miss them; at first. Whatever was launched so often
// is likely to be launched as often again.
constexpr double newly_needed = 0.25;
// Of each kernel, so many launches and every so manieth later one are kept in the store.
constexpr unsigned recorded_first = 16, recorded_later = 64;
// What a launch waits for the host that would overlap with the one before it, were it one command.
double commandTime(const port::Capabilities& device) {
  constexpr double on_cpu = 20'000, on_gpu = 100'000;
  return device.device_class == port::DeviceClass::gpu ? on_gpu : on_cpu;
}

}  // namespace

Division::Division(Queue& queue, const DeviceKernel& kernel, ArgumentSet arguments,
                   const port::LaunchRecord& record, std::shared_ptr<Experience> experience)
    : context_(queue.context()),
      device_(queue.device()),
      kernel_(&kernel),
      arguments_(std::move(arguments)),
      record_(record),
      experience_(std::move(experience)),
      able_(profiling::now()) {
  for (const MemberKernel& member : experience_->members()) members_.push_back({member});
}

std::shared_ptr<Division> Division::make(Queue& queue, const DeviceKernel& kernel,
                                         const std::shared_ptr<Experience>& experience,
                                         const ArgumentSet& arguments,
                                         const port::LaunchRecord& record) {
  using Mode = SplitSetting::Mode;
  const Mode mode = splitModeOf(queue);
  const bool free = mode == Mode::guided;
  if (free) {
    if (experience->state().lock()->verdict.leaveWhole()) return nullptr;
  }
  std::shared_ptr<Division> division(new Division(queue, kernel, arguments, record, experience));
  division->setting_ = mode;
  const bool enough = !free || division->longEnough();
  if (enough && division->members() > 1)
    division->split_ = experience->split(kernel, record, arguments);
  // Nobody keeps account of who has which bytes where a context has one memory for all, which may
  // not be the host's.
  if (division->possible()) {
    if (division->split().merged().empty()) return division;
    // There may be room for the next one.
    if (!queue.context().singleSpace()) return division->hasRoomForCopies() ? division : nullptr;
  }
  experience->state().lock()->verdict.refuse();
  return nullptr;
}

bool Division::possible() const {
  return split_ && split_->splitClass() != partition::SplitClass::whole;
}

// What one device could run must not fail for want of memory. Who makes the copies has the bytes as
// they were beside them; the host has all copies.
bool Division::hasRoomForCopies() const {
  uint64_t objects = 0, merged = 0;
  std::vector<const Storage*> counted;
  for (const ArgumentValue& value : arguments_.values) {
    const Storage* const storage = value.memory() ? &value.memory()->storage() : nullptr;
    if (!storage || std::ranges::find(counted, storage) != counted.end()) continue;
    counted.push_back(storage);
    objects += storage->size();
  }
  for (const partition::MergedBytes& bytes : split_->merged()) merged += bytes.end - bytes.begin;
  return std::ranges::all_of(members_, [&](const State& state) {
    const port::Capabilities& device = state.member.device->capabilities();
    const bool host = device.device_class == port::DeviceClass::cpu;
    const uint64_t copies = host ? members() + 1 : 2;
    return objects + copies * merged <= weft::State::of(context_).memoryFor(*state.member.device);
  });
}

// Are there groups enough for two members?
bool Division::longEnough() const {
  std::vector<uint64_t> least;
  for (const State& state : members_)
    least.push_back(leastGroups(state.member.device->capabilities(), record_));
  if (least.size() < 2) return false;
  std::nth_element(least.begin(), least.begin() + 1, least.end());
  return groupsOf(record_) >= least[0] + least[1];
}

bool Division::alike() const {
  for (size_t i = 1; i < members(); ++i)
    if (!sameKind(*member(0).device, *member(i).device)) return false;
  return true;
}

double Division::itemsPerBlock() const {
  double items = 1;
  for (const uint64_t size : record_.global_size) items *= static_cast<double>(size);
  return items / static_cast<double>(split_->blocks());
}

double Division::groupsPerBlock() const {
  return static_cast<double>(groupsOf(record_)) / static_cast<double>(split_->blocks());
}

void Division::accesses(const Slice& slice, AccessList& list, bool in_copies) const {
  std::vector<partition::PartAccess> touched;
  split_->accesses(slice, touched);
  const auto& values = arguments_.values;
  for (const partition::PartAccess& access : touched)
    list.push_back(
        {values[access.argument].memory(), access.begin, access.end, access.reads, access.writes});
  const auto& merged = split_->merged();
  for (const ArgumentValue& value : values) {
    MemObject* const object = value.memory();
    if (!object) continue;
    const size_t begin = object->origin();
    const bool together = std::ranges::any_of(merged, [&](const partition::MergedBytes& bytes) {
      return bytes.storage == &object->storage();
    });
    if (split_->inPlace() || (together && !in_copies))
      list.push_back({object, begin, begin + object->size(), true, object->kernelMayWrite()});
  }
}

Division::Models Division::models(const Experience::State& seen, bool& known) const {
  const uint64_t blocks = split_->blocks();
  const double share = static_cast<double>(blocks) / static_cast<double>(members());
  const auto items = static_cast<uint64_t>(std::max(share * itemsPerBlock(), 1.0));
  Models result(members());
  std::vector<double> estimates;
  for (size_t i = 0; i < result.size(); ++i) {
    partition::MemberModel& model = result[i];
    const Device& device = *member(i).device;
    const port::Capabilities& capabilities = device.capabilities();
    const double least = static_cast<double>(leastGroups(capabilities, record_));
    model.slice_ns = slice_ns;
    model.least_units =
        std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(least / groupsPerBlock())), 1, blocks);
    model.wave_units = capabilities.compute_units / groupsPerBlock();
    const auto time = Knowledge::get().store.kernelTime(key_, keyOf(device), items);
    model.measured = time && time->confidence > trusted;
    if (model.measured) model.unit_ns = time->nanoseconds / share;
    if (model.measured) model.spread = time->spread;
    // What the last launch took says more than slices of other sizes, from other places.
    const Experience::Alone& alone = seen.alone[experience_->kindOf(i)];
    double last_ns = cutOf(seen).unit_ns[i];
    if (last_ns == 0 && alone.measured) last_ns = alone.ns / static_cast<double>(blocks);
    if (last_ns > 0) {
      model.measured = true;
      model.unit_ns = last_ns;
    }
    estimates.push_back(estimatedItemTime(capabilities) * itemsPerBlock());
  }
  partition::guessUnmeasured(result, estimates, alike());
  const auto measured = [](const partition::MemberModel& model) { return model.measured; };
  known = alike() ? std::ranges::any_of(result, measured) : std::ranges::all_of(result, measured);
  // Beside times that are only guessed, those of transfers would decide everything.
  const double needed = std::min(newly_needed, 1 / std::max(seen.launchesSoFar(), 1.0));
  if (known)
    for (size_t i = 0; i < result.size(); ++i)
      predictTransfers(result[i], *member(i).device, needed);
  return result;
}

// Than the first member, as far as a guess can tell.
bool Division::isFarBetter(const Models& models, size_t member) const {
  constexpr double pessimism = 2;
  const uint64_t blocks = split_->blocks();
  return pessimism * models[member].timeOf(blocks) < models.front().timeOf(blocks);
}

std::unique_ptr<partition::Policy> Division::onOne(size_t member) const {
  std::vector<uint64_t> shares(members(), 0);
  shares[member] = split_->blocks();
  return partition::staticPolicy(std::move(shares));
}

// As one part each for those who had one before, or by what is known of the members' speeds.
std::unique_ptr<partition::Policy> Division::divided(Experience::State& seen, bool always) {
  std::vector<partition::Homes>& homes = cutOf(seen).homes;
  home_ = way_;
  if (way_ != partition::Verdict::together && homes[way_].shares().empty()) {
    partition::Team team =
        partition::fastest(unitTimes(seen), seen.verdict.members(way_), split_->blocks());
    // Where no more take part anyway, it is the same as together.
    if (team.shares.empty())
      home_ = partition::Verdict::together;
    else
      homes[way_].set(std::move(team.shares), alike());
  }
  if (const auto& shares = homes[home_].shares(); !shares.empty())
    return partition::staticPolicy(shares);
  return guided(seen, always);
}

// By what is known of the members' speeds: as one part each where that is enough, or else in
// several, from whose times they become known.
std::unique_ptr<partition::Policy> Division::guided(Experience::State& seen, bool always) {
  constexpr partition::SplitMargin none{-1e9, 0};
  bool known = false;
  Models models = this->models(seen, known);
  for (size_t i = 0; i < members(); ++i)
    if (members_[i].unit_ns == 0) members_[i].unit_ns = models[i].unit_ns;
  // What one launch tells of all members, or what costs more than its parts, is measured before it
  // is divided; what else nobody has measured yet is divided in order to measure it.
  measures_alone_ =
      !always && !known && !seen.tried_alone && (alike() || !split_->merged().empty());
  if (measures_alone_) return nullptr;
  const bool judges = known || seen.tried_alone;
  const partition::Plan plan =
      partition::plan(models, split_->blocks(), always || !judges ? none : partition::SplitMargin{},
                      judges ? mergeTime() : 0);
  seen.best = known || isFarBetter(models, plan.best) ? plan.best : 0;
  if (!plan.split()) return nullptr;
  if (known && !always) postponed_ = launchesToRepay(seen, plan);
  if (postponed_ > 0) return nullptr;
  // Whatever the speed of members of one kind is, it is the same.
  const bool settled = alike() || seen.launches > 0 ||
                       (known && std::all_of(models.begin(), models.end(), [](const auto& model) {
                          return model.spread < sure_spread;
                        }));
  at_once_ = settled;
  if (!settled) return partition::guidedPolicy(std::move(models), plan.shares);
  cutOf(seen).homes[home_].set(plan.shares, alike());
  return partition::staticPolicy(plan.shares);
}

void Division::decide() {
  using Mode = SplitSetting::Mode;
  using partition::Verdict;
  Knowledge& knowledge = Knowledge::get();
  const Mode mode = setting_;
  const uint64_t blocks = split_->blocks();
  const auto seen = experience_->state().lock();
  records_ = seen->launches < recorded_first || seen->launches % recorded_later == 0;
  if (records_) key_ = keyOf(*kernel_->build, kernel_->index, record_);
  learns_ = mode != Mode::random;
  for (size_t i = 0; i < members(); ++i) members_[i].unit_ns = cutOf(*seen).unit_ns[i];
  if (mode == Mode::random) {
    std::vector<double> weights(members());
    auto random = knowledge.random.lock();
    for (double& weight : weights) weight = static_cast<double>((*random)() % 1000 + 1);
    // Some of many stand aside, as where fewer are better.
    for (size_t i = 2; i < weights.size(); ++i)
      if (const uint64_t number = (*random)(); number % 4 == 0) weights[number / 4 % (i + 1)] = 0;
    policy_ = partition::staticPolicy(partition::apportion(weights, blocks));
    return;
  }
  const bool always = mode == Mode::always;
  way_ = always ? Verdict::together : seen->verdict.next();
  on_trial_ = !always && !seen->verdict.settled();
  if (on_trial_) ++seen->on_trial;
  divides_ = way_ != seen->verdict.alone();
  if (divides_) {
    policy_ = divided(*seen, always);
    if (policy_) return;
    divides_ = learns_ = false;
    if (measures_alone_) {
      ++seen->measuring_alone;
    } else if (postponed_ > 0) {
      seen->verdict.postpone(postponed_);
    } else {
      seen->verdict.refuse();
      // Or a member that was slow once would never be asked again.
      std::ranges::fill(cutOf(*seen).unit_ns, 0.0);
    }
  }
  ++seen->alone[experience_->kindOf(seen->best)].launches;
  policy_ = onOne(seen->best);
}

// Devices that keep time of their own make whoever waits for a part wait longer. Of a launch that
// runs behind one whose end nobody knows for sure too little is known to learn from it.
void Division::decideToMeasure(Experience::State& seen) {
  const bool settled = setting_ != SplitSetting::Mode::guided || seen.verdict.settled();
  const auto choice = seen.sampling.next(!settled || Knowledge::get().setting.trace);
  measured_ = choice.measured;
  records_ = records_ && measured_;
  learns_ = learns_ && measured_ && (choice.behind_measured || !settled);
}

Division::~Division() {
  if (!on_trial_ && !measures_alone_) return;
  const auto seen = experience_->state().lock();
  if (on_trial_) --seen->on_trial;
  if (measures_alone_) --seen->measuring_alone;
}

// A trial is of few launches, and the next ones go by what comes of it.
bool Division::dependsOnOthers() const {
  if (setting_ != SplitSetting::Mode::guided) return false;
  const auto seen = experience_->state().lock();
  return !seen->verdict.settled() &&
         (seen->measuring_alone > 0 || seen->on_trial >= seen->verdict.launchesAtOnce());
}

void Division::plan(bool ahead) {
  begun_ = profiling::now();
  if (maker_.load(std::memory_order_relaxed) != std::this_thread::get_id()) able_ = begun_;
  decide();
  if (ahead && at_once_ && split_->merged().empty()) decideToMeasure(*experience_->state().lock());
  if (divides_ && !split_->merged().empty())
    merging_ = std::make_unique<Merging>(device_, *split_, arguments_);
  planned_ns_ = static_cast<double>(profiling::now() - begun_);
}

void Division::begin() { begun_ = profiling::now() - static_cast<uint64_t>(planned_ns_); }

Division::Expected Division::expected(size_t member, const Slice& slice) const {
  const State& state = members_[member];
  const auto units = static_cast<double>(slice.count());
  const double execution_ns = state.unit_ns * units;
  return {execution_ns, execution_ns * occupancy(state.member.device->capabilities(), record_,
                                                 groupsPerBlock() * units)};
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
  const auto now = static_cast<double>(profiling::now() - begun_);
  policy_->finished(index, slice, now, time);
  done_.push_back({index, slice});
  state.units += slice.count();
  state.busy_ns += time;
  state.unit_ns = state.busy_ns / static_cast<double>(state.units);
  state.done_ns = now;
  state.ended = std::max(state.ended, end);
  if (!records_) return;
  const double items = itemsPerBlock() * static_cast<double>(slice.count());
  Knowledge::get().store.recordKernel(key_, keyOf(*state.member.device),
                                      static_cast<uint64_t>(std::max(items, 1.0)), time);
}

// Of each member, 0: nobody knows. Members of one kind are equally fast.
std::vector<double> Division::unitTimes(const Experience::State& seen) const {
  const std::vector<double>& last = cutOf(seen).unit_ns;
  std::vector<double> result(members(), 0);
  for (size_t i = 0; i < members(); ++i) {
    double units = 0, sum = 0;
    for (size_t j = 0; j < members(); ++j) {
      if (last[j] == 0 || experience_->kindOf(j) != experience_->kindOf(i)) continue;
      const auto weight = static_cast<double>(members_[j].units + 1);
      units += weight;
      sum += weight * last[j];
    }
    if (last[i] > 0) result[i] = sum / units;
  }
  return result;
}

// What each way would take, and who would be best alone, by the parts' times.
void Division::judge(Experience::State& seen) const {
  using partition::Verdict;
  Verdict& verdict = seen.verdict;
  const std::vector<double> unit_ns = unitTimes(seen);
  const uint64_t blocks = split_->blocks();
  double longest = 0;
  for (const State& state : members_) longest = std::max(longest, state.busy_ns);
  if (way_ == Verdict::together) verdict.expect(way_, longest);
  for (Verdict::Way way = Verdict::together + 1; way < verdict.alone(); ++way)
    verdict.expect(way, partition::fastest(unit_ns, verdict.members(way), blocks).nanoseconds);
  size_t best = members();
  for (size_t i = 0; i < members(); ++i)
    if (unit_ns[i] > 0 && (best == members() || unit_ns[i] < unit_ns[best])) best = i;
  if (best == members()) return;
  // Of members of one kind the first one is at home.
  seen.best = sameKind(*member(0).device, *member(best).device) ? 0 : best;
  verdict.expect(verdict.alone(), unit_ns[best] * static_cast<double>(blocks));
}

// How long it took on the devices from then on, each member and all together.
double Division::timeFrom(uint64_t since) {
  double longest = 0;
  for (State& state : members_) {
    if (state.units == 0) continue;
    const double ns = state.ended > since ? static_cast<double>(state.ended - since) : 0;
    state.done_ns = std::max(ns, state.busy_ns);
    longest = std::max(longest, state.done_ns);
  }
  return longest;
}

// Its parts are not heard of: their times say nothing of what it takes to run it.
size_t Division::again() {
  const size_t best = experience_->state().lock()->best;
  ran_again_ = true;
  done_ = {{best, {0, split_->blocks()}}};
  return best;
}

void Division::succeeded(std::optional<uint64_t> ahead) {
  const double now =
      ahead ? timeFrom(std::max(begun_, *ahead)) : static_cast<double>(profiling::now() - begun_);
  // What the host does before counts as well, unless the devices are busy meanwhile.
  const uint64_t since = std::max(able_, ahead.value_or(begun_));
  double total = now + (begun_ > since ? static_cast<double>(begun_ - since) : 0);
  // Launches that had been submitted when the devices got to them follow each other faster than
  // the host can go on submitting them.
  if (ahead) total = std::max(total, host_ns_);
  if (Knowledge::get().setting.trace) tell(now);
  if (!measured_) return;
  const bool together = way_ == partition::Verdict::together;
  if (const auto spent = merging_ && together && !ran_again_ ? merging_->spent() : std::nullopt)
    Knowledge::get().store.recordTransfer(mergeKey(), merging_->bytes(), *spent);
  const auto seen = experience_->state().lock();
  for (size_t i = 0; i < members(); ++i)
    if (members_[i].units > 0) cutOf(*seen).unit_ns[i] = members_[i].unit_ns;
  if (measures_alone_) seen->tried_alone = true;
  if (!learns_) return;
  // Once is enough while nothing speaks for dividing it; later what it took tells.
  if (ran_again_ && !seen->verdict.settled()) return seen->verdict.refuse();
  if (!divides_) {
    double busy = 0;
    for (const State& state : members_) busy += state.busy_ns;
    const double waited = ahead ? 0 : commandTime(member(seen->best).device->capabilities());
    seen->verdict.executedAlone(busy);
    seen->verdict.took(way_, std::max(busy, total - waited));
    return;
  }
  ++seen->launches;
  partition::Homes& homes = cutOf(*seen).homes[home_];
  const bool moved = homes.moved();
  std::vector<partition::Homes::Done> done;
  for (const State& state : members_) done.push_back({state.units, state.done_ns, state.busy_ns});
  homes.ended(done);
  // Whether other shares are better the next launches tell, or they stay as long as they are not.
  if (homes.moved()) seen->sampling.startOver();
  judge(*seen);
  seen->verdict.took(way_, total, moved);
}

}  // namespace weft
