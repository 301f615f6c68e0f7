#include "partition/split.h"

#include <algorithm>
#include <map>

namespace weft::partition {
namespace {

bool isPointer(ArgumentKind kind) {
  return kind == ArgumentKind::global_pointer || kind == ArgumentKind::constant_pointer;
}

bool mayWrite(const ArgumentInfo& argument, const BoundArgument& bound) {
  return argument.writes && argument.kind == ArgumentKind::global_pointer && bound.may_write;
}

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

}  // namespace

Split::Split(const KernelInfo& kernel, const port::LaunchRecord& launch,
             std::span<const ArgumentValue> values, std::span<const BoundArgument> bound,
             uint64_t most_blocks) {
  // Fewer blocks than one would like are better than those of an inner dimension, whose bytes lie
  // scattered.
  constexpr uint64_t enough_blocks = 24;
  std::copy_n(launch.group_count, 3, whole_.end);
  if (whole_.count() < 2) refuse("there are no two work-groups to tell apart");
  if (class_ == SplitClass::whole || hazards(kernel) || !known(kernel, bound)) return;
  // Where parts along one dimension overlap those along another may not.
  const unsigned first = cutDimension(whole_, std::min(most_blocks, enough_blocks));
  for (unsigned step = 0; step < 3; ++step) {
    dimension_ = (first + step) % 3;
    blocks_ = std::min(unitsAlong(whole_, dimension_), std::max<uint64_t>(most_blocks, 1));
    if (blocks_ < 2) continue;
    class_ = SplitClass::exact;
    accesses_.clear();
    evaluate(kernel, launch, values, bound);
    if (class_ == SplitClass::exact) break;
  }
}

void Split::refuse(std::string reason) {
  class_ = SplitClass::whole;
  reason_ = std::move(reason);
  accesses_.clear();
}

bool Split::hazards(const KernelInfo& kernel) {
  for (uint32_t bit = 1; bit != 0; bit <<= 1) {
    if (!(kernel.split_hazards & bit)) continue;
    refuse(nameOf(static_cast<SplitHazard>(bit)));
    return true;
  }
  return false;
}

// False: it is whole.
bool Split::known(const KernelInfo& kernel, std::span<const BoundArgument> bound) {
  for (size_t i = 0; i < bound.size(); ++i) {
    const ArgumentInfo& argument = kernel.arguments[i];
    if (bound[i].shared_memory) refuse("shared virtual memory");
    if (!bound[i].storage) continue;
    if (!isPointer(argument.kind))
      refuse("images");
    else if (mayWrite(argument, bound[i]) && !argument.writes_known)
      refuse("argument " + std::to_string(i) + ": where it is written is not known");
  }
  return class_ == SplitClass::exact;
}

void Split::evaluate(const KernelInfo& kernel, const port::LaunchRecord& launch,
                     std::span<const ArgumentValue> values, std::span<const BoundArgument> bound) {
  // To keep account of more takes longer than the kernel is likely to.
  constexpr size_t most_accesses = 1 << 14;
  std::vector<TouchedRange> touched;
  for (uint64_t block = 0; block < blocks_; ++block) {
    const AccessEvaluation evaluation(launch, values, box({block, block + 1}));
    for (size_t i = 0; i < bound.size(); ++i) {
      if (!bound[i].storage) continue;
      touched.clear();
      evaluation.touched(kernel.arguments[i], bound[i].size, touched);
      for (const TouchedRange& range : touched) {
        BlockAccess access;
        access.argument = i;
        access.begin = bound[i].origin + range.begin;
        access.end = bound[i].origin + range.end;
        access.reads = range.reads;
        access.writes = range.writes && mayWrite(kernel.arguments[i], bound[i]);
        access.storage = bound[i].storage;
        access.block = block;
        accesses_.push_back(access);
      }
    }
  }
  if (accesses_.size() > most_accesses)
    refuse("what its parts touch lies scattered");
  else if (!disjoint())
    refuse("work-groups may write what others read or write");
  else
    reason_.clear();
}

bool Split::disjoint() const {
  std::map<const void*, Ranges> written;
  for (const BlockAccess& access : accesses_)
    if (access.writes) written[access.storage].push_back({access.begin, access.end, access.block});
  for (auto& [storage, ranges] : written)
    if (!normalise(ranges)) return false;
  return std::none_of(accesses_.begin(), accesses_.end(), [&](const BlockAccess& access) {
    const auto found = access.reads ? written.find(access.storage) : written.end();
    return found != written.end() &&
           readsOfOthers(found->second, {access.begin, access.end, access.block});
  });
}

port::GroupBox Split::box(const Slice& blocks) const {
  const uint64_t layers = unitsAlong(whole_, dimension_);
  // Blocks differ by one layer at most. Neither product can be much more than the number of layers,
  // so it is the division that comes first.
  const auto layer = [&](uint64_t block) {
    return layers / blocks_ * block + std::min(block, layers % blocks_);
  };
  return cut(whole_, dimension_, {layer(blocks.begin), layer(blocks.end)});
}

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
