#include "scheduler/upload.h"

#include <algorithm>

#include "scheduler/command.h"

namespace weft {
namespace {

// Below it the way to the device and its end take longer than a copy.
constexpr size_t least_bytes = size_t(1) << 20;

class Upload final : public Command {
 public:
  Upload(Buffer& buffer, const void* contents, Device& device)
      : Command(buffer.context(), device, false),
        buffer_(&buffer),
        contents_(static_cast<const std::byte*>(contents)) {}

  void launch() noexcept {
    retain();  // the graph's reference, given up on completion
    releaseGuard();
  }

 private:
  void accesses(AccessList& list) override {
    list.push_back({buffer_, 0, buffer_->size(), false, true});
  }
  bool isDeviceWork() const override { return true; }
  bool endIsWanted() const override { return true; }
  void prepare() override {
    port::Location source;
    source.host = const_cast<std::byte*>(contents_);
    work = port::Copy{source, locate(*buffer_, space(), 0), {buffer_->size(), 1, 1}};
  }
  std::string what() const override { return "the first contents of a buffer"; }

  Buffer* buffer_;  // of who waits for this
  const std::byte* contents_;
};

bool isInHostMemory(const Ref<Device>& device) {
  return device->capabilities().memory_space == port::host_space;
}

}  // namespace

Device* deviceForContents(const Context& context, size_t size) {
  const auto& devices = context.allDevices();
  if (size < least_bytes || std::ranges::any_of(devices, isInHostMemory)) return nullptr;
  for (const Ref<Device>& device : devices) {
    const port::Capabilities& capabilities = device->capabilities();
    // It takes nobody's room, who would have to be moved away first.
    if (capabilities.device_class == port::DeviceClass::gpu && device->members().empty() &&
        !capabilities.host_unified_memory && size <= capabilities.max_allocation_bytes &&
        device->port().reaches(port::host_space) && !device->port().lost() &&
        size <= device->port().freeMemory() / 2)
      return device.get();
  }
  return nullptr;
}

bool upload(Buffer& buffer, const void* contents, Device& device) {
  const auto command = make<Upload>(buffer, contents, device);
  command->launch();
  return command->wait() == CL_COMPLETE;
}

}  // namespace weft
