#include "tests/support/fake_device.h"

#include <algorithm>
#include <set>
#include <utility>

#include "backends/common/memory_space.h"
#include "backends/cpu/target.h"
#include "core/error.h"
#include "tests/support/fake_memory.h"

namespace weft::test {
namespace {

constexpr port::MemorySpace fake_space_base = 200 * spaces_per_backend;
constexpr port::OperationStatus lost_status = CL_DEVICE_NOT_AVAILABLE;

// One less of something that is to fail a number of times; false when it may succeed.
bool takeFailure(std::atomic<unsigned>& left) {
  unsigned n = left.load();
  while (n != 0)
    if (left.compare_exchange_weak(n, n - 1)) return true;
  return false;
}

// The places of operations that have not run, of all devices.
class Unfinished {
 public:
  uint64_t add() {
    const std::lock_guard lock(mutex_);
    return *places_.insert(++last_).first;
  }
  void remove(uint64_t place) {
    const std::lock_guard lock(mutex_);
    places_.erase(place);
  }
  bool hasAny(const std::vector<uint64_t>& places) const {
    if (places.empty()) return false;
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(places, [&](uint64_t place) { return places_.contains(place); });
  }

 private:
  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::set<uint64_t> places_;
};
// Never destroyed: commands that nobody waits for run on when a test's main function has returned.
Unfinished& unfinished = *new Unfinished;

port::Capabilities describe(const FakeOptions& options) {
  port::Capabilities c;
  c.device_class = port::DeviceClass::gpu;
  c.name = options.name;
  c.vendor = "Weft tests";
  c.driver_version = "1";
  std::copy_n(options.name.begin(), std::min(options.name.size(), c.uuid.size()),
              reinterpret_cast<char*>(c.uuid.data()));
  c.compute_units = options.compute_units;
  c.max_clock_mhz = 1000;
  c.max_work_group_size = 1024;
  c.max_work_item_sizes = {1024, 1024, 1024};
  c.global_memory_bytes = options.memory_bytes;
  c.max_allocation_bytes = options.memory_bytes / 2;
  c.global_cache = {1 << 20, 64};
  c.local_memory_bytes = 64 << 10;
  c.constant_buffer_bytes = 64 << 10;
  c.max_constant_arguments = 16;
  c.max_parameter_bytes = 1024;
  c.base_address_alignment_bytes = options.base_address_alignment_bytes;
  c.fp64 = true;
  c.unordered_streams = true;
  c.runs_ahead = options.runs_ahead;
  c.fence_group = options.fences ? 1 : 0;
  c.printf = true;
  c.memory_space = options.memory_space;
  if (options.shares != FakeShares::nothing)
    c.shared_memory = port::shares_coarse_buffers | port::shares_fine_buffers;
  if (options.shares == FakeShares::managed) c.managed_group = 1;
  if (options.shares == FakeShares::everything) {
    c.device_class = port::DeviceClass::cpu;
    c.units.resize(options.compute_units);
    c.shared_memory |= port::shares_all_memory | port::shares_atomics;
  }
  c.max_sub_devices = options.compute_units > 1 ? options.compute_units : 0;
  return c;
}

}  // namespace

port::MemorySpace newFakeSpace() {
  static std::atomic<port::MemorySpace> next{fake_space_base};
  return next.fetch_add(1);
}

class FakeStream final : public port::Stream {
 public:
  FakeStream(FakeDevice& device, uint32_t index) : device_(device), index_(index) {}
  ~FakeStream() override {
    // Destroying a stream with operations in it is the caller's mistake.
    if (device_.pending(index_) != 0) device_.violation("stream destroyed with operations pending");
  }
  void submit(port::Operation& operation) noexcept override { device_.submit(index_, operation); }
  void flush() noexcept override {}
  void poll() noexcept override { ++device_.polls_; }

 private:
  FakeDevice& device_;
  uint32_t index_;
};

uint64_t FakeLaunch::address(size_t argument) const {
  const port::LaunchArgument& a = arguments[argument];
  return a.memory ? a.memory->deviceAddress() + a.offset : a.raw_address;
}

FakeDevice::FakeDevice(FakeOptions options)
    : options_(std::move(options)), target_(cpu::hostTarget()), random_(options_.seed) {
  if (options_.memory_space == port::host_space) options_.memory_space = newFakeSpace();
  if (!options_.clock) options_.clock = std::make_shared<FakeClock>();
  capabilities_ = describe(options_);
  const unsigned threads = options_.manual ? 0 : options_.compute_units;
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i] { background(i); });
}

FakeDevice::~FakeDevice() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void FakeDevice::registerKernel(std::string name, FakeKernel kernel) {
  const std::lock_guard lock(mutex_);
  kernels_[std::move(name)] = std::move(kernel);
}

size_t FakeDevice::pending(uint32_t stream) const {
  const std::lock_guard lock(mutex_);
  return size_t(std::count_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return !e.told && (stream == any_stream || e.stream == stream);
  }));
}

bool FakeDevice::waitForPending(size_t count, std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  const auto pending = [](const Entry& e) { return !e.told; };
  return changed_.wait_for(
      lock, limit, [&] { return size_t(std::ranges::count_if(entries_, pending)) >= count; });
}

// Behind another one of its in-order stream, or one of any that it was told to wait for?
bool FakeDevice::blocked(const Entry& entry) const {
  if (unfinished.hasAny(entry.behind)) return true;
  if (streams_[entry.stream] == port::Order::unordered) return false;
  for (const Entry& other : entries_)
    if (other.stream == entry.stream) return &other != &entry;
  return false;
}

std::deque<FakeDevice::Entry>::iterator FakeDevice::next(uint32_t stream, bool unstarted) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return (stream == any_stream || e.stream == stream) && !e.taken && !(unstarted && e.started) &&
           !blocked(e);
  });
}

bool FakeDevice::start(uint32_t stream) {
  std::unique_lock lock(mutex_);
  const auto entry = next(stream, true);
  return entry != entries_.end() && startTaken(lock, *entry);
}

bool FakeDevice::startTaken(std::unique_lock<std::mutex>& lock, Entry& entry) {
  entry.started = true;
  entry.start = now();
  port::Operation& operation = *entry.operation;
  const port::Nanoseconds when = entry.start;
  lock.unlock();
  operation.started(when);
  return true;
}

bool FakeDevice::finish(uint32_t stream) { return fail(0, stream); }

bool FakeDevice::fail(port::OperationStatus status, uint32_t stream) {
  std::unique_lock lock(mutex_);
  const auto entry = next(stream, false);
  return entry != entries_.end() && finishTaken(lock, entry, status);
}

bool FakeDevice::finishOperation(port::Operation& operation, port::OperationStatus status) {
  std::unique_lock lock(mutex_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.operation == &operation && !e.taken && !blocked(e);
  });
  return entry != entries_.end() && finishTaken(lock, entry, status);
}

bool FakeDevice::finishAny(uint64_t choice, port::OperationStatus status, Reach reach) {
  std::unique_lock lock(mutex_);
  std::vector<std::deque<Entry>::iterator> able;
  for (auto e = entries_.begin(); e != entries_.end(); ++e) {
    const bool there = (reach == Reach::start && e->started) || (reach != Reach::finish && e->ran);
    if (!e->taken && !there && !blocked(*e)) able.push_back(e);
  }
  if (able.empty()) return false;
  const auto entry = able[choice % able.size()];
  if (reach == Reach::start) return startTaken(lock, *entry);
  return finishTaken(lock, entry, status, reach);
}

size_t FakeDevice::able() const {
  const std::lock_guard lock(mutex_);
  return size_t(std::count_if(entries_.begin(), entries_.end(),
                              [&](const Entry& e) { return !e.taken && !blocked(e); }));
}

size_t FakeDevice::finishAll() {
  size_t count = 0;
  while (finish()) ++count;
  return count;
}

// The entry stays in the list until its end was told, so that those behind it wait.
bool FakeDevice::finishTaken(std::unique_lock<std::mutex>& lock, std::deque<Entry>::iterator entry,
                             port::OperationStatus status, Reach reach) {
  entry->taken = true;
  Entry taken = *entry;
  // Others may have come and gone meanwhile: iterators do not last.
  const auto same = [&](const Entry& e) { return e.number == taken.number; };
  if (!taken.ran) {
    runTaken(lock, taken, status);
    *std::find_if(entries_.begin(), entries_.end(), same) = taken;
  }
  Entry& there = *std::find_if(entries_.begin(), entries_.end(), same);
  there.told = reach == Reach::finish;
  there.taken = there.told;
  if (!there.told) {
    lock.unlock();
    changed_.notify_all();
    return true;
  }
  lock.unlock();
  taken.operation->finished(taken.record.status, taken.start, taken.end);
  lock.lock();
  std::erase_if(entries_, same);
  lock.unlock();
  changed_.notify_all();
  return true;
}

// Without the lock while it runs, with it afterwards.
void FakeDevice::runTaken(std::unique_lock<std::mutex>& lock, Entry& entry,
                          port::OperationStatus status) {
  const bool lost = lost_;
  if (!entry.started) entry.start = now();
  lock.unlock();
  port::Operation& operation = *entry.operation;
  if (!std::exchange(entry.started, true)) operation.started(entry.start);
  FakeRecord& record = entry.record;
  record.timed = operation.timed;
  record.stream = entry.stream;
  record.status = lost ? lost_status : status != 0 ? status : execute(operation, record);
  if (record.status != 0) ++failures_;
  entry.end = now();
  entry.ran = true;
  unfinished.remove(operation.place.number);
  lock.lock();
  log_.push_back(record);
}

void FakeDevice::background(unsigned) {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::vector<std::deque<Entry>::iterator> able;
    for (auto e = entries_.begin(); e != entries_.end(); ++e)
      if (!e->taken && !blocked(*e)) able.push_back(e);
    if (able.empty()) {
      if (stop_) return;
      // What others do, nobody tells this device.
      const bool waits =
          std::ranges::any_of(entries_, [](const Entry& e) { return !e.behind.empty(); });
      if (waits)
        changed_.wait_for(lock, std::chrono::microseconds(50));
      else
        changed_.wait(lock);
      continue;
    }
    const auto entry = able[random_() % able.size()];
    const auto most = uint64_t(options_.max_delay.count());
    const std::chrono::microseconds delay(most == 0 ? 0 : random_() % (most + 1));
    port::OperationStatus status = 0;
    if (failing_operations_ != 0) {
      --failing_operations_;
      status = failing_status_;
    }
    entry->taken = true;
    const uint64_t number = entry->number;
    lock.unlock();
    std::this_thread::sleep_for(delay);
    lock.lock();
    const auto again = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.number == number; });
    finishTaken(lock, again, status);
    lock.lock();
  }
}

void FakeDevice::failOperations(unsigned count, port::OperationStatus status) {
  const std::lock_guard lock(mutex_);
  failing_operations_ = count;
  failing_status_ = status;
}

void FakeDevice::lose() {
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
  }
  changed_.notify_all();
  if (options_.manual) finishAll();
}

std::vector<FakeRecord> FakeDevice::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

void FakeDevice::clearLog() {
  const std::lock_guard lock(mutex_);
  log_.clear();
}

port::Nanoseconds FakeDevice::now() const {
  if (options_.manual) return options_.clock->now.load();
  return port::Nanoseconds(std::chrono::steady_clock::now().time_since_epoch().count());
}

void FakeDevice::submit(uint32_t stream, port::Operation& operation) {
  {
    const std::lock_guard lock(mutex_);
    Entry entry;
    entry.operation = &operation;
    entry.number = submitted_++;
    entry.stream = stream;
    for (const port::Operation* before : operation.behind) {
      if (!before->place.lane || !options_.fences) violation("behind what it cannot wait for");
      entry.behind.push_back(before->place.number);
    }
    operation.place = {this, unfinished.add()};
    entries_.push_back(entry);
  }
  changed_.notify_all();
}

port::OperationStatus FakeDevice::violation(const char* what) {
  std::fprintf(stderr, "%s: %s\n", options_.name.c_str(), what);
  ++violations_;
  return CL_INVALID_OPERATION;
}

bool FakeDevice::reaches(port::MemorySpace space) const {
  if (space == options_.memory_space) return true;
  if (inSpaceRange(space, fake_space_base)) return options_.reaches_peers;
  // CPU devices' private spaces are host memory to everyone else.
  return options_.reaches_host &&
         (space == port::host_space || inSpaceRange(space, cpu_space_base));
}

uint64_t FakeDevice::freeMemory() const { return options_.memory_bytes - allocated_; }

port::ClockPair FakeDevice::clocks() const {
  const port::Nanoseconds t = now();
  return {t, t};
}

std::vector<std::shared_ptr<port::Device>> FakeDevice::partition(
    std::span<const port::UnitSet> sets) {
  std::vector<std::shared_ptr<port::Device>> parts;
  for (const port::UnitSet& set : sets) {
    require(!set.empty() && set.back() < capabilities_.compute_units,
            CL_INVALID_DEVICE_PARTITION_COUNT, "units that the device does not have, or none");
    FakeOptions options = options_;
    options.compute_units = uint32_t(set.size());
    options.seed += parts.size() + 1;
    auto part = std::make_shared<FakeDevice>(options);
    const std::lock_guard lock(mutex_);
    part->kernels_ = kernels_;
    parts.push_back(std::move(part));
  }
  return parts;
}

std::unique_ptr<port::Stream> FakeDevice::createStream(port::Order order) {
  const std::lock_guard lock(mutex_);
  streams_.push_back(order);
  return std::make_unique<FakeStream>(*this, uint32_t(streams_.size() - 1));
}

std::unique_ptr<port::Memory> FakeDevice::allocate(size_t bytes, size_t) {
  if (allocating_) allocating_();
  {
    const std::lock_guard lock(mutex_);
    require(!lost_, CL_MEM_OBJECT_ALLOCATION_FAILURE, "device lost");
  }
  require(!takeFailure(failing_allocations_) && bytes <= capabilities_.max_allocation_bytes &&
              bytes <= freeMemory(),
          CL_MEM_OBJECT_ALLOCATION_FAILURE, "out of fake memory");
  return std::make_unique<FakeMemory>(*this, bytes);
}

std::unique_ptr<port::Memory> FakeDevice::import(void* host, size_t bytes) {
  if (options_.shares == FakeShares::nothing) return nullptr;
  return std::make_unique<FakeSharedMemory>(host, bytes);
}

std::unique_ptr<port::Memory> FakeDevice::allocateManaged(size_t bytes) {
  require(!takeFailure(failing_allocations_), CL_MEM_OBJECT_ALLOCATION_FAILURE,
          "out of fake memory");
  return std::make_unique<FakeSharedMemory>(bytes);
}

std::unique_ptr<port::Module> FakeDevice::load(const Image& image) {
  const std::lock_guard lock(mutex_);
  require(!lost_ && !takeFailure(failing_loads_), CL_OUT_OF_RESOURCES, "the fake does not load");
  auto module = std::make_unique<FakeModule>();
  if (!image.payload.empty()) {
    require(image.target == target_, CL_INVALID_BINARY, "made for another processor");
    module->library = std::make_unique<cpu::Module>(image);
  }
  for (const KernelInfo& info : image.kernels) {
    module->names.push_back(info.name);
    if (module->library) continue;
    const auto found = kernels_.find(info.name);
    require(found != kernels_.end(), CL_INVALID_BINARY, "no such registered kernel");
    module->functions.push_back(found->second);
  }
  return module;
}

FakeBackend::FakeBackend(std::vector<FakeOptions> devices) {
  for (FakeOptions& options : devices)
    devices_.push_back(std::make_shared<FakeDevice>(std::move(options)));
}

std::vector<std::shared_ptr<port::Device>> FakeBackend::discover(std::vector<port::Diagnostic>&) {
  return {devices_.begin(), devices_.end()};
}

}  // namespace weft::test
