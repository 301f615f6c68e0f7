// How long a software GPU's kernels take: as long as running them does, or a multiple of it, or a
// time that goes by their work alone (docs/software-gpus.md).
#pragma once

#include <mutex>

#include "tests/software_gpu/stream.h"
#include "tests/software_gpu/wire.h"

namespace weft::software {

// Thread-safe.
class Pace {
 public:
  // By a work-group's place in the NDRange's last dimension: the same anywhere, or more in the
  // middle (`weft simulate` has the same two).
  enum class Profile { flat, hump };

  // `group_ns`: of a work-group, on average; 0: kernels are run. `speed`: less than 1 slows down
  // those that are.
  Pace(double speed, double group_ns, Profile profile)
      : speed_(speed), group_ns_(group_ns), profile_(profile) {}

  bool isSet() const { return group_ns_ > 0; }
  // Returns when a kernel would have run for its set time, behind those that were begun before.
  void spend(const LaunchRequest& request);
  // Returns when a kernel that ran for so long would have at the device's speed.
  void stretch(Nanoseconds ran) const;

 private:
  double workOf(const LaunchRequest& request) const;

  const double speed_, group_ns_;
  const Profile profile_;
  std::mutex mutex_;
  Nanoseconds free_ = 0;  // it is done with all that was begun
};

}  // namespace weft::software
