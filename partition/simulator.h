// Policies on machines that exist on paper: the code that decides is the one that runs, the time is
// invented. Deterministic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/plan.h"

namespace weft::partition::simulator {

struct Member {
  std::string name;
  double speed = 1;              // work in a nanosecond; a kernel's unit is some amount of work
  double slice_ns = 1000;        // fixed cost of a slice
  double host_ns = 0;            // of the host, which hands out one slice after the other
  uint64_t width = 1;            // units at once: fewer take as long as these
  double link_bytes_per_ns = 0;  // to the host; 0: it works in the host's memory
  double link_ns = 0;            // latency of a transfer
  double noise = 0;              // slices take up to that part longer, at random
};

struct Machine {
  std::string name;
  std::vector<Member> members;
};

// How the work is spread over the units.
enum class Profile : uint8_t { flat, ramp, hump, random };

struct Kernel {
  std::string name;
  uint64_t units = 1;
  double work = 1000;  // of a unit on average: nanoseconds at speed 1
  Profile profile = Profile::flat;
  double read_bytes = 0;     // of a unit
  double written_bytes = 0;  // of a unit
  double shared_bytes = 0;   // that every member reads whole
  uint64_t halo_units = 0;   // neighbours' units that a slice reads, too
  // Launches read what the one before wrote, the host only the last one's; or each comes from the
  // host and goes back.
  bool iterated = false;
  unsigned launches = 1;
  // Speeds on members in place of the machine's, by the member's name: 0 keeps it.
  std::vector<std::pair<std::string, double>> speeds;
};

enum class Choice : uint8_t { best_single, even, ratio, dynamic, guided };
const char* nameOf(Choice choice);

struct Settings {
  // What is believed of speeds before the first launch, as a part of what they are, for members in
  // turns: more, less, more, ... 0: known well.
  double misjudged = 0;
  bool known = true;  // the store knows the kernel from earlier runs
  SplitMargin margin;
};

struct Outcome {
  double first_ns = 0, last_ns = 0;  // the launches' times, transfers included
  double total_ns = 0;
  uint64_t slices = 0;
  double moved_bytes = 0;
  double balance = 1;     // of the last launch: the shortest busy member's end to the longest's
  double efficiency = 0;  // of the last launch: the sum of the members' own speeds achieved
  unsigned members = 0;   // that took part in the last launch
};

Outcome simulate(const Machine& machine, const Kernel& kernel, Choice choice,
                 const Settings& settings = {});

}  // namespace weft::partition::simulator
