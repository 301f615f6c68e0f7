// What became of a divided launch, for those who want to know.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/geometry.h"
#include "scheduler/division.h"

namespace weft {

// A line for each launch, for people: who ran how many blocks, for how long, done how long after
// the launch could begin, in microseconds.
void Division::tell(double nanoseconds) const {
  std::string text = "weft: " + kernel_->info().name + ": ";
  text += divides_ ? "together " : "alone ";
  if (ran_again_) text += "and again ";
  const auto append = [&](const char* before, double ns) {
    text.append(before).append(std::to_string(std::llround(ns / 1000)));
  };
  append("", nanoseconds);
  append(", planned ", planned_ns_);
  for (size_t i = 0; i < members(); ++i) {
    text += "; " + std::to_string(members_[i].units);
    append(" busy ", members_[i].busy_ns);
    append(" done ", members_[i].done_ns);
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

std::vector<ExecutedPart> Division::executed() const {
  std::vector<Done> done = done_;
  std::ranges::sort(done, {}, [](const Done& one) { return one.slice.begin; });
  std::vector<Done> joined;
  for (const Done& one : done) {
    if (!joined.empty() && joined.back().member == one.member &&
        joined.back().slice.end == one.slice.begin)
      joined.back().slice.end = one.slice.end;
    else
      joined.push_back(one);
  }
  std::vector<ExecutedPart> parts;
  for (const Done& one : joined)
    parts.push_back({member(one.member).device, namedGroups(record_, split_->box(one.slice))});
  return parts;
}

}  // namespace weft
