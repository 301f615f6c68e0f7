#include "tests/support/fake_device.h"

#include <sys/mman.h>

#include <algorithm>

#include "backends/common/memory_space.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/module.h"
#include "backends/cpu/target.h"
#include "core/error.h"

namespace weft::test {
namespace {

constexpr port::MemorySpace fake_space_base = 200 * spaces_per_backend;
constexpr port::OperationStatus lost_status = CL_DEVICE_NOT_AVAILABLE;
// What memory holds before anything is written to it: never what a test expects.
constexpr int poison = 0xa5;

// One less of something that is to fail a number of times; false when it may succeed.
bool takeFailure(std::atomic<unsigned>& left) {
  unsigned n = left.load();
  while (n != 0)
    if (left.compare_exchange_weak(n, n - 1)) return true;
  return false;
}

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
  c.printf = true;
  c.memory_space = options.memory_space;
  c.max_sub_devices = options.compute_units > 1 ? options.compute_units : 0;
  return c;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

class FakeModule final : public port::Module {
 public:
  std::unique_ptr<cpu::Module> library;  // of images with a payload
  std::vector<std::string> names;
  std::vector<FakeKernel> functions;  // of images without
};

}  // namespace

port::MemorySpace newFakeSpace() {
  static std::atomic<port::MemorySpace> next{fake_space_base};
  return next.fetch_add(1);
}

class FakeMemory final : public port::Memory {
 public:
  FakeMemory(FakeDevice& device, size_t bytes)
      : device_(device), space(device.options_.memory_space), size_(bytes) {
    void* mapped = mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(mapped != MAP_FAILED, CL_MEM_OBJECT_ALLOCATION_FAILURE, "mmap");
    bytes_ = static_cast<std::byte*>(mapped);
    std::memset(bytes_, poison, bytes);
    device_.allocated_ += bytes;
  }
  ~FakeMemory() override {
    munmap(bytes_, std::max<size_t>(size_, 1));
    device_.allocated_ -= size_;
  }
  size_t size() const override { return size_; }
  std::byte* host() const override { return nullptr; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(bytes_); }

 private:
  FakeDevice& device_;

 public:
  const port::MemorySpace space;

 private:
  size_t size_;
  std::byte* bytes_;
};

class FakeStream final : public port::Stream {
 public:
  FakeStream(FakeDevice& device, uint32_t index) : device_(device), index_(index) {}
  ~FakeStream() override {
    // Destroying a stream with operations in it is the caller's mistake.
    if (device_.pending(index_) != 0) device_.violation("stream destroyed with operations pending");
  }
  void submit(port::Operation& operation) noexcept override { device_.submit(index_, operation); }
  void flush() noexcept override {}

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

// Behind another one of its in-order stream?
bool FakeDevice::blocked(const Entry& entry) const {
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

bool FakeDevice::finishAny(uint64_t choice, port::OperationStatus status, bool only_start) {
  std::unique_lock lock(mutex_);
  std::vector<std::deque<Entry>::iterator> able;
  for (auto e = entries_.begin(); e != entries_.end(); ++e)
    if (!e->taken && !blocked(*e) && !(only_start && e->started)) able.push_back(e);
  if (able.empty()) return false;
  const auto entry = able[choice % able.size()];
  return only_start ? startTaken(lock, *entry) : finishTaken(lock, entry, status);
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
                             port::OperationStatus status) {
  entry->taken = true;
  const bool tell = !entry->started;
  const bool lost = lost_;
  if (tell) entry->start = now();
  const Entry taken = *entry;
  lock.unlock();
  port::Operation& operation = *taken.operation;
  if (tell) operation.started(taken.start);
  FakeRecord record;
  record.stream = taken.stream;
  record.status = lost ? lost_status : status != 0 ? status : execute(operation, record);
  const port::Nanoseconds end = now();
  lock.lock();
  log_.push_back(record);
  // Others may have come and gone meanwhile: iterators do not last.
  const auto same = [&](const Entry& e) { return e.number == taken.number; };
  std::find_if(entries_.begin(), entries_.end(), same)->told = true;
  lock.unlock();
  operation.finished(record.status, taken.start, end);
  lock.lock();
  std::erase_if(entries_, same);
  lock.unlock();
  changed_.notify_all();
  return true;
}

void FakeDevice::background(unsigned) {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::vector<std::deque<Entry>::iterator> able;
    for (auto e = entries_.begin(); e != entries_.end(); ++e)
      if (!e->taken && !blocked(*e)) able.push_back(e);
    if (able.empty()) {
      if (stop_) return;
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
  {
    const std::lock_guard lock(mutex_);
    require(!lost_, CL_MEM_OBJECT_ALLOCATION_FAILURE, "device lost");
  }
  require(!takeFailure(failing_allocations_) && bytes <= capabilities_.max_allocation_bytes &&
              bytes <= freeMemory(),
          CL_MEM_OBJECT_ALLOCATION_FAILURE, "out of fake memory");
  return std::make_unique<FakeMemory>(*this, bytes);
}

std::unique_ptr<port::Memory> FakeDevice::import(void*, size_t) { return nullptr; }

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

port::OperationStatus FakeDevice::execute(port::Operation& operation, FakeRecord& record) {
  using Kind = FakeRecord::Kind;
  return std::visit(Overloaded{
                        [](const std::monostate&) { return port::OperationStatus(0); },
                        [&](const port::HostCall& call) {
                          record.kind = Kind::host_call;
                          call.function(call.user);
                          return port::OperationStatus(0);
                        },
                        [&](const auto& request) { return run(request, record); },
                    },
                    operation.work);
}

port::OperationStatus FakeDevice::run(const port::Launch& launch, FakeRecord& record) {
  const auto& module = *static_cast<FakeModule*>(launch.module);
  record.kind = FakeRecord::Kind::launch;
  record.slice = launch.slice;
  if (launch.kernel >= module.names.size()) return violation("no such kernel in the module");
  record.kernel = module.names[launch.kernel];
  for (const port::LaunchArgument& argument : launch.arguments) {
    if (!argument.memory) continue;
    const auto* own = dynamic_cast<const FakeMemory*>(argument.memory);
    if (!own || own->space != options_.memory_space)
      return violation("kernel argument in another device's memory");
  }
  if (!module.library) {
    if (launch.slice.count() != 0)
      module.functions[launch.kernel]({*launch.record, launch.slice, launch.arguments});
    return 0;
  }
  port::Launch host = launch;
  host.module = module.library.get();
  cpu::LaunchFrame frame;
  cpu::Scratch scratch;
  const port::OperationStatus status = frame.prepare(host);
  return status != 0 ? status : frame.run(0, frame.groups(), scratch);
}

std::byte* FakeDevice::resolve(const port::Location& location, port::MemorySpace& space) {
  space = port::host_space;
  std::byte* base = location.host;
  if (const auto* fake = dynamic_cast<const FakeMemory*>(location.memory)) {
    space = fake->space;
    base = reinterpret_cast<std::byte*>(fake->deviceAddress());
  } else if (location.memory) {
    base = location.memory->host();
  }
  return base && reaches(space) ? base + location.offset : nullptr;
}

port::OperationStatus FakeDevice::run(const port::Copy& copy, FakeRecord& record) {
  record.kind = FakeRecord::Kind::copy;
  record.bytes = copy.region[0] * copy.region[1] * copy.region[2];
  const std::byte* from = resolve(copy.source, record.from);
  std::byte* to = resolve(copy.destination, record.to);
  if (!from || !to) return violation("copy to or from memory that the device does not reach");
  for (size_t z = 0; z < copy.region[2]; ++z)
    for (size_t y = 0; y < copy.region[1]; ++y) {
      const auto at = [&](const port::Location& l) { return y * l.row_pitch + z * l.slice_pitch; };
      std::memcpy(to + at(copy.destination), from + at(copy.source), copy.region[0]);
    }
  return 0;
}

port::OperationStatus FakeDevice::run(const port::Fill& fill, FakeRecord& record) {
  record.kind = FakeRecord::Kind::fill;
  record.bytes = fill.size * fill.rows * fill.slices;
  port::Location location;
  location.memory = fill.memory;
  location.offset = fill.offset;
  std::byte* to = resolve(location, record.to);
  if (!to || record.to != options_.memory_space) return violation("fill of another's memory");
  for (size_t slice = 0; slice < fill.slices; ++slice)
    for (size_t row = 0; row < fill.rows; ++row)
      for (size_t i = 0; i < fill.size; i += fill.pattern_size)
        std::memcpy(to + slice * fill.slice_pitch + row * fill.row_pitch + i, fill.pattern,
                    fill.pattern_size);
  return 0;
}

FakeBackend::FakeBackend(std::vector<FakeOptions> devices) {
  for (FakeOptions& options : devices)
    devices_.push_back(std::make_shared<FakeDevice>(std::move(options)));
}

std::vector<std::shared_ptr<port::Device>> FakeBackend::discover(std::vector<port::Diagnostic>&) {
  return {devices_.begin(), devices_.end()};
}

}  // namespace weft::test
