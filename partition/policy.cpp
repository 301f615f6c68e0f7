#include "partition/policy.h"

#include <algorithm>
#include <utility>

namespace weft::partition {
namespace {

class Static final : public Policy {
 public:
  explicit Static(const std::vector<uint64_t>& shares) {
    uint64_t begin = 0;
    for (const uint64_t share : shares) {
      slices_.push_back({begin, begin + share});
      begin += share;
    }
  }
  std::optional<Slice> next(size_t member, double, unsigned) override {
    Slice& mine = slices_[member];
    if (mine.count() == 0) return std::nullopt;
    return std::exchange(mine, Slice{});
  }

 private:
  std::vector<Slice> slices_;
};

class Dynamic final : public Policy {
 public:
  Dynamic(uint64_t units, uint64_t chunk) : left_{0, units}, chunk_(std::max<uint64_t>(chunk, 1)) {}
  std::optional<Slice> next(size_t, double, unsigned) override {
    if (left_.count() == 0) return std::nullopt;
    const Slice slice{left_.begin, left_.begin + std::min(chunk_, left_.count())};
    left_.begin = slice.end;
    return slice;
  }

 private:
  Slice left_;
  uint64_t chunk_;
};

class Guided final : public Policy {
 public:
  Guided(std::vector<MemberModel> models, const std::vector<uint64_t>& shares) {
    uint64_t begin = 0;
    for (size_t i = 0; i < models.size(); ++i) {
      members_.push_back({models[i], {begin, begin + shares[i]}, shares[i], models[i].start_ns, 0});
      begin += shares[i];
    }
  }

  std::optional<Slice> next(size_t index, double now, unsigned in_hand) override {
    Member& member = members_[index];
    if (member.share == 0) return std::nullopt;
    // A second slice hides the first one's transfers. When the speed is only estimated, it would be
    // given too early.
    if (in_hand > 0 && !member.model.measured) return std::nullopt;
    if (member.home.count() > 0) return fromHome(member, now);
    return in_hand > 0 ? std::nullopt : takeOver(member, now);
  }

  void finished(size_t index, const Slice& slice, double now, double nanoseconds) override {
    Member& member = members_[index];
    MemberModel& model = member.model;
    const double units = static_cast<double>(slice.count());
    const double unit_ns = std::max(nanoseconds - model.slice_ns, nanoseconds / 10) / units;
    // Of a slice that it does not run well there is nothing to learn.
    const bool telling = slice.count() >= model.least_units;
    if (!model.measured)
      model.unit_ns = unit_ns;
    else if (telling)
      model.unit_ns += correction * (unit_ns - model.unit_ns);
    model.measured = true;
    member.given -= std::min(slice.count(), member.given);
    member.working_since = now;
    member.free_at = now + model.costOfUnit() * static_cast<double>(member.given);
  }

 private:
  // Of a fair share of what is left.
  static constexpr double part_estimated = 0.125, part_later = 0.5;
  static constexpr double part_most = 0.85, part_least = 0.5;
  static constexpr double correction = 0.5;
  // A slice takes at least so many times its fixed cost.
  static constexpr double worth = 20;

  struct Member {
    MemberModel model;
    Slice home;
    uint64_t share;
    double free_at;        // predicted
    double working_since;  // on what it was given
    uint64_t given = 0;
    bool begun = false;

    // How long a slice takes that is only estimated says nothing of whether it is worth its cost.
    uint64_t leastUnits() const {
      if (!model.measured) return model.least_units;
      const double worthwhile = worth * model.slice_ns / model.costOfUnit();
      return std::max(model.least_units, static_cast<uint64_t>(worthwhile) + 1);
    }
    // Who is late is slower than was believed, by as much at least.
    double lateness(double now) const {
      if (given == 0 || now <= free_at || free_at <= working_since) return 1;
      return (now - working_since) / (free_at - working_since);
    }
    double costOfUnit(double now) const { return model.costOfUnit() * lateness(now); }
    double doneAt(double now) const {
      const double free = given > 0 ? std::max(free_at, now) : free_at;
      return free + costOfUnit(now) * static_cast<double>(home.count());
    }
  };

  Slice give(Member& member, Slice slice, double now) {
    member.begun = true;
    if (member.given == 0) member.working_since = now;
    member.given += slice.count();
    member.free_at = std::max(member.free_at, now) + member.model.slice_ns +
                     member.model.costOfUnit() * static_cast<double>(slice.count());
    return slice;
  }

  // What the member can do until all would be done if all worked on until then, in units.
  double fairShare(const Member& member, double now) const {
    double units = 0, rate = 0, begun = 0;
    for (const Member& other : members_) {
      if (other.share == 0) continue;
      units += static_cast<double>(other.home.count());
      const double speed = 1 / other.costOfUnit(now);
      rate += speed;
      begun += std::max(other.free_at - now, 0.0) * speed;
    }
    const double level = (units + begun) / rate;
    const double begins = std::max(member.free_at - now, 0.0);
    return std::max(level - begins - member.model.slice_ns, 0.0) / member.model.costOfUnit();
  }

  uint64_t wanted(const Member& member, double now) const {
    const MemberModel& model = member.model;
    const double part = !model.measured ? part_estimated
                        : member.begun  ? part_later
                                       : std::clamp(0.95 - 2 * model.spread, part_least, part_most);
    return std::max(static_cast<uint64_t>(part * fairShare(member, now)), member.leastUnits());
  }

  Slice fromHome(Member& member, double now) {
    uint64_t units = std::min(wanted(member, now), member.home.count());
    // No crumbs.
    if (units + member.leastUnits() > member.home.count()) units = member.home.count();
    const Slice slice{member.home.begin, member.home.begin + units};
    member.home.begin = slice.end;
    return give(member, slice, now);
  }

  std::optional<Slice> takeOver(Member& member, double now) {
    const auto last = std::max_element(members_.begin(), members_.end(), [&](auto& a, auto& b) {
      const double never = -1;
      return (a.home.count() ? a.doneAt(now) : never) < (b.home.count() ? b.doneAt(now) : never);
    });
    Slice& home = last->home;
    if (home.count() == 0) return std::nullopt;
    // With no more than this, both finish together.
    const MemberModel& model = member.model;
    const double ahead = last->doneAt(now) - now - model.slice_ns;
    const double both = model.costOfUnit() + last->costOfUnit(now);
    if (ahead <= 0) return std::nullopt;
    uint64_t units = std::min(static_cast<uint64_t>(ahead / both), home.count());
    if (units >= member.leastUnits()) {
      units = std::min(units, wanted(member, now));
    } else {
      // Less than it runs well; but it may be done with that long before the other would.
      units = std::min(std::max(units, model.least_units), home.count());
      const double gained = ahead - model.costOfUnit() * static_cast<double>(model.least_units);
      if (gained <= worth * model.slice_ns) return std::nullopt;
    }
    // What is left behind has to be worth a slice of its owner's, too.
    if (home.count() - units < last->leastUnits() / 2) units = home.count();
    const Slice slice{home.end - units, home.end};
    home.end = slice.begin;
    return give(member, slice, now);
  }

  std::vector<Member> members_;
};

}  // namespace

std::unique_ptr<Policy> staticPolicy(std::vector<uint64_t> shares) {
  return std::make_unique<Static>(shares);
}

std::unique_ptr<Policy> dynamicPolicy(uint64_t units, uint64_t chunk) {
  return std::make_unique<Dynamic>(units, chunk);
}

std::unique_ptr<Policy> guidedPolicy(std::vector<MemberModel> members,
                                     std::vector<uint64_t> shares) {
  return std::make_unique<Guided>(std::move(members), shares);
}

}  // namespace weft::partition
