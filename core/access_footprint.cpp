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

// How many runs a block that is repeated in the dimensions from `outer` on falls into.
int64_t TouchedBytes::runsOf(const Footprint& f, unsigned outer) const {
  int64_t runs = 1;
  for (unsigned d = outer; d < f.dimensions && runs <= max_runs_; ++d)
    runs *= std::min(f.dimension[d].count, max_runs_ + 1);
  return runs;
}

void TouchedBytes::addRuns(Footprint f) {
  if (f.bytes <= 0) return;
  int64_t length = f.bytes;
  unsigned outer = 0;
  for (; outer < f.dimensions; ++outer) {
    const auto& [stride, count] = f.dimension[outer];
    const bool gaps = stride > length;
    // The rows of a plane, say, are one run with the ends that the rows leave out.
    if (gaps && runsOf(f, outer) <= max_runs_) break;
    if (gaps) f.complete = false;
    length += stride * (count - 1);
  }
  const int64_t runs = runsOf(f, outer);
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
  joinNearest(ranges, before);
}

// Those with the least between them, until they are not too many.
void TouchedBytes::joinNearest(std::vector<TouchedRange>& ranges, size_t before) const {
  const size_t count = ranges.size() - before, most = 2 * static_cast<size_t>(max_runs_);
  if (count <= most) return;
  std::vector<size_t> gaps;
  for (size_t i = before + 1; i < ranges.size(); ++i)
    gaps.push_back(ranges[i].begin - ranges[i - 1].end);
  const auto widest = gaps.begin() + static_cast<ptrdiff_t>(count - most - 1);
  std::ranges::nth_element(gaps, widest);
  const size_t joined_gap = *widest;
  size_t last = before;
  for (size_t i = before + 1; i < ranges.size(); ++i) {
    if (ranges[i].begin - ranges[last].end > joined_gap) {
      ranges[++last] = ranges[i];
      continue;
    }
    ranges[last].end = ranges[i].end;
    ranges[last].reads = true;  // what is between keeps its bytes
    ranges[last].writes = ranges[last].writes || ranges[i].writes;
  }
  ranges.resize(last + 1);
}

}  // namespace weft
