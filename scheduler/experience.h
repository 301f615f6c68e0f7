// What the process has seen of one kernel at one size on one unified device.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/guarded.h"
#include "core/kernel.h"
#include "partition/homes.h"
#include "partition/sampling.h"
#include "partition/split.h"
#include "partition/verdict.h"

namespace weft {

// Launches that are alike: of the same code, on the same device, over the same range.
struct LaunchShape {
  const Device* device;
  const DeviceBuild* build;
  uint32_t kernel, dimensions;
  std::array<uint64_t, 3> global, local, offset;

  LaunchShape(const Device& on, const DeviceKernel& code, const port::LaunchRecord& record);
  auto operator<=>(const LaunchShape&) const = default;
};

// Somebody who can run work-groups of a kernel: a device, and the kernel there.
struct MemberKernel {
  Device* device;
  port::Module* module;
  uint32_t kernel;
};

// What one argument of a launch is bound to, for each of them.
std::vector<partition::BoundArgument> bind(const ArgumentSet& arguments);

// Thread-safe.
class Experience {
 public:
  // All of it on one member, by what was seen last.
  struct Alone {
    double ns = 0;  // 0: nothing was
    bool measured = false;
    unsigned launches = 0;
  };
  // Launches with other arguments may be cut along another dimension, into other blocks.
  struct Cut {
    std::vector<partition::Homes> homes;  // by the verdict's way
    std::vector<double> unit_ns;          // of each member's parts in its last launch; 0: none
  };
  struct State {
    partition::Verdict verdict;
    unsigned on_trial = 0;    // launches that were planned while that was open, and have not ended
    std::array<Cut, 3> cuts;  // by dimension
    size_t best = 0;          // the member that does it best alone
    unsigned launches = 0;    // that were divided, and measured
    partition::Sampling sampling;  // of those that are planned to be divided
    bool tried_alone = false;      // before it was ever divided
    unsigned measuring_alone = 0;  // launches that do that now
    std::vector<Alone> alone;      // by kindOf() a member
    bool recalled = false;         // from the performance store

    // Those that are known of, divided or whole.
    double launchesSoFar() const {
      double sum = launches;
      for (const Alone& one : alone) sum += one.launches;
      return sum;
    }
  };

  Experience(const Device& device, const DeviceKernel& code);

  // Who has the kernel: first the device's home. As long as a launch has the build.
  const std::vector<MemberKernel>& members() const { return members_; }
  // The first member that is as fast as this one.
  size_t kindOf(size_t member) const { return kinds_[member]; }

  // The one of such launches. `code` keeps its build.
  static std::shared_ptr<Experience> of(const LaunchShape& shape, const DeviceKernel& code);

  // How a launch with these arguments can be divided, worked out anew where it has to be.
  std::shared_ptr<const partition::Split> split(const DeviceKernel& code,
                                                const port::LaunchRecord& record,
                                                const ArgumentSet& arguments);
  Guarded<State>& state() { return state_; }

 private:
  // Iterations often take turns with a few sets of arguments.
  static constexpr size_t most_splits = 4;
  struct Known {
    std::string arguments;
    std::shared_ptr<const partition::Split> split;
  };

  std::vector<MemberKernel> members_;
  std::vector<size_t> kinds_;
  std::weak_ptr<const DeviceBuild> build_;  // the address may come to be another's
  Guarded<State> state_;
  Guarded<std::vector<Known>> splits_;  // least recently used first
};

}  // namespace weft
