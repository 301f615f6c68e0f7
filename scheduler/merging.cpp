#include "scheduler/merging.h"

#include <algorithm>
#include <mutex>

#include "profiling/clock.h"
#include "scheduler/combine.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"

namespace weft {
namespace {

// A merge is cut for the threads that do it, and so that some is merged while the rest moves.
constexpr size_t least_merged_at_once = size_t{1} << 20, most_merges = 32;

// [begin, begin + size) of one object's storage to the same bytes of another's.
//
// Bytes that nobody wrote are in every memory something else. Of those the copy takes what is in
// its own, and they have to be that from then on: what the parts changed is found by comparing with
// the copy, so it would be missed wherever they wrote what was there.
class CopyStep final : public MergeStep {
 public:
  CopyStep(Context& context, Device& device, MemObject& source, size_t begin, MemObject& target,
           size_t size)
      : MergeStep(context, device, false),
        source_(&source),
        target_(&target),
        begin_(begin),
        size_(size) {}

 private:
  bool isDeviceWork() const override { return true; }
  void accesses(AccessList& list) override {
    list.push_back({source_.get(), begin_, begin_ + size_, true, hasUnwritten()});
    list.push_back({target_.get(), 0, size_, false, true});
  }
  void prepare() override {
    work =
        port::Copy{locate(*source_, space(), begin_), locate(*target_, space(), 0), {size_, 1, 1}};
  }
  void finalize(cl_int) noexcept override { source_ = target_ = nullptr; }
  std::string what() const override { return "a copy for the parts of a kernel"; }
  bool hasUnwritten() const {
    const auto tickets = State::of(source_->context()).tickets().lock();
    return Residency::of(*source_).hasUnwritten(begin_, begin_ + size_);
  }

  Ref<MemObject> source_, target_;
  size_t begin_, size_;
};

}  // namespace

// One object, what it was, and what the parts made of it.
class Merged {
 public:
  explicit Merged(const Merging::Object& object)
      : bytes_(object.bytes), original_(object.original), before_(object.before) {
    for (const Merging::Copy& copy : object.copies) copies_.push_back(copy.buffer);
  }

  // Of bytes [begin, end).
  void accesses(size_t begin, size_t end, AccessList& list) const {
    list.push_back({original_.get(), bytes_.begin + begin, bytes_.begin + end, true, true});
    list.push_back({before_.get(), begin, end, true, false});
    for (const Ref<Buffer>& copy : copies_) list.push_back({copy.get(), begin, end, true, false});
  }
  // Has anything that may have one writer alone two of them? One may be another command.
  bool conflicts() const {
    if (!bytes_.exclusive) return false;
    std::vector<const std::byte*> all = {at(*original_, bytes_.begin)};
    for (const Ref<Buffer>& copy : copies_) all.push_back(at(*copy, 0));
    return changedTwice(bytes_.bytes, at(*before_, 0), all, size());
  }
  void merge(size_t begin, size_t end) const {
    std::byte* const target = at(*original_, bytes_.begin + begin);
    // Of what one part alone changed nothing but that has to be entered.
    const uint8_t element = bytes_.exclusive ? 1 : bytes_.bytes;
    for (const Ref<Buffer>& copy : copies_)
      combine(bytes_.combination, element, target, at(*before_, begin), at(*copy, begin),
              end - begin);
  }
  // But for a last element that is not whole, which nobody can write, except in other elements.
  size_t size() const {
    const size_t all = bytes_.end - bytes_.begin;
    return bytes_.exclusive ? all : all / bytes_.bytes * bytes_.bytes;
  }

 private:
  static std::byte* at(MemObject& object, size_t offset) {
    return object.storage().in(port::host_space).host() + offset;
  }

  partition::MergedBytes bytes_;
  Ref<MemObject> original_;
  Ref<Buffer> before_;
  std::vector<Ref<Buffer>> copies_;
};

namespace {

// Bytes [begin, end) of the copies become the object's.
class MergeCommand final : public MergeStep {
 public:
  MergeCommand(Context& context, Device& device, const Merged& object, size_t begin, size_t end)
      : MergeStep(context, device, false), object_(object), begin_(begin), end_(end) {
    setSpace(port::host_space);
  }

 private:
  void accesses(AccessList& list) override { object_->accesses(begin_, end_, list); }
  void prepare() override {
    work = port::HostCall{[](void* self) {
                            const auto& step = *static_cast<MergeCommand*>(self);
                            step.object_->merge(step.begin_, step.end_);
                          },
                          this};
  }
  void finalize(cl_int) noexcept override { object_.reset(); }
  std::string what() const override { return "the merge of what parts of a kernel wrote"; }

  std::optional<Merged> object_;
  const size_t begin_, end_;
};

// All that a launch wrote, or nothing of it where that cannot be.
class MergeAllCommand final : public MergeStep {
 public:
  MergeAllCommand(Context& context, Device& device, std::vector<Merged> objects,
                  std::atomic<bool>& conflicts)
      : MergeStep(context, device, false), objects_(std::move(objects)), conflicts_(conflicts) {
    setSpace(port::host_space);
  }

 private:
  void accesses(AccessList& list) override {
    for (const Merged& object : objects_) object.accesses(0, object.size(), list);
  }
  void prepare() override {
    work = port::HostCall{[](void* self) { static_cast<MergeAllCommand*>(self)->run(); }, this};
  }
  void run() const {
    // Where another launch is at the same objects, it sees all of this one or nothing.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const bool conflicts = std::ranges::any_of(objects_, &Merged::conflicts);
    conflicts_.store(conflicts, std::memory_order_relaxed);
    if (conflicts) return;
    for (const Merged& object : objects_) object.merge(0, object.size());
  }
  void finalize(cl_int) noexcept override { objects_.clear(); }
  std::string what() const override { return "the merge of what parts of a kernel wrote"; }

  std::vector<Merged> objects_;
  std::atomic<bool>& conflicts_;  // of the launch, which waits for this
};

}  // namespace

namespace {

// One of the context's, or else `other`.
Device& processorOf(const Context& context, Device& other) {
  for (const Ref<Device>& device : context.allDevices())
    if (device->capabilities().device_class == port::DeviceClass::cpu && device->members().empty())
      return *device;
  return other;
}

}  // namespace

// Processors read and write host memory with more threads than the one that calls the host for a
// GPU.
Merging::Merging(const Device& device, const partition::Split& split,
                 const ArgumentSet& arguments) {
  for (const partition::MergedBytes& bytes : split.merged()) {
    const auto bound = std::ranges::find_if(arguments.values, [&](const ArgumentValue& value) {
      return value.memory() && &value.memory()->storage() == bytes.storage;
    });
    objects_.push_back({Ref<MemObject>(bound->memory()), bytes, {}, {}, {}});
  }
  for (const Ref<Device>& member : device.members())
    if (member->capabilities().device_class == port::DeviceClass::cpu)
      mergers_.push_back(member.get());
  if (mergers_.empty())
    mergers_.push_back(
        &processorOf(objects_.front().original->context(), *device.members().front()));
}

size_t Merging::bytes() const {
  size_t sum = 0;
  for (const Object& object : objects_) sum += object.size();
  return sum;
}

std::optional<double> Merging::spent() const {
  if (first_time_) return std::nullopt;
  uint64_t filled = begun_;
  for (const Object& object : objects_)
    for (const Copy& copy : object.copies)
      filled = std::max<uint64_t>(filled, copy.filled->times().ended);
  uint64_t merged = merge_begun_;
  for (const Ref<Event>& merge : merges_) merged = std::max<uint64_t>(merged, merge->times().ended);
  return static_cast<double>(filled - begun_ + merged - merge_begun_);
}

// Copies that nobody waited for may still be written.
Merging::~Merging() {
  if (incomplete_) return;
  for (Object& object : objects_) {
    giveBack(object, object.before);
    for (Copy& copy : object.copies) giveBack(object, copy.buffer);
  }
}

// One that an earlier launch used, if there is.
Ref<Buffer> Merging::copyOf(const Object& object, port::MemorySpace space) {
  Context& context = object.original->context();
  {
    const auto tickets = State::of(context).tickets().lock();
    if (Ref<Buffer> spare = Residency::of(*object.original).takeSpare(object.size(), space))
      return spare;
  }
  first_time_ = true;
  return make<Buffer>(Ref<Context>(&context), cl_mem_flags{CL_MEM_READ_WRITE}, object.size(),
                      nullptr, std::vector<cl_mem_properties>());
}

// Nobody needs its contents any more.
void Merging::giveBack(Object& object, Ref<Buffer>& buffer) noexcept {
  if (!buffer) return;
  const auto tickets = State::of(buffer->context()).tickets().lock();
  Residency::of(*buffer).forgetContents();
  Residency::of(*object.original).keepSpare(buffer);
}

void Merging::provide(Device& device, Event& part, Copies& copies,
                      std::vector<Ref<MergeStep>>& steps) {
  const port::MemorySpace space = device.capabilities().memory_space;
  if (begun_ == 0) begun_ = profiling::now();
  incomplete_ = true;
  steps.reserve(steps.size() + 2 * objects_.size());
  copies.reserve(objects_.size());
  for (Object& object : objects_) {
    Context& context = object.original->context();
    object.copies.reserve(object.copies.size() + 1);
    if (!object.before) {
      Ref<Buffer> buffer = copyOf(object, space);
      auto keep = make<CopyStep>(context, device, *object.original, object.bytes.begin, *buffer,
                                 object.size());
      steps.push_back(keep);
      object.kept = std::move(keep);
      object.before = std::move(buffer);
    }
    auto copy = std::ranges::find(object.copies, space, &Copy::space);
    if (copy == object.copies.end()) {
      Ref<Buffer> buffer = copyOf(object, space);
      auto fill =
          make<CopyStep>(context, device, *object.before, size_t{0}, *buffer, object.size());
      fill->waitFor(*object.kept, true);
      steps.push_back(fill);
      copy = object.copies.insert(copy, {space, std::move(buffer), std::move(fill)});
    }
    part.waitFor(*copy->filled, true);
    copies.push_back(copy->buffer);
  }
  incomplete_ = false;
}

void Merging::accesses(const Copies& copies, AccessList& list) const {
  require(copies.size() == objects_.size(), CL_OUT_OF_HOST_MEMORY, "no copies for a part");
  for (const Ref<Buffer>& copy : copies) list.push_back({copy.get(), 0, copy->size(), true, true});
}

bool Merging::has(const MemObject& object) const {
  return std::ranges::any_of(
      objects_, [&](const Object& merged) { return merged.bytes.storage == &object.storage(); });
}

void Merging::relocate(port::MemorySpace space, const Copies& copies, const ArgumentSet& arguments,
                       LaunchArguments& room) const {
  for (size_t i = 0; i < room.size(); ++i) {
    const MemObject* const bound = arguments.values[i].memory();
    if (!bound) continue;
    for (size_t k = 0; k < objects_.size(); ++k) {
      if (objects_[k].bytes.storage != &bound->storage()) continue;
      room[i].memory = &copies[k]->storage().in(space);
      room[i].offset = bound->origin() - objects_[k].bytes.begin;
    }
  }
}

bool Merging::isExclusive() const {
  return std::ranges::any_of(objects_, [](const Object& object) { return object.bytes.exclusive; });
}

void Merging::merge(Event& whole, std::vector<Ref<MergeStep>>& steps) {
  merge_begun_ = profiling::now();
  Context& context = objects_.front().original->context();
  const std::vector<Merged> objects(objects_.begin(), objects_.end());
  // What `whole` does not wait for is not started, and what it waits for has to be.
  const auto add = [&](auto step) {
    merges_.push_back(step);
    steps.reserve(steps.size() + 1);
    whole.waitFor(*step, false);
    steps.push_back(std::move(step));
  };
  if (isExclusive()) return add(make<MergeAllCommand>(context, *mergers_[0], objects, conflicts_));
  for (const Merged& object : objects) {
    const size_t each = std::max(least_merged_at_once, object.size() / most_merges) / 64 * 64;
    for (size_t begin = 0; begin < object.size(); begin += each)
      add(make<MergeCommand>(context, *mergers_[steps.size() % mergers_.size()], object, begin,
                             std::min(begin + each, object.size())));
  }
}

// Who waits for none of it, but reads the bytes, has to hear of it, too.
void Merging::lose() noexcept {
  const Claim nobody;
  for (const Object& object : objects_) {
    State& state = State::of(object.original->context());
    const auto tickets = state.tickets().lock();
    state.noteLoss();
    Residency::of(*object.original)
        .settle(object.bytes.begin, object.bytes.end, nobody, Residency::Result::lost);
  }
}

cl_int Merging::status() const {
  for (const Ref<Event>& merge : merges_)
    if (merge->status() < 0) return merge->status();
  return CL_SUCCESS;
}

}  // namespace weft
