#include "scheduler/device_family.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/device_family_parts.h"
#include "scheduler/state.h"

namespace weft {
namespace {

// A journal has room for what its queues take, as far as that goes, for the table of events, and
// for what takes nothing of a queue. Backends keep blocks of that size for the next one.
constexpr uint64_t most_journal_bytes = 32 << 20,
                   spare_journal_bytes =
                       (1 << 20) + JournalEvents::placesFor(port::max_device_events) *
                                       sizeof(port::JournalEvent),
                   least_journal_bytes = 256 << 10;

// Of any family's last round.
std::atomic<uint32_t> rounds{0};

}  // namespace

void DeviceFamily::run(port::Operation& whole, Context& context, const DeviceKernel& code,
                       Streams streams) noexcept try {
  DeviceFamily* family = new DeviceFamily(whole, context, code, streams);
  if (!family->turns_.enter(*family)) return;
  goOnAll(family);
} catch (...) {
  refuse(whole, currentFailure());
}

DeviceFamily* DeviceFamily::begin() noexcept {
  for (bool again = false; !began_; again = true) try {
      start();
      began_ = true;
    } catch (...) {
      const cl_int failure = currentFailure();
      forgetStart();
      const bool starves = failure == CL_MEM_OBJECT_ALLOCATION_FAILURE;
      if (starves && turns_.waitForMemory(*this)) return nullptr;
      // Those that it would have waited for may have given theirs back just now.
      if (!starves || again) return refuseToBegin(failure);
    }
  return proceed(Lock(mutex_));
}

DeviceFamily* DeviceFamily::refuseToBegin(cl_int failure) noexcept {
  port::Operation& whole = whole_;
  // The turns go with what `whole` belongs to.
  DeviceFamily* const next = turns_.leave();
  release();
  refuse(whole, failure);
  return next;
}

// Plays the round that there was no memory for.
DeviceFamily* DeviceFamily::goOn() noexcept {
  Lock lock(mutex_);
  orders_.plays = true;
  return proceed(std::move(lock));
}

void DeviceFamily::goOnAll(DeviceFamily* first) noexcept {
  const RuntimeScope scope;
  while (first) {
    DeviceFamily* const rest = std::exchange(first->next_in_line_, nullptr);
    DeviceFamily* more = first->began_ ? first->goOn() : first->begin();
    DeviceFamily** end = &more;
    while (*end) end = &(*end)->next_in_line_;
    *end = rest;
    first = more;
  }
}

DeviceFamily::DeviceFamily(port::Operation& whole, Context& context, const DeviceKernel& code,
                           Streams streams)
    : EnqueuedCommands(SIZE_MAX),  // kernels see to it that there are not too many
      whole_(whole),
      context_(context),
      code_(code),
      device_(code.device->port()),
      streams_(streams),
      turns_(State::of(context).familyTurns(*code.device)),
      root_(std::make_unique<Root>(*this)),
      reading_(std::make_unique<Reading>(*this)) {}

DeviceFamily::~DeviceFamily() = default;

port::Nanoseconds DeviceFamily::now() const noexcept { return profiling::now(); }

void DeviceFamily::start() {
  const auto& launch = std::get<port::Launch>(whole_.work);
  describeKernels();
  default_queue_ = numberOf(launch.default_queue);
  takeArguments(launch);
  memory_ = allocateJournal();
  round_ = {root_.get()};
  openRound();
}

// Nothing of it was submitted.
void DeviceFamily::forgetStart() noexcept {
  orders_ = {};
  steps_.clear();
  last_step_ = nullptr;
  in_flight_ = round_left_ = 0;
  round_.clear();
  root_->images = nullptr;
  root_->words.clear();
  memory_ = nullptr;
  known_.forget();
  blocks_.clear();
  facts_.clear();
  queues_.clear();
}

void DeviceFamily::describeKernels() {
  const port::Capabilities& device = device_.capabilities();
  const auto& kernels = code_.build->image->kernels;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const KernelInfo& info = kernels[i];
    if (!info.is_block) continue;
    if (info.name == port::profile_writer_symbol) profile_writer_ = i;
    blocks_.push_back(i);
    port::JournalKernel& facts = facts_.emplace_back();
    std::ranges::copy(info.required_local_size, facts.required_local);
    facts.local_bytes = info.local_bytes;
    facts.max_group = static_cast<uint32_t>(largestGroup(i));
    facts.preferred_multiple = static_cast<uint32_t>(device.preferred_work_group_multiple);
    facts.sub_group_size = info.sub_group_size;
    facts.local_arguments = static_cast<uint32_t>(std::max<size_t>(info.arguments.size(), 1) - 1);
    facts.uniform_groups = info.uniform_groups;
  }
}

size_t DeviceFamily::largestGroup(uint32_t kernel) const {
  const size_t most = device_.capabilities().max_work_group_size;
  const size_t own = code_.module().maxWorkGroupSize(kernel);
  return own == 0 ? most : std::min(own, most);
}

// Which kernels know it by.
uint32_t DeviceFamily::numberOf(port::DeviceQueue* queue) {
  if (!queue) return 0;
  const auto known = std::ranges::find(queues_, queue);
  const auto index = known - queues_.begin();
  if (known == queues_.end()) queues_.push_back(queue);
  return static_cast<uint32_t>(index) + 1;
}

void DeviceFamily::takeArguments(const port::Launch& whole) {
  root_->record = *whole.record;
  root_->arguments.assign(whole.arguments.begin(), whole.arguments.end());
  root_->words.reserve(root_->arguments.size());
  root_->timed = whole_.timed;
  root_->wants_start = whole_.wants_start;
  // What an image's memory is stays known to the backend.
  const auto replace = [&](port::LaunchArgument& argument, uint64_t word) {
    argument.kind = ArgumentKind::value;
    argument.value = &root_->words.emplace_back(word);
    argument.size = sizeof word;
  };
  std::vector<port::ImageDescriptor> images;
  for (port::LaunchArgument& argument : root_->arguments) {
    if (argument.kind == ArgumentKind::queue) {
      port::DeviceQueue* queue = nullptr;
      std::memcpy(&queue, argument.value, sizeof queue);
      replace(argument, numberOf(queue));
    } else if (argument.kind == ArgumentKind::image) {
      port::ImageDescriptor& image = images.emplace_back();
      std::memcpy(&image, argument.value, sizeof image);
      image.address = argument.memory->deviceAddress() + argument.offset;
    }
  }
  if (!images.empty()) {
    const auto bytes = std::as_bytes(std::span(images));
    root_->images = allocate(bytes.size());
    upload({bytes.begin(), bytes.end()}, root_->images);
    uint64_t address = root_->images->get().deviceAddress();
    for (port::LaunchArgument& argument : root_->arguments)
      if (argument.kind == ArgumentKind::image)
        replace(argument, std::exchange(address, address + sizeof images[0]));
  }
  port::Launch launch = whole;
  launch.record = &root_->record;
  launch.arguments = root_->arguments;
  root_->work = launch;
}

// What was given back may be on its way.
Ref<DeviceFamily::OwnMemory> DeviceFamily::allocate(uint64_t bytes) const {
  const auto attempt = [&] {
    return make<OwnMemory>(context_, device_.allocate(bytes, family_alignment));
  };
  try {
    return attempt();
  } catch (const Error&) {
    awaitReaper();
  }
  return attempt();
}

// A small one rather than none, where no other family has memory that it is about to give back.
Ref<DeviceFamily::OwnMemory> DeviceFamily::allocateJournal() const {
  uint64_t bytes = 0;
  for (const port::DeviceQueue* queue : queues_) bytes += queue->bytes();
  bytes = std::min(bytes + spare_journal_bytes, most_journal_bytes);
  for (;;) try {
      return allocate(bytes);
    } catch (const Error&) {
      if ((bytes /= 2) < least_journal_bytes || !turns_.isOnlyOne()) throw;
    }
}

void DeviceFamily::ended(Kernel& kernel, port::OperationStatus status, port::Nanoseconds start,
                         port::Nanoseconds end) noexcept {
  const RuntimeScope scope;
  Lock lock(mutex_);
  --in_flight_;
  kernel.status = status;
  kernel.start = start;
  kernel.end = end;
  if (!kernel.writes) {
    Freed freed;
    ran(kernel.scope(), kernel.command(), status, start, end, freed);
    gather(freed);
  } else if (--round_left_ == 0) {
    endOfRound();
  }
  goOnAll(proceed(std::move(lock)));
}

void DeviceFamily::stepped(Step& step, port::OperationStatus status) noexcept {
  const RuntimeScope scope;
  Lock lock(mutex_);
  --in_flight_;
  if (status < 0) outermost().fail(status);
  const auto found = std::ranges::find(steps_, &step, &std::shared_ptr<Step>::get);
  step.before = nullptr;
  if (last_step_ == *found) last_step_ = nullptr;
  steps_.erase(found);
  goOnAll(proceed(std::move(lock)));
}

void DeviceFamily::wasRead(port::OperationStatus status) noexcept {
  const RuntimeScope scope;
  Lock lock(mutex_);
  --in_flight_;
  read_status_ = std::min(read_status_, status);
  if (--round_left_ == 0) endOfRound();
  goOnAll(proceed(std::move(lock)));
}

void DeviceFamily::endOfRound() noexcept {
  port::OperationStatus failure = read_status_;
  for (const Kernel* kernel : round_) failure = std::min(failure, kernel->status);
  try {
    if (failure == 0 && more_readings_.empty()) {
      require(journal_.isOwn(), CL_OUT_OF_RESOURCES, "the journal is another one");
      if (readsOn()) return;
    }
  } catch (...) {
    failure = currentFailure();
  }
  // What is left of a kernel that failed may be anything.
  orders_.plays = failure == 0;
  if (failure < 0) closeRound(failure);
}

// What the first reading left over.
bool DeviceFamily::readsOn() {
  std::vector<Reading*> reads;
  for (const std::span<std::byte> part : journal_.otherParts()) {
    more_readings_.push_back(std::make_unique<Reading>(*this));
    more_readings_.back()->prepare(memory_->get(), journal_.offsetOf(part), part);
    reads.push_back(more_readings_.back().get());
  }
  round_left_ = reads.size();
  in_flight_ += reads.size();
  orders_.reads = std::move(reads);
  return round_left_ != 0;
}

// `failure`: of reading it, or of having memory for it.
void DeviceFamily::closeRound(cl_int failure) noexcept {
  Freed freed;
  if (failure == 0) try {
      play(freed);
    } catch (...) {
      failure = currentFailure();
    }
  if (failure < 0) {
    outermost().fail(failure);
    known_.forget();
  }
  // What they asked for is lost, to those that ran well, too.
  for (Kernel* kernel : std::exchange(round_, {}))
    ran(kernel->scope(), kernel->command(), kernel->status < 0 ? kernel->status : failure,
        kernel->start, kernel->end, freed);
  gather(freed);
}

// Sorts what is ready, and begins a round if there is none and anybody waits for one.
void DeviceFamily::gather(Freed& freed) noexcept {
  for (;;) {
    for (EnqueuedCommand* command = freed.takeReady(); command;) {
      Child& child = static_cast<Child&>(*std::exchange(command, command->after));
      if (!child.writes) ++in_flight_;
      EnqueuedCommand*& list = child.writes ? next_round_ : orders_.kernels;
      child.after = std::exchange(list, &child);
    }
    if (!round_.empty() || !next_round_) return;
    cl_int failure = CL_SUCCESS;
    try {
      for (const EnqueuedCommand* command = next_round_; command; command = command->after)
        round_.push_back(static_cast<Child*>(const_cast<EnqueuedCommand*>(command)));
      std::ranges::reverse(round_);
      openRound();
      next_round_ = nullptr;
      return;
    } catch (...) {
      failure = currentFailure();
      round_.clear();
      known_.forget();
    }
    EnqueuedCommand* list = std::exchange(next_round_, nullptr);
    while (EnqueuedCommand* const command = list) {
      list = command->after;
      ran(*command->within, command, failure, 0, 0, freed);
    }
  }
}

// Of the kernels in `round_`.
void DeviceFamily::openRound() {
  std::vector<port::JournalQueue> room;
  for (const port::DeviceQueue* queue : queues_)
    room.push_back({static_cast<uint32_t>(queue->left() / sizeof(uint64_t)), 0});
  const port::Capabilities& device = device_.capabilities();
  port::JournalHead head;
  head.default_queue = default_queue_;
  head.round = rounds.fetch_add(1, std::memory_order_relaxed) + 1;
  head.local_memory_bytes = device.local_memory_bytes;
  std::ranges::copy(device.max_work_item_sizes, head.max_items);
  require(memory_ != nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE, "no journal");
  port::Memory& memory = memory_->get();
  for (const auto part : journal_.begin(memory, head, room, facts_, known_))
    upload({part.begin(), part.end()}, memory_, journal_.offsetOf(part));
  const std::span<std::byte> first = journal_.firstPart();
  reading_->prepare(memory, journal_.offsetOf(first), first);
  more_readings_.clear();
  read_status_ = 0;
  for (size_t i = 0; i < round_.size(); ++i)
    std::get<port::Launch>(round_[i]->work).journal = {memory.deviceAddress() + journal_.offset(),
                                                       uint64_t{head.round} << 32 | i};
  last_.reserve(round_.size());
  round_left_ = round_.size() + 1;
  in_flight_ += round_left_;
  orders_.opens_round = true;
}

void DeviceFamily::upload(std::vector<std::byte> bytes, const Ref<OwnMemory>& memory,
                          uint64_t offset) {
  addStep<Upload>(memory, offset, std::move(bytes));
}

void DeviceFamily::writeProfile(uint64_t address, DeviceEvent::Profile profile) noexcept try {
  addStep<ProfileWriting>(profile_writer_, address, profile);
} catch (...) {
  outermost().fail(currentFailure());
}

}  // namespace weft
