#include "core/access_footprint.h"

#include <algorithm>

namespace weft {

void Footprint::repeat(int64_t stride, int64_t count) {
  if (count <= 1) return;
  if (stride < 0) {
    begin += stride * (count - 1);
    stride = -stride;
  }
  const auto end = dimension.begin() + dimensions;
  const auto place =
      std::find_if(dimension.begin(), end, [&](const Dimension& d) { return d.stride > stride; });
  std::copy_backward(place, end, end + 1);
  *place = {stride, count};
  ++dimensions;
}

// Blocks that are written side by side, as the parts of a structure are, leave no gaps together.
void TouchedBytes::joinNeighbours() {
  const auto sameShape = [](const Footprint& a, const Footprint& b) {
    return std::equal(a.dimension.begin(), a.dimension.begin() + a.dimensions, b.dimension.begin(),
                      b.dimension.begin() + b.dimensions);
  };
  std::sort(footprints_.begin(), footprints_.end(),
            [](const Footprint& a, const Footprint& b) { return a.begin < b.begin; });
  for (size_t i = 0; i < footprints_.size(); ++i) {
    Footprint& first = footprints_[i];
    if (!first.complete) continue;
    for (size_t j = i + 1; j < footprints_.size(); ++j) {
      Footprint& next = footprints_[j];
      if (next.begin > first.begin + first.bytes) break;
      if (!next.complete || next.reads != first.reads || !sameShape(first, next)) continue;
      first.bytes = std::max(first.bytes, next.begin - first.begin + next.bytes);
      next.bytes = 0;
    }
  }
}

void TouchedBytes::addRun(int64_t begin, int64_t bytes, const Footprint& f) {
  if (bytes <= 0) return;
  const Edge edge{begin, f.reads, f.writes, f.writes && f.complete};
  edges_.push_back(edge);
  edges_.push_back({begin + bytes, static_cast<int8_t>(-edge.reads),
                    static_cast<int8_t>(-edge.writes), static_cast<int8_t>(-edge.complete)});
}

void TouchedBytes::addRuns(Footprint f) {
  if (f.bytes <= 0) return;
  int64_t length = f.bytes;
  unsigned outer = 0;
  for (; outer < f.dimensions && f.dimension[outer].stride <= length; ++outer)
    length += f.dimension[outer].stride * (f.dimension[outer].count - 1);
  int64_t runs = 1, whole = length;
  for (unsigned d = outer; d < f.dimensions; ++d) {
    runs = runs > max_runs_ ? runs : runs * std::min(f.dimension[d].count, max_runs_ + 1);
    whole += f.dimension[d].stride * (f.dimension[d].count - 1);
  }
  if (runs > max_runs_) {
    f.complete = false;
    return addRun(f.begin, whole, f);
  }
  for (int64_t run = 0; run < runs; ++run) {
    int64_t begin = f.begin, rest = run;
    for (unsigned d = outer; d < f.dimensions; ++d) {
      begin += f.dimension[d].stride * (rest % f.dimension[d].count);
      rest /= f.dimension[d].count;
    }
    addRun(begin, length, f);
  }
}

void TouchedBytes::collect(size_t size, std::vector<TouchedRange>& ranges) {
  if (footprints_.size() > 1) joinNeighbours();
  for (const Footprint& footprint : footprints_) addRuns(footprint);
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  const size_t before = ranges.size();
  int reads = 0, writes = 0, complete = 0;
  const auto end = static_cast<int64_t>(size);
  for (size_t i = 0; i + 1 < edges_.size(); ++i) {
    reads += edges_[i].reads;
    writes += edges_[i].writes;
    complete += edges_[i].complete;
    const int64_t from = std::clamp<int64_t>(edges_[i].at, 0, end);
    const int64_t to = std::clamp<int64_t>(edges_[i + 1].at, 0, end);
    if (from == to || (reads == 0 && writes == 0)) continue;
    // What is written but perhaps not all of it keeps its other bytes, so they have to be there.
    const TouchedRange range{static_cast<size_t>(from), static_cast<size_t>(to),
                             reads > 0 || complete == 0, writes > 0};
    TouchedRange* last = ranges.size() > before ? &ranges.back() : nullptr;
    if (last && last->end == range.begin && last->reads == range.reads &&
        last->writes == range.writes)
      last->end = range.end;
    else
      ranges.push_back(range);
  }
  if (ranges.size() - before <= 2 * static_cast<size_t>(max_runs_)) return;
  TouchedRange all{ranges[before].begin, ranges.back().end, true, false};
  for (size_t i = before; i < ranges.size(); ++i) all.writes = all.writes || ranges[i].writes;
  ranges.resize(before);
  ranges.push_back(all);
}

}  // namespace weft
