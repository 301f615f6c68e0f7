#include "partition/split.h"

#include <algorithm>
#include <map>

namespace weft::partition {
namespace {

bool isPointer(ArgumentKind kind) {
  return kind == ArgumentKind::global_pointer || kind == ArgumentKind::constant_pointer;
}

constexpr uint32_t bit(SplitHazard hazard) { return static_cast<uint32_t>(hazard); }

// What members of one coherent memory may do to it together as much as one of them alone. Not
// atomics whose results count: a group that waits for another might keep its part from being begun.
constexpr uint32_t harmless_in_place = bit(SplitHazard::unnamed_memory);

// Of one storage.
struct Range {
  size_t begin, end;
  uint64_t block;
};

using Ranges = std::vector<Range>;

// Sorts and joins those of one block. False when two of different blocks overlap.
bool normalise(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  Ranges joined;
  for (const Range& range : ranges) {
    Range* last = joined.empty() ? nullptr : &joined.back();
    if (!last || range.begin >= last->end) {
      joined.push_back(range);
      continue;
    }
    if (range.block != last->block) return false;
    last->end = std::max(last->end, range.end);
  }
  ranges = std::move(joined);
  return true;
}

// `written` are normalised.
bool readsOfOthers(const Ranges& written, const Range& read) {
  auto it = std::lower_bound(written.begin(), written.end(), read.begin,
                             [](const Range& range, size_t at) { return range.end <= at; });
  for (; it != written.end() && it->begin < read.end; ++it)
    if (it->block != read.block) return true;
  return false;
}

// Storages that one block writes and another reads or writes.
template <class Accesses>
std::vector<const void*> sharedBy(const Accesses& accesses) {
  std::map<const void*, Ranges> written;
  for (const auto& access : accesses)
    if (access.writes) written[access.storage].push_back({access.begin, access.end, access.block});
  std::vector<const void*> shared;
  for (auto& [storage, ranges] : written)
    if (!normalise(ranges)) shared.push_back(storage);
  for (const void* storage : shared) written.erase(storage);
  for (const auto& access : accesses) {
    const auto found = access.reads ? written.find(access.storage) : written.end();
    if (found == written.end() ||
        !readsOfOthers(found->second, {access.begin, access.end, access.block}))
      continue;
    shared.push_back(access.storage);
    written.erase(found);
  }
  return shared;
}

// Fewer blocks than one would like are better than those of an inner dimension, whose bytes lie
// scattered.
constexpr uint64_t enough_blocks = 24;

}  // namespace

Split::Split(const KernelInfo& kernel, const port::LaunchRecord& launch,
             std::span<const ArgumentValue> values, std::span<const BoundArgument> bound,
             uint64_t most_blocks, bool one_memory) {
  std::copy_n(launch.group_count, 3, whole_.end);
  const Launch all{kernel, launch, values, bound};
  most_blocks = std::max<uint64_t>(most_blocks, 1);
  if (hazards(kernel, one_memory)) return;
  if (separateMemory(all)) {
    const auto shared = choose(all, most_blocks);
    if (!shared.empty() && one_memory) in_place_ = true;
    if (!shared.empty() && !one_memory) takeMerged(all, shared);
  } else if (one_memory) {
    in_place_ = true;
    dimension_ = cutDimension(whole_, std::min(most_blocks, enough_blocks));
    blocks_ = std::min(unitsAlong(whole_, dimension_), most_blocks);
  } else {
    class_ = SplitClass::whole;
  }
  if (blocks_ < 2) in_place_ = false, refuse("there are no two work-groups to tell apart");
  if (!in_place_) return;
  class_ = SplitClass::merge;
  explain("work-groups may write what others read or write");
  accesses_.clear();
}

bool Split::Launch::writes(size_t argument) const {
  const ArgumentInfo& info = kernel.arguments[argument];
  return bound[argument].may_write && info.writes && info.kind == ArgumentKind::global_pointer;
}

void Split::refuse(std::string reason) {
  class_ = SplitClass::whole;
  reason_ = std::move(reason);
  merged_.clear();
  accesses_.clear();
}

// The first one counts.
void Split::explain(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
}

bool Split::hazards(const KernelInfo& kernel, bool one_memory) {
  const uint32_t counted = kernel.split_hazards & ~(one_memory ? harmless_in_place : 0);
  for (uint32_t each = 1; each != 0; each <<= 1)
    if (counted & each) return refuse(nameOf(static_cast<SplitHazard>(each))), true;
  for (uint32_t each = 1; each != 0; each <<= 1)
    if (kernel.split_hazards & each) explain(nameOf(static_cast<SplitHazard>(each)));
  return false;
}

// Can there be copies of all that it may reach?
bool Split::separateMemory(const Launch& launch) {
  if (!reason_.empty()) return false;
  for (size_t i = 0; i < launch.bound.size(); ++i) {
    const BoundArgument& bound = launch.bound[i];
    if (bound.shared_memory) explain("shared virtual memory");
    if (bound.storage && !isPointer(launch.kernel.arguments[i].kind)) explain("images");
  }
  return reason_.empty();
}

// Takes the dimension along which the parts have most objects apart, and returns those that they
// have not.
std::vector<const void*> Split::choose(const Launch& launch, uint64_t most_blocks) {
  // To keep account of more takes longer than the kernel is likely to.
  constexpr size_t most_accesses = 1 << 14;
  const unsigned first = cutDimension(whole_, std::min(most_blocks, enough_blocks));
  Cut best;
  bool found = false;
  for (unsigned step = 0; step < 3; ++step) {
    const unsigned dimension = (first + step) % 3;
    if (unitsAlong(whole_, dimension) < 2) continue;
    Cut cut = cutAlong(launch, dimension, most_blocks);
    if (cut.accesses.size() > most_accesses) continue;
    const bool better = !found || cut.shared.size() < best.shared.size();
    if (better) best = std::move(cut);
    found = true;
    if (best.shared.empty()) break;
  }
  if (!found && whole_.count() > 1) refuse("what its parts touch lies scattered");
  if (!found) return {};
  dimension_ = best.dimension;
  blocks_ = best.blocks;
  accesses_ = std::move(best.accesses);
  return std::move(best.shared);
}

Split::Cut Split::cutAlong(const Launch& launch, unsigned dimension, uint64_t most_blocks) const {
  Cut cut;
  cut.dimension = dimension;
  cut.blocks = std::min(unitsAlong(whole_, dimension), most_blocks);
  std::vector<TouchedRange> touched;
  for (uint64_t block = 0; block < cut.blocks; ++block) {
    const AccessEvaluation evaluation(launch.record, launch.values,
                                      boxOf(dimension, cut.blocks, {block, block + 1}));
    for (size_t i = 0; i < launch.bound.size(); ++i) {
      const BoundArgument& bound = launch.bound[i];
      if (!bound.storage) continue;
      touched.clear();
      evaluation.touched(launch.kernel.arguments[i], bound.size, touched);
      for (const TouchedRange& range : touched) {
        BlockAccess access;
        access.argument = i;
        access.begin = bound.origin + range.begin;
        access.end = bound.origin + range.end;
        access.reads = range.reads;
        access.writes = range.writes && launch.writes(i);
        access.storage = bound.storage;
        access.block = block;
        cut.accesses.push_back(access);
      }
    }
  }
  cut.shared = sharedBy(cut.accesses);
  return cut;
}

// How the bytes of a storage become one again that parts write together. Refuses if they cannot.
std::optional<MergedBytes> Split::mergedBytes(const Launch& launch, const void* storage) {
  MergedBytes merged{storage, ~size_t{0}, 0, Combination::none, 0};
  bool combined = false, otherwise = false;
  for (size_t i = 0; i < launch.bound.size(); ++i) {
    const BoundArgument& bound = launch.bound[i];
    const ArgumentInfo& info = launch.kernel.arguments[i];
    if (bound.storage != storage) continue;
    // Parts know the storage by their copies alone, so those have a place for each argument, used
    // or not.
    merged.begin = std::min(merged.begin, bound.origin);
    merged.end = std::max(merged.end, bound.origin + bound.size);
    if (!launch.writes(i) && !info.reads) continue;
    const bool atomics = info.combination != Combination::none;
    const uint8_t unit = atomics ? info.combined_bytes : launch.writes(i) ? info.store_bytes : 0;
    if (atomics && combined && merged.combination != info.combination) otherwise = true;
    (atomics ? combined : otherwise) = true;
    if (atomics) merged.combination = info.combination;
    if (unit == 0) continue;
    const bool same = merged.bytes == 0 || merged.bytes == unit;
    if (unit == stores_differ || !same || bound.origin % unit != 0)
      return refuse("work-groups may write the same memory in units of several sizes"),
             std::nullopt;
    merged.bytes = unit;
  }
  if (combined && otherwise)
    return refuse("what atomics combine is also used otherwise"), std::nullopt;
  merged.bytes = std::max<uint8_t>(merged.bytes, 1);
  explain(combined ? "atomics of all work-groups are combined"
                   : "work-groups may write what others read or write");
  return merged;
}

void Split::takeMerged(const Launch& launch, std::span<const void* const> shared) {
  for (const void* storage : shared) {
    const auto merged = mergedBytes(launch, storage);
    if (!merged) return;
    merged_.push_back(*merged);
  }
  class_ = SplitClass::merge;
  std::erase_if(accesses_, [&](const BlockAccess& access) {
    return std::ranges::find(shared, access.storage) != shared.end();
  });
}

port::GroupBox Split::boxOf(unsigned dimension, uint64_t blocks, const Slice& slice) const {
  const uint64_t layers = unitsAlong(whole_, dimension);
  // Blocks differ by one layer at most. Neither product can be much more than the number of layers,
  // so it is the division that comes first.
  const auto layer = [&](uint64_t block) {
    return layers / blocks * block + std::min(block, layers % blocks);
  };
  return cut(whole_, dimension, {layer(slice.begin), layer(slice.end)});
}

port::GroupBox Split::box(const Slice& blocks) const { return boxOf(dimension_, blocks_, blocks); }

void Split::accesses(const Slice& blocks, std::vector<PartAccess>& list) const {
  const auto from = std::ranges::lower_bound(accesses_, blocks.begin, {}, &BlockAccess::block);
  const auto upto = std::ranges::lower_bound(accesses_, blocks.end, {}, &BlockAccess::block);
  std::vector<PartAccess> all(from, upto);
  const auto before = [](const PartAccess& a, const PartAccess& b) {
    return std::pair(a.argument, a.begin) < std::pair(b.argument, b.begin);
  };
  std::stable_sort(all.begin(), all.end(), before);
  const size_t first = list.size();
  for (const PartAccess& access : all) {
    PartAccess* last = list.size() > first ? &list.back() : nullptr;
    if (last && last->argument == access.argument && last->end >= access.begin &&
        last->reads == access.reads && last->writes == access.writes)
      last->end = std::max(last->end, access.end);
    else
      list.push_back(access);
  }
}

}  // namespace weft::partition
