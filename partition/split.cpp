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
// waiting for each other: a group that does might keep another's part from being begun.
constexpr uint32_t harmless_in_place =
    bit(SplitHazard::unnamed_memory) | bit(SplitHazard::global_atomics) |
    bit(SplitHazard::ordered_atomics) | bit(SplitHazard::common_atomics);
// What parts with copies may do as long as no two of them change the same: the one comes before the
// other then, as far as relaxed atomics can tell.
constexpr uint32_t harmless_apart = bit(SplitHazard::global_atomics);

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

// Whoever keeps account of bytes does so piece by piece. More than the first are joined if they
// can be, and more than the second are not worth it.
constexpr size_t few_pieces = 32, most_pieces = 256;
// To keep account of more takes longer than the kernel is likely to.
constexpr size_t most_accesses = 1 << 14;
// Of one access of one block, if nothing is to be had with few: work-items that take one element
// after the other at a distance of all of them have one run each time.
constexpr unsigned most_runs = 128;

// Are these accesses of one argument, the later one not before the other, one to keep account of?
bool joins(const PartAccess& before, const PartAccess& access) {
  return before.argument == access.argument && before.end >= access.begin &&
         before.reads == access.reads && before.writes == access.writes;
}

}  // namespace

Split::Split(const KernelInfo& kernel, const port::LaunchRecord& launch,
             std::span<const ArgumentValue> values, std::span<const BoundArgument> bound,
             uint64_t most_blocks, bool one_memory) {
  std::copy_n(launch.group_count, 3, whole_.end);
  const Launch all{kernel, launch, values, bound};
  most_blocks = std::max<uint64_t>(most_blocks, 1);
  if (hazards(all, one_memory)) return;
  if (separateMemory(all)) {
    auto shared = choose(all, most_blocks, one_memory);
    if (!shared.empty() && one_memory) in_place_ = true;
    if (!shared.empty() && !one_memory) takeMerged(all, std::move(shared));
  } else if (one_memory) {
    in_place_ = true;
    dimension_ = cutDimension(whole_, std::min(most_blocks, enough_blocks));
    blocks_ = std::min(unitsAlong(whole_, dimension_), most_blocks);
  } else {
    class_ = SplitClass::whole;
  }
  const bool refused = class_ == SplitClass::whole;
  if (!refused && blocks_ < 2)
    in_place_ = false, refuse("there are no two work-groups to tell apart");
  if (!in_place_) return;
  class_ = SplitClass::merge;
  explain("work-groups may write what others read or write");
  accesses_.clear();
}

bool Split::Launch::hasAtomics() const {
  return kernel.split_hazards & bit(SplitHazard::global_atomics);
}

bool Split::Launch::writes(size_t argument) const {
  return bound[argument].may_write && mayWrite(kernel.arguments[argument]);
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

bool Split::hazards(const Launch& launch, bool one_memory) {
  const uint32_t all = launch.kernel.split_hazards;
  const uint32_t counted = all & ~(one_memory ? harmless_in_place : harmless_apart);
  for (uint32_t each = 1; each != 0; each <<= 1)
    if (counted & each) return refuse(nameOf(static_cast<SplitHazard>(each))), true;
  if (launch.hasAtomics() && launch.mayBindTwice())
    return refuse("atomics, with the same memory behind two arguments"), true;
  for (uint32_t each = 1; one_memory && each != 0; each <<= 1)
    if (all & each) explain(nameOf(static_cast<SplitHazard>(each)));
  return false;
}

// What the compiler says of loops that depend on atomics is of arguments that lie apart.
bool Split::Launch::mayBindTwice() const {
  for (size_t i = 0; i < bound.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const BoundArgument &one = bound[i], &other = bound[j];
      const bool pointers =
          isPointer(kernel.arguments[i].kind) && isPointer(kernel.arguments[j].kind);
      if (!pointers || !(writes(i) || writes(j))) continue;
      if (one.shared_memory || other.shared_memory) return true;
      if (one.storage && one.storage == other.storage && one.origin < other.origin + other.size &&
          other.origin < one.origin + one.size)
        return true;
    }
  return false;
}

// Can there be copies of all that it may reach?
bool Split::separateMemory(const Launch& launch) {
  if (!reason_.empty()) return false;
  for (const BoundArgument& bound : launch.bound)
    if (bound.shared_memory) explain("shared virtual memory");
  return reason_.empty();
}

// Takes the dimension along which the parts have most objects apart, and returns those that they
// have not.
std::vector<const void*> Split::choose(const Launch& launch, uint64_t most_blocks,
                                       bool one_memory) {
  const unsigned first = cutDimension(whole_, std::min(most_blocks, enough_blocks));
  Cut best;
  bool found = false;
  // What lies together along another dimension is better than many runs along this one.
  for (const unsigned runs : {AccessEvaluation::few_runs, most_runs}) {
    for (unsigned step = 0; step < 3; ++step) {
      const unsigned dimension = (first + step) % 3;
      if (unitsAlong(whole_, dimension) < 2) continue;
      Cut cut = cutAlong(launch, dimension, most_blocks, runs);
      if (!one_memory) cut.joinPieces();
      if (cut.accesses.size() > most_accesses || cut.pieces > most_pieces) continue;
      const bool better = !found || cut.shared.size() < best.shared.size();
      if (better) best = std::move(cut);
      found = true;
      if (best.shared.empty()) break;
    }
    if (found && best.shared.empty()) break;
  }
  if (!found && whole_.count() > 1) refuse("what its parts touch lies scattered");
  if (!found) return {};
  take(std::move(best));
  return std::move(best.shared);
}

void Split::take(Cut&& cut) {
  dimension_ = cut.dimension;
  blocks_ = cut.blocks;
  std::ranges::stable_sort(cut.accesses, {}, [](const BlockAccess& access) {
    return std::pair(access.argument, access.begin);
  });
  accesses_.clear();
  for (const BlockAccess& access : cut.accesses) {
    BlockAccess* const last = accesses_.empty() ? nullptr : &accesses_.back();
    if (last && last->block == access.block && joins(*last, access))
      last->end = std::max(last->end, access.end);
    else
      accesses_.push_back(access);
  }
}

Split::Cut Split::cutAlong(const Launch& launch, unsigned dimension, uint64_t most_blocks,
                           unsigned runs) const {
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
      evaluation.touched(launch.kernel.arguments[i], bound.size, touched, runs);
      for (const TouchedRange& range : touched) {
        BlockAccess access;
        access.argument = i;
        access.begin = bound.origin + range.begin;
        access.end = bound.origin + range.end;
        access.reads = range.reads;
        access.writes = range.writes && launch.writes(i);
        access.storage = bound.storage;
        access.block = block;
        access.limit = bound.origin + bound.size;
        cut.accesses.push_back(access);
      }
    }
  }
  cut.shared = sharedBy(cut.accesses);
  return cut;
}

void Split::Cut::joinPieces() {
  std::map<const void*, std::vector<BlockAccess*>> apart;
  for (BlockAccess& access : accesses)
    if (std::ranges::find(shared, access.storage) == shared.end())
      apart[access.storage].push_back(&access);
  for (auto& [storage, list] : apart) pieces += joinPieces(list);
  std::erase_if(accesses, [](const BlockAccess& access) { return access.begin == access.end; });
}

// The rows of a picture without its edges, say: the little that nobody touches between two pieces
// is counted to the first, which keeps it as it is. But not what its argument is not bound to: that
// may be another sub-buffer's. Of what is only read, a block may have more than it needs.
size_t Split::Cut::joinPieces(std::span<BlockAccess*> list) {
  std::ranges::sort(list, {}, [](const BlockAccess* a) { return std::pair(a->begin, a->block); });
  const auto mayFill = [](const BlockAccess& before, const BlockAccess& next) {
    constexpr size_t little = 4096;
    return next.begin <= before.limit &&
           next.begin - before.end <= std::max(little, before.end - before.begin);
  };
  size_t gaps = 0, breaks = 0;
  const BlockAccess* reached = list.front();
  for (size_t i = 1; i < list.size(); ++i) {
    const bool gap = list[i]->begin > reached->end,
               before_next = list[i]->block - list[i - 1]->block <= 1;
    gaps += gap && mayFill(*reached, *list[i]);
    breaks += !before_next || (gap && !mayFill(*reached, *list[i]));
    if (list[i]->end >= reached->end) reached = list[i];
  }
  const bool only_read = std::ranges::none_of(list, &BlockAccess::writes);
  if (breaks > few_pieces && only_read) {
    std::map<std::pair<uint64_t, size_t>, BlockAccess*> hulls;
    for (BlockAccess* access : list) {
      BlockAccess* const hull =
          hulls.try_emplace({access->block, access->argument}, access).first->second;
      hull->end = std::max(hull->end, access->end);
      hull->reads |= access->reads;
      if (hull != access) access->end = access->begin;
    }
    return 1;
  }
  BlockAccess* farthest = list.front();
  for (BlockAccess* access : list) {
    if (gaps > few_pieces && access->begin > farthest->end && mayFill(*farthest, *access)) {
      farthest->end = access->begin;
      farthest->reads = true;
    }
    if (access->end >= farthest->end) farthest = access;
  }
  return 1 + breaks + (gaps > few_pieces ? 0 : gaps);
}

bool Split::Launch::isImage(const void* storage) const {
  for (size_t i = 0; i < bound.size(); ++i)
    if (bound[i].storage == storage && kernel.arguments[i].kind == ArgumentKind::image) return true;
  return false;
}

// The bytes that are written together in what is behind these arguments; 0: none, stores_differ:
// not the same everywhere, or not at their multiples.
uint8_t Split::Launch::unitOf(const void* storage) const {
  uint8_t unit = 0;
  for (size_t i = 0; i < bound.size(); ++i) {
    const ArgumentInfo& info = kernel.arguments[i];
    if (bound[i].storage != storage || (!writes(i) && !info.reads)) continue;
    const bool atomics = info.combination != Combination::none;
    const uint8_t one = atomics ? info.combined_bytes : writes(i) ? info.store_bytes : 0;
    if (one == 0) continue;
    if (one == stores_differ || (unit != 0 && unit != one) || bound[i].origin % one != 0)
      return stores_differ;
    unit = one;
  }
  return unit;
}

// By what operation all that is done to it can be combined; nullopt: something else is done as
// well.
std::optional<Combination> Split::Launch::combinationOf(const void* storage) const {
  std::optional<Combination> result;
  for (size_t i = 0; i < bound.size(); ++i) {
    const ArgumentInfo& info = kernel.arguments[i];
    if (bound[i].storage != storage || (!writes(i) && !info.reads)) continue;
    if (result && *result != info.combination) return std::nullopt;
    result = info.combination;
  }
  return result;
}

// How the bytes of a storage become one again that parts write together. Refuses if they cannot.
std::optional<MergedBytes> Split::mergedBytes(const Launch& launch, const void* storage,
                                              bool exclusive) {
  const auto combination = launch.combinationOf(storage);
  if (!combination) return refuse("what atomics combine is also used otherwise"), std::nullopt;
  // Which of the bytes are of which size is not kept, and carries would cross between neighbours.
  const uint8_t unit = launch.unitOf(storage);
  if (*combination != Combination::none && unit == stores_differ)
    return refuse("atomics combine the same memory in units of several sizes"), std::nullopt;
  MergedBytes merged{storage, ~size_t{0}, 0, *combination, 0, false};
  merged.exclusive = exclusive && *combination == Combination::none;
  // Parts know the storage by their copies alone, so those have a place for each argument, used or
  // not.
  for (const BoundArgument& bound : launch.bound) {
    if (bound.storage != storage) continue;
    merged.begin = std::min(merged.begin, bound.origin);
    merged.end = std::max(merged.end, bound.origin + bound.size);
  }
  // What atomics write together nobody says, but it is no more than that.
  constexpr uint8_t largest = sizeof(uint64_t);
  const bool unknown = unit == stores_differ || (merged.exclusive && launch.hasAtomics());
  merged.bytes = unknown ? largest : std::max<uint8_t>(unit, 1);
  return merged;
}

void Split::takeMerged(const Launch& launch, std::vector<const void*> shared) {
  const bool differ = std::ranges::any_of(
      shared, [&](const void* storage) { return launch.unitOf(storage) == stores_differ; });
  if (launch.hasAtomics()) explain(nameOf(SplitHazard::global_atomics));
  if (differ) explain("work-groups may write the same memory in units of several sizes");
  const bool exclusive = launch.hasAtomics() || differ;
  for (size_t i = 0; exclusive && i < launch.bound.size(); ++i)
    if (const void* storage = launch.bound[i].storage;
        storage && launch.writes(i) && std::ranges::find(shared, storage) == shared.end())
      shared.push_back(storage);
  for (const void* storage : shared) {
    if (launch.isImage(storage)) return refuse("images cannot be merged");
    const auto merged = mergedBytes(launch, storage, exclusive);
    if (!merged) return;
    merged_.push_back(*merged);
    explain(merged->combination != Combination::none
                ? "atomics of all work-groups are combined"
                : "work-groups may write what others read or write");
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
  const size_t first = list.size();
  for (const BlockAccess& access : accesses_) {
    if (access.block < blocks.begin || access.block >= blocks.end) continue;
    PartAccess* last = list.size() > first ? &list.back() : nullptr;
    if (last && joins(*last, access))
      last->end = std::max(last->end, access.end);
    else
      list.push_back(access);
  }
}

}  // namespace weft::partition
