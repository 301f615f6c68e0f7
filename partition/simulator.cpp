#include "partition/simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "partition/homes.h"
#include "partition/policy.h"
#include "partition/verdict.h"

namespace weft::partition::simulator {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr unsigned slices_in_hand = 2;
constexpr double learned = 0.5;  // how far a measurement moves what is known

// The same numbers each time, in [0, 1).
double randomOf(uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((seed ^ (seed >> 31)) >> 11) * 0x1p-53;
}

// Mean 1 over all units.
double weightOf(Profile profile, uint64_t unit, uint64_t units) {
  const double x = (static_cast<double>(unit) + 0.5) / static_cast<double>(units);
  switch (profile) {
    case Profile::flat:
      return 1;
    case Profile::ramp:
      return 0.5 + x;
    case Profile::hump:
      return 0.25 + 4.5 * x * (1 - x);
    case Profile::random:
      return 0.25 + 1.5 * randomOf(unit);
  }
  return 1;
}

// Sets of units.
class Units {
 public:
  void add(Slice slice) {
    const uint64_t begin = slice.begin;
    uint64_t end = slice.end;
    remove(slice);
    if (const auto next = map_.find(end); next != map_.end()) {
      end = next->second;
      map_.erase(next);
    }
    map_[begin] = end;
  }
  void remove(Slice slice) {
    auto it = map_.upper_bound(slice.begin);
    if (it != map_.begin()) --it;
    while (it != map_.end() && it->first < slice.end) {
      const auto [begin, end] = *it;
      if (end <= slice.begin) {
        ++it;
        continue;
      }
      it = map_.erase(it);
      if (begin < slice.begin) map_[begin] = slice.begin;
      if (end > slice.end) map_[slice.end] = end;
    }
  }
  std::vector<Slice> slices() const {
    std::vector<Slice> all;
    for (const auto& [begin, end] : map_) all.push_back({begin, end});
    return all;
  }
  uint64_t count(Slice slice) const {
    uint64_t sum = 0;
    for (const auto& [begin, end] : map_)
      if (begin < slice.end && end > slice.begin)
        sum += std::min(end, slice.end) - std::max(begin, slice.begin);
    return sum;
  }

 private:
  std::map<uint64_t, uint64_t> map_;
};

class Simulation {
 public:
  Simulation(const Machine& machine, const Kernel& kernel, Choice choice, const Settings& settings)
      : machine_(machine),
        kernel_(kernel),
        choice_(choice),
        settings_(settings),
        states_(machine.members.size()),
        verdict_(machine.members.size()),
        homes_(verdict_.ways()),
        unit_ns_(machine.members.size(), 0) {
    work_.push_back(0);
    for (uint64_t unit = 0; unit < kernel.units; ++unit)
      work_.push_back(work_.back() + kernel.work * weightOf(kernel.profile, unit, kernel.units));
    estimate();
    host_.add({0, kernel.units});
  }

  Outcome run() {
    Outcome outcome;
    for (unsigned launch = 0; launch < kernel_.launches; ++launch) {
      const double time = runLaunch(launch, outcome);
      if (launch == 0) outcome.first_ns = time;
      outcome.last_ns = time;
      outcome.total_ns += time;
    }
    double speed = 0;
    for (size_t i = 0; i < states_.size(); ++i) speed += speedOf(i);
    outcome.efficiency = work_.back() / speed / outcome.last_ns;
    return outcome;
  }

 private:
  struct Running {
    Slice slice;
    double computed, done, nanoseconds;
    bool told = false;
  };
  struct State {
    MemberModel model;  // what is believed
    Units valid;        // units whose current bytes are here
    bool has_shared = false;
    double link_free = 0, compute_free = 0;
    std::vector<Running> running;
    uint64_t units = 0;  // of this launch
    double busy = 0;     // executing them
  };

  double speedOf(size_t member) const {
    for (const auto& [name, speed] : kernel_.speeds)
      if (name == machine_.members[member].name && speed > 0) return speed;
    return machine_.members[member].speed;
  }
  double workOf(const Slice& slice) const { return work_[slice.end] - work_[slice.begin]; }

  void estimate() {
    for (size_t i = 0; i < states_.size(); ++i) {
      const Member& member = machine_.members[i];
      const double misjudged = settings_.known ? 0 : settings_.misjudged * (i % 2 ? 1 : -1);
      MemberModel& model = states_[i].model;
      model.unit_ns = kernel_.work / speedOf(i) * (1 + misjudged);
      model.slice_ns = member.slice_ns + member.link_ns;
      model.least_units = std::min(member.width, kernel_.units);
      model.spread = member.noise / 2;
      model.measured = settings_.known;
    }
  }

  // What is believed of moving bytes, given where they are.
  void believeTransfers(bool last) {
    for (size_t i = 0; i < states_.size(); ++i) {
      const Member& member = machine_.members[i];
      if (member.link_bytes_per_ns == 0) continue;
      MemberModel& model = states_[i].model;
      const double present = static_cast<double>(states_[i].valid.count({0, kernel_.units})) /
                             static_cast<double>(kernel_.units);
      const double in = kernel_.read_bytes * (kernel_.iterated ? (present > 0 ? 0 : 1) : 1);
      const double out = kernel_.iterated && !last ? 0 : kernel_.written_bytes;
      model.transfer_ns = (in + out) / member.link_bytes_per_ns;
      model.start_ns = states_[i].has_shared ? 0 : kernel_.shared_bytes / member.link_bytes_per_ns;
    }
  }

  std::unique_ptr<Policy> policyFor() {
    std::vector<MemberModel> models;
    for (const State& state : states_) models.push_back(state.model);
    const std::vector<double> evenly(states_.size(), 1);
    std::vector<double> speeds;
    for (const MemberModel& model : models) speeds.push_back(1 / model.unit_ns);
    const Plan planned = plan(models, kernel_.units, settings_.margin);
    std::vector<uint64_t> single(states_.size(), 0);
    single[planned.best] = kernel_.units;
    switch (choice_) {
      case Choice::best_single:
        return staticPolicy(single);
      case Choice::even:
        return staticPolicy(apportion(evenly, kernel_.units));
      case Choice::ratio:
        return staticPolicy(apportion(speeds, kernel_.units));
      case Choice::dynamic:
        return dynamicPolicy(kernel_.units, std::max<uint64_t>(kernel_.units / 64, 1));
      case Choice::guided:
        return learningPolicy(std::move(models), planned);
    }
    return nullptr;
  }

  // As the unified device does it (scheduler/division.cpp).
  std::unique_ptr<Policy> learningPolicy(std::vector<MemberModel> models, const Plan& planned) {
    constexpr double sure_spread = 0.1;
    std::vector<uint64_t> single(states_.size(), 0);
    single[planned.best] = kernel_.units;
    way_ = verdict_.next();
    learns_ = true;
    if (way_ == verdict_.alone()) return staticPolicy(single);
    Homes& homes = homes_[way_];
    if (way_ != Verdict::together && homes.shares().empty())
      homes.set(fastest(unit_ns_, verdict_.members(way_), kernel_.units).shares);
    if (!homes.shares().empty()) return staticPolicy(homes.shares());
    if (!planned.split()) {
      learns_ = false;
      verdict_.refuse();
      return staticPolicy(single);
    }
    const bool sure = std::all_of(models.begin(), models.end(), [](const MemberModel& model) {
      return model.measured && model.spread < sure_spread;
    });
    if (!sure) return guidedPolicy(std::move(models), planned.shares);
    homes.set(planned.shares);
    return staticPolicy(planned.shares);
  }

  void learnFrom(double longest) {
    if (way_ == verdict_.alone()) return verdict_.took(way_, longest);
    const bool moved = homes_[way_].moved();
    std::vector<Homes::Done> done;
    double busiest = 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      const State& state = states_[i];
      busiest = std::max(busiest, state.busy);
      double end = 0;
      for (const Running& running : state.running) end = std::max(end, running.done);
      done.push_back({state.units, end, state.busy});
      if (state.units > 0) unit_ns_[i] = state.busy / static_cast<double>(state.units);
    }
    homes_[way_].ended(done);
    if (way_ == Verdict::together) verdict_.expect(way_, busiest);
    for (Verdict::Way way = Verdict::together + 1; way < verdict_.ways(); ++way)
      verdict_.expect(way, fastest(unit_ns_, verdict_.members(way), kernel_.units).nanoseconds);
    verdict_.took(way_, longest, moved);
  }

  double runLaunch(unsigned launch, Outcome& outcome) {
    const bool last = launch + 1 == kernel_.launches;
    if (!kernel_.iterated) forget();
    believeTransfers(last);
    const std::unique_ptr<Policy> policy = policyFor();
    written_.assign(states_.size(), {});
    host_free_ = 0;
    for (State& state : states_) {
      state.link_free = state.compute_free = state.busy = 0;
      state.units = 0;
      state.running.clear();
    }
    double now = 0;
    do {
      hand(*policy, now, launch, last, outcome);
      now = advance(*policy);
    } while (now < never);
    return finish(outcome);
  }

  // Asks until nobody can take anything more.
  void hand(Policy& policy, double now, unsigned launch, bool last, Outcome& outcome) {
    for (size_t i = 0; i < states_.size(); ++i)
      for (;;) {
        const auto waiting = static_cast<unsigned>(std::count_if(
            states_[i].running.begin(), states_[i].running.end(), [](auto& r) { return !r.told; }));
        if (waiting >= slices_in_hand) break;
        const auto slice = policy.next(i, now, waiting);
        if (!slice) break;
        start(i, *slice, now, launch, last, outcome);
      }
  }

  void start(size_t index, const Slice& slice, double now, unsigned launch, bool last,
             Outcome& outcome) {
    State& state = states_[index];
    const Member& member = machine_.members[index];
    host_free_ = std::max(host_free_, now) + member.host_ns;
    const double ready = transferIn(index, slice, host_free_, outcome);
    const double begin = std::max({ready, state.compute_free, host_free_});
    const uint64_t seed = slice.begin * 1315423911u + launch * 2654435761u + index;
    const double mean = workOf(slice) / static_cast<double>(slice.count());
    const double units = static_cast<double>(std::max(slice.count(), member.width));
    const double busy =
        member.slice_ns + units * mean / speedOf(index) * (1 + member.noise * randomOf(seed));
    state.compute_free = begin + busy;
    state.units += slice.count();
    state.busy += busy;
    double done = state.compute_free;
    if (member.link_bytes_per_ns > 0 && (!kernel_.iterated || last))
      done = move(index, kernel_.written_bytes * static_cast<double>(slice.count()), done, outcome);
    written_[index].add(slice);
    state.running.push_back({slice, state.compute_free, done, busy});
    ++outcome.slices;
  }

  double move(size_t index, double bytes, double ready, Outcome& outcome) {
    if (bytes == 0) return ready;
    const Member& member = machine_.members[index];
    State& state = states_[index];
    state.link_free =
        std::max(state.link_free, ready) + member.link_ns + bytes / member.link_bytes_per_ns;
    outcome.moved_bytes += bytes;
    return state.link_free;
  }

  double transferIn(size_t index, const Slice& slice, double now, Outcome& outcome) {
    State& state = states_[index];
    const uint64_t begin = slice.begin - std::min(slice.begin, kernel_.halo_units);
    const Slice read{begin, std::min(slice.end + kernel_.halo_units, kernel_.units)};
    const uint64_t missing = read.count() - state.valid.count(read);
    const bool in_host = machine_.members[index].link_bytes_per_ns == 0;
    if (in_host) {
      // Its memory is the host's: what another wrote comes over that one's link.
      double ready = now;
      for (size_t other = 0; other < states_.size() && missing > 0; ++other) {
        const uint64_t there =
            host_.count(read) == read.count() ? 0 : states_[other].valid.count(read);
        if (other == index || there == 0 || machine_.members[other].link_bytes_per_ns == 0)
          continue;
        const double bytes = kernel_.read_bytes * static_cast<double>(std::min(there, missing));
        ready = std::max(ready, move(other, bytes, now, outcome));
      }
      state.valid.add(read);
      return ready;
    }
    double bytes = kernel_.read_bytes * static_cast<double>(missing);
    // Over the host, unless it is there already.
    if (host_.count(read) < read.count()) bytes *= 2;
    if (!state.has_shared) bytes += kernel_.shared_bytes;
    state.has_shared = true;
    state.valid.add(read);
    return move(index, bytes, now, outcome);
  }

  // Goes to the next end of a slice and tells the policy. `never`: there is none.
  double advance(Policy& policy) {
    double now = never;
    size_t who = 0;
    for (size_t i = 0; i < states_.size(); ++i)
      for (const Running& running : states_[i].running)
        if (!running.told && running.computed < now) {
          now = running.computed;
          who = i;
        }
    if (now == never) return never;
    for (Running& running : states_[who].running)
      if (!running.told && running.computed == now) {
        running.told = true;
        policy.finished(who, running.slice, now, running.nanoseconds);
      }
    return now;
  }

  double finish(Outcome& outcome) {
    double longest = 0, shortest = never;
    outcome.members = 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      State& state = states_[i];
      if (state.units == 0) continue;
      ++outcome.members;
      double end = 0;
      for (const Running& running : state.running) end = std::max(end, running.done);
      longest = std::max(longest, end);
      shortest = std::min(shortest, end);
      learn(i);
    }
    outcome.balance = shortest / longest;
    if (choice_ == Choice::guided && learns_) learnFrom(longest);
    if (kernel_.iterated) settle();
    return longest;
  }

  void learn(size_t index) {
    State& state = states_[index];
    const auto slices = static_cast<double>(state.running.size());
    const double fixed = machine_.members[index].slice_ns * slices;
    const double unit_ns = std::max(state.busy - fixed, 0.0) / static_cast<double>(state.units);
    MemberModel& model = state.model;
    model.unit_ns = model.measured ? model.unit_ns + learned * (unit_ns - model.unit_ns) : unit_ns;
    model.measured = true;
  }

  // What was written is current where it was written, and nowhere else.
  void settle() {
    host_ = {};
    for (size_t i = 0; i < states_.size(); ++i) {
      states_[i].valid = written_[i];
      if (machine_.members[i].link_bytes_per_ns > 0) continue;
      for (const Slice& slice : written_[i].slices()) host_.add(slice);
    }
  }

  void forget() {
    for (State& state : states_) {
      state.valid = {};
      state.has_shared = false;
    }
    host_ = {};
    host_.add({0, kernel_.units});
  }

  const Machine& machine_;
  const Kernel& kernel_;
  Choice choice_;
  Settings settings_;
  std::vector<State> states_;
  std::vector<double> work_;  // of the units before
  Verdict verdict_;
  Verdict::Way way_ = Verdict::together;
  std::vector<Homes> homes_;     // by way
  std::vector<double> unit_ns_;  // of each member's last slices; 0: it had none
  double host_free_ = 0;
  bool learns_ = true;
  std::vector<Units> written_;
  Units host_;
};

}  // namespace

const char* nameOf(Choice choice) {
  constexpr const char* names[] = {"best single", "even", "ratio", "dynamic", "guided"};
  return names[static_cast<size_t>(choice)];
}

Outcome simulate(const Machine& machine, const Kernel& kernel, Choice choice,
                 const Settings& settings) {
  return Simulation(machine, kernel, choice, settings).run();
}

}  // namespace weft::partition::simulator
