#include "core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "core/ports/shared_memory.h"
#include "core/reaper.h"
#include "core/svm.h"

namespace weft {
namespace {

constexpr size_t host_alignment = 128;  // the largest OpenCL data type, long16
constexpr size_t page_bytes = 4096;
constexpr size_t huge_page_bytes = size_t(2) << 20;

size_t wholePages(size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

// Host memory for contexts none of whose devices lives in the host's memory space. Where it is
// large the system is asked for huge pages: a fault for each small one is what a new one costs.
class HostMemory final : public port::Memory {
 public:
  explicit HostMemory(size_t bytes, size_t alignment = host_alignment)
      : share_(bytes), bytes_(bytes) {
    const bool large = bytes >= 2 * huge_page_bytes;
    if (large) alignment = std::max(alignment, huge_page_bytes);
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    data_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
    require(data_ != nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    if (large) madvise(data_, rounded, MADV_HUGEPAGE);  // if not, small ones do
  }
  ~HostMemory() override { std::free(data_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return data_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(data_); }

 private:
  HostShare share_;
  size_t bytes_;
  std::byte* data_;
};

// Memory of the application (CL_MEM_USE_HOST_PTR).
class BorrowedMemory final : public port::Memory {
 public:
  BorrowedMemory(void* data, size_t bytes) : data_(static_cast<std::byte*>(data)), bytes_(bytes) {}
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return data_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(data_); }

 private:
  std::byte* data_;
  size_t bytes_;
};

port::Device* deviceIn(const Context& context, port::MemorySpace space) {
  for (const Ref<Device>& device : context.allDevices())
    if (device->capabilities().memory_space == space) return &device->port();
  return nullptr;
}

// From the device that shares no other; of such, a context has those of one driver.
std::unique_ptr<port::Memory> allocateShared(const Context& context, size_t bytes) {
  for (const Ref<Device>& device : context.allDevices())
    if (auto* const source = dynamic_cast<port::SharedMemorySource*>(&device->port()))
      if (auto memory = source->allocateShared(bytes)) return memory;
  return nullptr;
}

// One of those devices that share memory but not by using all of the host's; of unified devices
// their members. nullptr: one of them has no managed memory.
Device* managedSource(const Context& context) {
  Device* source = nullptr;
  for (const Ref<Device>& device : context.allDevices()) {
    const port::Capabilities& c = device->capabilities();
    if (!device->members().empty() || c.shared_memory == port::shares_nothing ||
        c.shared_memory & port::shares_all_memory)
      continue;
    if (c.managed_group == 0 || (source && source->capabilities().managed_group != c.managed_group))
      return nullptr;
    source = device.get();
  }
  return source;
}

// nullptr: there is none left, which is no reason to have none at all.
std::unique_ptr<port::Memory> allocateManaged(const Device& source, size_t bytes) {
  auto* const managed = dynamic_cast<port::ManagedMemorySource*>(&source.port());
  if (!managed) return nullptr;
  try {
    return managed->allocateManaged(bytes);
  } catch (const Error&) {
    return nullptr;
  }
}

// Where the processors of `host` have memory on several nodes each, what they make themselves lies
// better for them.
bool spansNodes(const port::Device& host) {
  const auto& units = host.capabilities().units;
  return std::ranges::any_of(units, [&](const port::ComputeUnit& unit) {
    return unit.in(port::Domain::numa) != units.front().in(port::Domain::numa);
  });
}

}  // namespace

Storage::Storage(Context& context, size_t bytes, void* use_host_ptr, bool initialised_on_host,
                 Placement placement)
    : context_(context),
      bytes_(bytes),
      use_host_ptr_(use_host_ptr),
      initialised_on_host_(initialised_on_host),
      placement_(placement) {}

Storage::~Storage() {
  // Others find it while it lives, and what it says is allocated.
  if (residency_) residency_->endsMemory();
  // Without the lock: a driver may wait for its device.
  auto allocations =
      allocations_.with([](auto& list) { return std::exchange(list, std::vector<Allocation>()); });
  // What was imported goes before what it was imported from.
  while (!allocations.empty()) allocations.pop_back();
  residency_ = nullptr;
}

// Devices with memory of their own share only whole pages.
std::unique_ptr<port::Memory> Storage::allocateInPlace(port::Device* host) {
  const size_t bytes = wholePages(bytes_);
  Device* const source = placement_ == Placement::managed ? managedSource(context_) : nullptr;
  {
    HostShare share(bytes);
    auto made = source ? allocateManaged(*source, bytes) : nullptr;
    if (made)
      managed_by_ = source;
    else
      made = allocateShared(context_, bytes);
    if (made) {
      host_share_ = std::move(share);
      return made;
    }
  }
  return host ? host->allocate(bytes, page_bytes) : std::make_unique<HostMemory>(bytes, page_bytes);
}

// Host memory that a driver made, which its devices copy from and to by themselves; ordinary memory
// goes through the host's hands. nullptr: there is none, or so little that it makes no difference.
std::unique_ptr<port::Memory> Storage::allocateForCopies(const port::Device* host) {
  constexpr size_t least = size_t(64) << 10;
  if (bytes_ < least || context_.singleSpace() || (host && spansNodes(*host))) return nullptr;
  try {
    HostShare share(wholePages(bytes_));
    auto made = allocateShared(context_, wholePages(bytes_));
    if (made) host_share_ = std::move(share);
    return made;
  } catch (const std::exception&) {
    return nullptr;  // there is other memory yet
  }
}

std::unique_ptr<port::Memory> Storage::allocate(port::MemorySpace space) {
  port::Device* device = deviceIn(context_, space);
  if (space == port::host_space) {
    if (use_host_ptr_) {
      auto imported = device ? device->import(use_host_ptr_, bytes_) : nullptr;
      if (imported) return imported;
      return std::make_unique<BorrowedMemory>(use_host_ptr_, bytes_);
    }
    if (inPlace() && !context_.singleSpace()) return allocateInPlace(device);
    if (auto memory = allocateForCopies(device)) return memory;
    if (!device) return std::make_unique<HostMemory>(bytes_);
  }
  return device->allocate(bytes_, host_alignment);
}

void Storage::claimForWriting(const ByteRows& rows, const void* owner) {
  auto claims = write_claims_.lock();
  const bool taken = std::any_of(claims->begin(), claims->end(), [&](const WriteClaim& claim) {
    return overlap(claim.rows, rows);
  });
  require(!taken, CL_INVALID_OPERATION, "overlapping regions mapped for writing");
  claims->push_back({rows, owner});
}

void Storage::releaseClaim(const void* owner) noexcept {
  write_claims_.with([&](auto& claims) {
    std::erase_if(claims, [&](const WriteClaim& claim) { return claim.owner == owner; });
  });
}

std::unique_ptr<port::Memory> Storage::share(port::MemorySpace space, void* host) const {
  // An allocation is whole pages, while a buffer on a part of one ends where it likes.
  const bool at_page = reinterpret_cast<uintptr_t>(host) % page_bytes == 0;
  auto memory = deviceIn(context_, space)->import(host, at_page ? wholePages(bytes_) : bytes_);
  require(memory && memory->deviceAddress() == reinterpret_cast<uint64_t>(host),
          CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device cannot use the memory at its address");
  return memory;
}

port::Memory& Storage::in(port::MemorySpace space) {
  if (space == port::host_space)
    if (port::Memory* host = host_.load(std::memory_order_acquire)) return *host;
  void* const shared =
      inPlace() && space != port::host_space ? in(port::host_space).host() : nullptr;
  {
    auto allocations = allocations_.lock();
    const auto place = [&] { return std::ranges::find(*allocations, space, &Allocation::space); };
    auto found = place();
    for (; found != allocations->end() && !found->memory; found = place())
      made_.wait(allocations.native());
    if (found != allocations->end()) return *found->memory;
    allocations->push_back({space, nullptr});
  }
  std::unique_ptr<port::Memory> made;
  try {
    made = shared ? share(space, shared) : allocate(space);
  } catch (...) {
    enter(space, nullptr);
    throw;
  }
  port::Memory& memory = *made;
  enter(space, std::move(made));
  if (space == port::host_space) host_.store(&memory, std::memory_order_release);
  return memory;
}

// What its maker has made, or null.
void Storage::enter(port::MemorySpace space, std::unique_ptr<port::Memory> made) noexcept {
  allocations_.with([&](auto& list) {
    const auto place = std::ranges::find(list, space, &Allocation::space);
    if (made)
      place->memory = std::move(made);
    else
      list.erase(place);
  });
  made_.notify_all();
}

port::Memory* Storage::find(port::MemorySpace space) const {
  auto allocations = allocations_.lock();
  for (const Allocation& allocation : *allocations)
    if (allocation.space == space) return allocation.memory.get();
  return nullptr;
}

std::unique_ptr<port::Memory> Storage::take(port::MemorySpace space) {
  auto allocations = allocations_.lock();
  const auto found = std::ranges::find(*allocations, space, &Allocation::space);
  if (found == allocations->end() || !found->memory) return nullptr;
  std::unique_ptr<port::Memory> memory = std::move(found->memory);
  allocations->erase(found);
  return memory;
}

MemObject::MemObject(Ref<Context> context, cl_mem_object_type type, cl_mem_flags flags, size_t size,
                     void* host_ptr, std::vector<cl_mem_properties> properties,
                     FirstContents contents)
    : context_(std::move(context)),
      type_(type),
      flags_(flags),
      size_(size),
      host_ptr_(flags & CL_MEM_USE_HOST_PTR ? host_ptr : nullptr),
      properties_(std::move(properties)),
      svm_(context_->svm().find(host_ptr_)),
      own_storage_(std::make_unique<Storage>(
          *context_, size, host_ptr_,
          (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) &&
           contents != FirstContents::to_come) ||
              contents == FirstContents::on_host,
          svm_ && context_->allShareMemory() ? Placement::in_place : Placement::by_space)),
      storage_(own_storage_.get()) {}

MemObject::MemObject(Ref<MemObject> parent, cl_mem_object_type type, cl_mem_flags flags,
                     size_t offset, size_t size, std::vector<cl_mem_properties> properties)
    : context_(&parent->context()),
      parent_(std::move(parent)),
      type_(type),
      flags_(flags),
      size_(size),
      origin_(parent_->origin() + offset),
      host_ptr_(parent_->hostPointer() ? static_cast<std::byte*>(parent_->hostPointer()) + offset
                                       : nullptr),
      properties_(std::move(properties)),
      storage_(&parent_->storage()) {}

// "CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for writing."
void MemObject::addMapping(const Mapping& mapping) {
  if (mapping.writes()) storage_->claimForWriting(mapping.rows, mapping.shared.get());
  mappings_.with([&](auto& list) { list.push_back(mapping); });
}

void MemObject::dropMapping(const Mapping& mapping) noexcept {
  mappings_.with([&](auto& list) {
    std::erase_if(list, [&](const Mapping& m) { return m.shared == mapping.shared; });
  });
  storage_->releaseClaim(mapping.shared.get());
}

void MemObject::failMapping(const Mapping& mapping) noexcept {
  mapping.become(Mapping::State::failed);
  storage_->releaseClaim(mapping.shared.get());
}

Mapping MemObject::removeMapping(void* pointer) {
  auto list = mappings_.lock();
  const auto first = [&](bool failed) {
    return std::find_if(list->begin(), list->end(), [&](const Mapping& m) {
      return m.pointer == pointer && (m.state() == Mapping::State::failed) == failed;
    });
  };
  auto found = first(false);
  if (found == list->end()) found = first(true);
  require(found != list->end(), CL_INVALID_VALUE, "the pointer is not a mapped one");
  Mapping mapping = std::move(*found);
  list->erase(found);
  storage_->releaseClaim(mapping.shared.get());
  return mapping;
}

cl_uint MemObject::mapCount() const {
  return mappings_.with([](auto& list) {
    return static_cast<cl_uint>(std::count_if(list.begin(), list.end(), [](const Mapping& m) {
      return m.state() != Mapping::State::failed;
    }));
  });
}

void MemObject::addDestructorCallback(DestructorCallback callback, void* user) {
  destructors_.with([&](auto& list) { list.push_back({callback, user}); });
}

void MemObject::onLastHandleReleased() noexcept {
  given_up_.store(true, std::memory_order_relaxed);
  ReleaseBatch::reclaim(*this);
}

void MemObject::dispose() noexcept {
  weak_.clear();
  reap(this, [](Object* object) { static_cast<MemObject*>(object)->destroy(); });
}

void MemObject::destroy() noexcept {
  const auto callbacks = destructors_.with([](auto& list) { return std::move(list); });
  for (auto it = callbacks.rbegin(); it != callbacks.rend(); ++it) it->callback(handle(), it->user);
  delete this;
}

Buffer::Buffer(Ref<Context> context, cl_mem_flags flags, size_t size, void* host_ptr,
               std::vector<cl_mem_properties> properties, FirstContents contents)
    : MemObject(std::move(context), CL_MEM_OBJECT_BUFFER, flags, size, host_ptr,
                std::move(properties), contents) {
  if (contents == FirstContents::to_come) return;
  if (flags & CL_MEM_COPY_HOST_PTR)
    std::memcpy(storage().in(port::host_space).host(), host_ptr, size);
  else if (this->context().singleSpace() || flags & CL_MEM_USE_HOST_PTR)
    storage().in(port::host_space);
}

Buffer::Buffer(Ref<Buffer> parent, cl_mem_flags flags, size_t origin, size_t size)
    : MemObject(std::move(parent), CL_MEM_OBJECT_BUFFER, flags, origin, size) {}

}  // namespace weft
