#include "scheduler/unified_device.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "partition/common_capabilities.h"
#include "partition/sub_devices.h"

namespace weft {
namespace {

using Devices = std::vector<Ref<Device>>;

// The first member under another name: what is not divided runs there, in its memory.
class UnifiedPort final : public port::Device {
 public:
  UnifiedPort(port::Device& first, port::Capabilities capabilities)
      : first_(first), capabilities_(std::move(capabilities)) {}

  const port::Capabilities& capabilities() const override { return capabilities_; }
  const port::Target& target() const override { return first_.target(); }
  bool reaches(port::MemorySpace space) const override { return first_.reaches(space); }
  uint64_t freeMemory() const override { return first_.freeMemory(); }
  port::ClockPair clocks() const override { return first_.clocks(); }
  bool lost() const noexcept override { return first_.lost(); }
  std::vector<std::shared_ptr<port::Device>> partition(std::span<const port::UnitSet>) override {
    throw Error(CL_DEVICE_PARTITION_FAILED, "a unified device is made of parts already");
  }
  std::unique_ptr<port::Stream> createStream(port::Order order) override {
    return first_.createStream(order);
  }
  std::unique_ptr<port::Memory> allocate(size_t bytes, size_t alignment) override {
    return first_.allocate(bytes, alignment);
  }
  std::unique_ptr<port::Memory> import(void* host, size_t bytes) override {
    return first_.import(host, bytes);
  }
  std::unique_ptr<port::Module> load(const Image& image) override { return first_.load(image); }

 private:
  port::Device& first_;
  port::Capabilities capabilities_;
};

// "2 x CPU", "GPU and CPU".
std::string nameOf(const Devices& members) {
  std::vector<std::pair<std::string, size_t>> kinds;
  for (const Ref<Device>& member : members) {
    const std::string& name = member->capabilities().name;
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == name; });
    if (known == kinds.end())
      kinds.emplace_back(name, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [name, count] : kinds) {
    if (!text.empty()) text += " and ";
    if (count > 1) text += std::to_string(count) + " x ";
    text += name;
  }
  return text;
}

port::Capabilities capabilitiesOf(const Devices& members) {
  std::vector<const port::Capabilities*> each;
  for (const Ref<Device>& member : members) each.push_back(&member->capabilities());
  port::Capabilities all = partition::common(each);
  all.name = "Weft unified device: " + nameOf(members);
  // Its queues' streams are that one's.
  all.runs_ahead = members.front()->capabilities().runs_ahead;
  all.fence_group = members.front()->capabilities().fence_group;
  all.uuid[0] ^= 0x55;  // another device's
  return all;
}

size_t numberIn(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc() && end == text.data() + text.size(), CL_INVALID_VALUE,
          "WEFT_UNIFIED_DEVICES: no number");
  return number;
}

// "2": a device of the platform. "0/4": a fourth of one, four times.
void append(Devices& members, const Platform& platform, std::string_view item) {
  const size_t slash = item.find('/');
  const size_t index = numberIn(item.substr(0, slash));
  require(index < platform.devices().size(), CL_INVALID_VALUE,
          "WEFT_UNIFIED_DEVICES: no such device");
  const Ref<Device>& device = platform.devices()[index];
  if (slash == item.npos) {
    members.push_back(device);
    return;
  }
  const size_t parts = numberIn(item.substr(slash + 1));
  const port::Capabilities& c = device->capabilities();
  require(parts > 1 && parts <= c.compute_units, CL_INVALID_VALUE,
          "WEFT_UNIFIED_DEVICES: a device has no such parts");
  const uint64_t units = c.compute_units / parts;
  const std::vector<uint64_t> wanted(parts, units);
  const auto sets = partition::byCounts(partition::divisible(c), wanted);
  for (auto& part : device->port().partition(sets))
    members.push_back(make<Device>(
        device, std::move(part),
        std::vector<cl_device_partition_property>{
            CL_DEVICE_PARTITION_EQUALLY, static_cast<cl_device_partition_property>(units), 0}));
}

// Those that the user names; otherwise all. A GPU is a better home than a CPU.
Devices membersOf(const Platform& platform) {
  const char* const setting = std::getenv("WEFT_UNIFIED_DEVICES");
  Devices members;
  if (!setting) {
    members = platform.devices();
    std::stable_partition(members.begin(), members.end(), [](const Ref<Device>& device) {
      return device->capabilities().device_class == port::DeviceClass::gpu;
    });
    return members;
  }
  std::string_view list = setting;
  for (;;) {
    const size_t comma = list.find(',');
    append(members, platform, list.substr(0, comma));
    if (comma == list.npos) return members;
    list.remove_prefix(comma + 1);
  }
}

struct Place {
  std::string_view setting;
  bool first;
  std::optional<port::DeviceClass> type;  // that of its members
};
constexpr Place places[] = {
    {"1", false, port::DeviceClass::accelerator},
    {"cpu", true, port::DeviceClass::cpu},
    {"gpu", true, port::DeviceClass::gpu},
    {"default", true, std::nullopt},
};

std::string add(Platform& platform, const Place& place) {
  Devices members = membersOf(platform);
  require(members.size() > 1, CL_DEVICE_NOT_FOUND, "fewer than two members");
  port::Capabilities capabilities = capabilitiesOf(members);
  if (place.type) capabilities.device_class = *place.type;
  const std::string name = capabilities.name;
  port::Device& first = members.front()->port();
  platform.add(make<Device>(platform, std::make_shared<UnifiedPort>(first, std::move(capabilities)),
                            std::move(members)),
               place.first);
  return name;
}

}  // namespace

void addUnifiedDevice(Platform& platform) {
  const char* const setting = std::getenv("WEFT_UNIFIED");
  if (!setting || std::string_view(setting) == "0" || platform.devices().empty()) return;
  const auto* const place = std::find_if(std::begin(places), std::end(places),
                                         [&](const Place& p) { return p.setting == setting; });
  if (place == std::end(places))
    return platform.note("unified: there is no WEFT_UNIFIED=" + std::string(setting));
  try {
    platform.note("unified: " + add(platform, *place));
  } catch (const std::exception& error) {
    platform.note(std::string("unified: not offered: ") + error.what());
  }
}

}  // namespace weft
