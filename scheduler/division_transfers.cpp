// What a division expects of the bytes that its parts need and lack, and of merging copies.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/division.h"
#include "scheduler/residency.h"

namespace weft {
namespace {

using partition::Slice;

constexpr double piece_ns = 2000;  // of moving one more piece of memory

// What it takes to have memory made, until somebody measures that. Seen on NVIDIA's GPUs; the host
// touches its pages one by one.
double allocationTime(const Device& device, uint64_t bytes) {
  constexpr double allocation_ns = 60'000, gpu_bytes_per_ns = 250, host_bytes_per_ns = 4;
  const bool host = device.capabilities().memory_space == port::host_space;
  return allocation_ns + static_cast<double>(bytes) / (host ? host_bytes_per_ns : gpu_bytes_per_ns);
}

// Between two GPUs links differ by more than what an estimate is worth, and one launch tells.
bool isUnknownPeer(const Device* source, const Device& target, uint64_t bytes) {
  if (!source || source->capabilities().memory_space == port::host_space ||
      target.capabilities().device_class != port::DeviceClass::gpu ||
      !target.port().reaches(source->capabilities().memory_space))
    return false;
  const auto time = Knowledge::get().store.transferTime(linkBetween(source, &target), bytes);
  return !time || time->confidence <= trusted;
}

// What parts read of one argument.
struct Reads {
  uint64_t of_blocks = 0;  // each block's bytes added up
  std::vector<std::pair<size_t, size_t>> ranges;

  void join() {
    std::sort(ranges.begin(), ranges.end());
    size_t last = 0;
    for (size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].first <= ranges[last].second)
        ranges[last].second = std::max(ranges[last].second, ranges[i].second);
      else
        ranges[++last] = ranges[i];
    }
    if (!ranges.empty()) ranges.resize(last + 1);
  }
  uint64_t bytes() const {
    return std::accumulate(
        ranges.begin(), ranges.end(), uint64_t{0},
        [](uint64_t sum, const auto& range) { return sum + range.second - range.first; });
  }
};

}  // namespace

// Bytes that all blocks read have to be there before the first part begins; those of one block move
// with it.
void Division::predictTransfers(partition::MemberModel& model, const Device& device,
                                double needed) const {
  const port::MemorySpace space = device.capabilities().memory_space;
  std::vector<Reads> reads(arguments_.values.size());
  std::vector<partition::PartAccess> touched;
  for (uint64_t block = 0; block < split_->blocks(); ++block) {
    touched.clear();
    split_->accesses({block, block + 1}, touched);
    for (const partition::PartAccess& access : touched) {
      if (!access.reads) continue;
      reads[access.argument].of_blocks += access.end - access.begin;
      reads[access.argument].ranges.emplace_back(access.begin, access.end);
    }
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    if (reads[i].ranges.empty()) continue;
    reads[i].join();
    const bool shared = 2 * reads[i].of_blocks > 3 * reads[i].bytes();
    double time = 0;
    const auto missing = missingBytes(*arguments_.values[i].memory(), reads[i].ranges, space);
    for (const auto& [source, bytes] : missing)
      if (!isUnknownPeer(source, device, bytes))
        time += weft::State::of(context_).transferTime(source, &device, bytes);
    if (!missing.empty()) time += piece_ns * static_cast<double>(reads[i].ranges.size() - 1);
    // Later launches find there what this one brings.
    time *= needed;
    if (shared)
      model.start_ns += time;
    else
      model.transfer_ns += time / static_cast<double>(split_->blocks());
  }
}

// Of the bytes that a part reads.
double Division::fetchTime(const Device& device, const Slice& slice) const {
  // Two GPUs that never exchanged anything.
  constexpr double peer_ns = 200'000, peer_bytes_per_ns = 30;
  AccessList touched;
  accesses(slice, touched, false);
  double time = 0;
  for (const Access& access : touched) {
    if (!access.reads) continue;
    const std::pair<size_t, size_t> range{access.begin, access.end};
    for (const auto& [source, bytes] :
         missingBytes(*access.object, {&range, 1}, device.capabilities().memory_space))
      time += isUnknownPeer(source, device, bytes)
                  ? peer_ns + static_cast<double>(bytes) / peer_bytes_per_ns
                  : weft::State::of(context_).transferTime(source, &device, bytes);
  }
  return time;
}

// What it takes once to divide it like that, more than to leave it to the best member: the memory
// that members lack is made, one after the other, and what their parts read is brought there.
double Division::investment(const partition::Plan& plan) const {
  double made = 0, fetched = 0;
  uint64_t begin = 0;
  for (size_t i = 0; i < members(); ++i) {
    const Slice slice{begin, begin + plan.shares[i]};
    begin = slice.end;
    if (slice.count() == 0) continue;
    const Device& device = *member(i).device;
    const port::MemorySpace space = device.capabilities().memory_space;
    fetched = std::max(fetched, fetchTime(device, slice));
    std::vector<const Storage*> lacking;
    for (const ArgumentValue& value : arguments_.values) {
      const Storage* const storage = value.memory() ? &value.memory()->storage() : nullptr;
      if (i == plan.best || !storage || storage->inPlace() || storage->find(space) ||
          std::ranges::find(lacking, storage) != lacking.end())
        continue;
      lacking.push_back(storage);
      made += allocationTime(device, storage->size());
    }
  }
  const double alone = fetchTime(*member(plan.best).device, {0, split_->blocks()});
  return made + std::max(fetched - alone, 0.0);
}

// How many more launches have to come until dividing all of them would have gained a part of what
// it takes once: who launches a kernel often is likely to go on, and who does not has lost little.
uint64_t Division::launchesToRepay(const Experience::State& seen,
                                   const partition::Plan& plan) const {
  constexpr double repaid = 0.5;
  if (context_.singleSpace()) return 0;
  const double gain_ns = plan.single_ns - plan.split_ns;
  const double needed = repaid * investment(plan) / gain_ns - seen.launchesSoFar() - 1;
  return needed > 0 ? static_cast<uint64_t>(std::ceil(needed)) : 0;
}

// Of what it takes to give all members copies and to merge them.
profiling::LinkKey Division::mergeKey() const {
  const bool exclusive = std::ranges::any_of(split_->merged(), &partition::MergedBytes::exclusive);
  std::string copies = exclusive ? "exclusive copies of" : "copies of";
  for (const State& state : members_)
    copies.append(1, ' ').append(keyOf(*state.member.device).uuid);
  return {std::move(copies), "host", device_.capabilities().driver_version};
}

// Until it was measured: members get the bytes as they were, and the host gets them back from each;
// it takes the slowest link's time, and that of the host's own copies.
double Division::mergeTime() const {
  constexpr double host_bytes_per_ns = 8;
  uint64_t bytes = 0;
  for (const partition::MergedBytes& merged : split_->merged()) bytes += merged.end - merged.begin;
  if (bytes == 0) return 0;
  if (const auto known = Knowledge::get().store.transferTime(mergeKey(), bytes);
      known && known->confidence > trusted)
    return known->nanoseconds;
  auto& times = weft::State::of(context_);
  double link = 0;
  for (const State& state : members_) {
    const Device& device = *state.member.device;
    if (device.capabilities().device_class == port::DeviceClass::cpu) continue;
    link = std::max(link, times.transferTime(nullptr, &device, bytes) +
                              times.transferTime(&device, nullptr, bytes));
  }
  return link + static_cast<double>(bytes * (2 * members() + 1)) / host_bytes_per_ns;
}

}  // namespace weft
