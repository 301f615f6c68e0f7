#include "tests/software_gpu/device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

namespace weft::software {
namespace {

constexpr size_t host_bytes = size_t(1) << 30;
thread_local int current_ordinal = 0;

std::string setting(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

// One for each device.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> list;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) list.push_back(std::atof(part.c_str()));
  return list;
}

double of(int ordinal, const std::vector<double>& list, double otherwise) {
  const auto i = static_cast<size_t>(ordinal);
  return i < list.size() && list[i] > 0 ? list[i] : otherwise;
}

void readFaults(const std::string& text, Faults& faults) {
  struct Row {
    const char* name;
    Fault& fault;
  };
  const Row rows[] = {{"copies", faults.copies},
                      {"launches", faults.launches},
                      {"allocations", faults.allocations},
                      {"kernels", faults.kernels},
                      {"signals", faults.signals}};
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    for (const Row& row : rows) {
      const std::string start = std::string(row.name) + "=";
      if (!part.starts_with(start)) continue;
      const std::string numbers = part.substr(start.size());
      const size_t plus = numbers.find('+');
      row.fault.spared = plus == std::string::npos ? 0 : std::atoi(numbers.c_str());
      row.fault.failing =
          std::atoi(numbers.substr(plus == std::string::npos ? 0 : plus + 1).c_str());
    }
}

}  // namespace

Settings Settings::fromEnvironment(Faults& faults) {
  Settings result;
  if (const int n = std::atoi(setting("WEFT_SOFTWARE_GPUS").c_str()); n > 0) result.devices = n;
  if (const long n = std::atol(setting("WEFT_SOFTWARE_GPU_MEMORY").c_str()); n > 0)
    result.memory_bytes = static_cast<size_t>(n) << 20;
  if (const std::string text = setting("WEFT_SOFTWARE_GPU_SHARES"); !text.empty())
    result.shares = text == "nothing"  ? Shares::nothing
                    : text == "pinned" ? Shares::pinned
                                       : Shares::managed;
  result.link_bytes_per_ns = std::atof(setting("WEFT_SOFTWARE_GPU_LINK").c_str()) * 1e-3;
  result.speeds = numbers(setting("WEFT_SOFTWARE_GPU_SPEED"));
  result.group_ns = numbers(setting("WEFT_SOFTWARE_GPU_GROUP_NS"));
  if (setting("WEFT_SOFTWARE_GPU_PROFILE") == "hump") result.profile = Pace::Profile::hump;
  readFaults(setting("WEFT_SOFTWARE_GPU_FAULTS"), faults);
  return result;
}

Device::Device(int ordinal, const Settings& settings, std::vector<const SharedBlock*> shared)
    : ordinal_(ordinal),
      pace_(of(ordinal, settings.speeds, 1), of(ordinal, settings.group_ns, 0), settings.profile),
      blocks_(std::move(shared)),
      memory_("software-gpu-memory", settings.memory_bytes, false) {}

Processor& Device::processor() {
  const std::lock_guard once(starting_);
  if (processor_) return *processor_;
  // Another process has its libraries elsewhere, so one of a few finds the addresses free.
  constexpr int attempts = 5;
  std::string why;
  for (int i = 0; i < attempts && !processor_; ++i) {
    auto made = std::make_unique<Processor>();
    ControlAnswer answer = made->map(memory_);
    for (const SharedBlock* block : blocks_)
      if (answer.ok) answer = made->map(*block);
    if (answer.ok) processor_ = std::move(made);
    why = answer.message;
  }
  for (const HostRange& range : machine().sharedRanges())
    if (processor_ && processor_->map(range.address, range.bytes, range.pages).ok)
      shared_.insert(range.address);
  if (!processor_) throw std::runtime_error("a software GPU cannot have its memory: " + why);
  return *processor_;
}

bool Device::share(const HostRange& range) {
  const std::lock_guard once(starting_);
  if (!processor_ || shared_.contains(range.address)) return true;
  if (!processor_->map(range.address, range.bytes, range.pages).ok) return false;
  shared_.insert(range.address);
  return true;
}

void Device::unshare(const HostRange& range) {
  const std::lock_guard once(starting_);
  if (shared_.erase(range.address) > 0) processor_->unmap(range.address, range.bytes);
}

bool Device::enablePeer(Device& peer) {
  Processor& own = processor();
  const std::lock_guard once(starting_);
  return !peers_.insert(peer.ordinal_).second || own.map(peer.memory_).ok;
}

bool Device::lost() const {
  const Faults& faults = machine().faults;
  return lost_ || faults.lost || faults.lost_device == ordinal_;
}

Machine::Machine()
    : host_block("software-gpu-host", host_bytes, true),
      managed_block("software-gpu-managed", host_bytes, true) {
  for (int i = 0; i < settings.devices; ++i)
    devices.push_back(std::make_unique<Device>(
        i, settings, std::vector<const SharedBlock*>{&host_block, &managed_block}));
}

Device* Machine::owner(const void* address) const {
  for (const auto& device : devices)
    if (device->memory().holds(address)) return device.get();
  return nullptr;
}

const HostRange* Machine::find(uintptr_t begin, size_t bytes) const {
  auto found = registered_.upper_bound(begin);
  if (found == registered_.begin()) return nullptr;
  --found;
  return begin + bytes <= found->first + found->second.bytes ? &found->second : nullptr;
}

bool Machine::pinned(const void* host, size_t bytes) const {
  if (host_block.holds(host)) return host_heap.holds(host, bytes);
  if (managed_block.holds(host)) return managed_heap.holds(host, bytes);
  const std::lock_guard lock(mutex_);
  return find(reinterpret_cast<uintptr_t>(host), bytes) != nullptr;
}

bool Machine::isShared(const void* host) const {
  const std::lock_guard lock(mutex_);
  const HostRange* const range = find(reinterpret_cast<uintptr_t>(host), 1);
  return range && range->pages.descriptor >= 0;
}

std::vector<HostRange> Machine::sharedRanges() const {
  const std::lock_guard lock(mutex_);
  std::vector<HostRange> ranges;
  for (const auto& [begin, range] : registered_)
    if (range.pages.descriptor >= 0) ranges.push_back(range);
  return ranges;
}

bool Machine::registerHost(void* host, size_t bytes) {
  if (managed_block.holds(host)) return false;
  const auto begin = reinterpret_cast<uintptr_t>(host);
  HostRange range{host, bytes};
  {
    const std::lock_guard lock(mutex_);
    const auto next = registered_.lower_bound(begin);
    if (next != registered_.end() && next->first < begin + bytes) return false;
    if (next != registered_.begin())
      if (const auto before = std::prev(next); before->first + before->second.bytes > begin)
        return false;
    range.pages = makeShared(host, bytes);
    registered_.emplace(begin, range);
  }
  if (range.pages.descriptor < 0) return true;
  for (const auto& device : devices)
    if (!device->share(range)) return unregisterHost(host) && false;
  return true;
}

bool Machine::unregisterHost(void* host) {
  HostRange range;
  {
    const std::lock_guard lock(mutex_);
    const auto found = registered_.find(reinterpret_cast<uintptr_t>(host));
    if (found == registered_.end()) return false;
    range = found->second;
    registered_.erase(found);
  }
  if (range.pages.descriptor < 0) return true;
  for (const auto& device : devices) device->unshare(range);
  close(range.pages.descriptor);
  return true;
}

Machine& machine() {
  static Machine* const made = new Machine;
  return *made;
}

Device& current() { return *machine().devices[static_cast<size_t>(current_ordinal)]; }
int currentOrdinal() { return current_ordinal; }
void setCurrent(int ordinal) { current_ordinal = ordinal; }

}  // namespace weft::software
