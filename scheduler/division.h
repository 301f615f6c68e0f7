// One launch that the members of a unified device run together: who gets which part of it, from the
// decision to divide it to the end of its last part. docs/balancing.md.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/kernel.h"
#include "partition/policy.h"
#include "partition/split.h"
#include "profiling/store.h"
#include "scheduler/queue.h"

namespace weft {

// Shared by the command and its parts, which see to it that one of them calls at a time.
class Division {
 public:
  // Somebody who can run parts of it: a device, and the kernel there.
  struct Member {
    Device* device;
    port::Module* module;
    uint32_t kernel;
  };

  Division(Queue& queue, const DeviceKernel& kernel, Ref<ArgumentSet> arguments,
           const port::LaunchRecord& record);

  // May it be divided at all? Known when it is enqueued.
  bool possible() const;
  // Decides how, with the bytes where they are now: when what it waits for has ended, before the
  // first part.
  void plan();

  const partition::Split& split() const { return split_; }
  const std::shared_ptr<const DeviceBuild>& build() const { return build_; }
  uint32_t kernel() const { return index_; }
  const Ref<ArgumentSet>& arguments() const { return arguments_; }
  const port::LaunchRecord& record() const { return record_; }
  const Member& member(size_t index) const { return members_[index].member; }
  size_t members() const { return members_.size(); }

  // A part for the member, nullopt when there is none for it now.
  std::optional<partition::Slice> next(size_t member);
  // It ended after running between these times.
  void finished(size_t member, const partition::Slice& slice, uint64_t begin, uint64_t end);
  // It ended without having run to its end.
  void failed(size_t member) { --members_[member].in_hand; }

 private:
  struct State {
    Member member;
    unsigned in_hand = 0;
    uint64_t busy_until = 0;
  };

  double itemsPerBlock() const;
  // What is predicted of the members. `known` turns false when one was never measured.
  std::vector<partition::MemberModel> models(std::span<const uint64_t> homes, bool& known) const;
  void predictTransfers(partition::MemberModel& model, const Device& device,
                        const partition::Slice& home) const;

  Device& device_;
  std::shared_ptr<const DeviceBuild> build_;
  uint32_t index_;
  Ref<ArgumentSet> arguments_;
  port::LaunchRecord record_;
  profiling::KernelKey key_;
  partition::Split split_;
  std::vector<State> members_;
  std::unique_ptr<partition::Policy> policy_;
  uint64_t begun_ = 0;
};

}  // namespace weft
