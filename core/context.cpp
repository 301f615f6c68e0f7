#include "core/context.h"

#include <algorithm>

#include "core/device_queue.h"
#include "core/reaper.h"
#include "core/svm.h"

namespace weft {
namespace {

std::vector<Ref<Device>> withMembers(const std::vector<Ref<Device>>& devices) {
  std::vector<Ref<Device>> all = devices;
  for (const Ref<Device>& device : devices)
    for (const Ref<Device>& member : device->members())
      if (std::find(all.begin(), all.end(), member) == all.end()) all.push_back(member);
  return all;
}

}  // namespace

Context::Context(Platform& platform, std::vector<Ref<Device>> devices,
                 std::vector<cl_context_properties> properties, Notify notify, void* notify_user)
    : platform_(platform),
      devices_(std::move(devices)),
      properties_(std::move(properties)),
      notify_(notify),
      notify_user_(notify_user),
      single_space_(true),
      svm_(std::make_unique<SvmTable>(*this)),
      default_queues_(std::make_unique<DefaultQueues>()),
      all_devices_(withMembers(devices_)) {
  for (const Ref<Device>& device : all_devices_) {
    single_space_ &= device->capabilities().memory_space == port::host_space;
    shared_memory_ |= device->capabilities().shared_memory;
    all_share_memory_ &= device->capabilities().shared_memory != port::shares_nothing;
  }
}

Context::~Context() = default;

bool Context::has(const Device& device) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const Ref<Device>& own) { return own.get() == &device; });
}

void Context::requireDevice(const Device& device, cl_int code) const {
  require(has(device), code, "the device is not one of the context's");
}

void Context::report(const std::string& message) const {
  if (listens()) notify_(message.c_str(), nullptr, 0, notify_user_);
}

void Context::addDestructorCallback(DestructorCallback callback, void* user) {
  destructors_.with([&](auto& list) { list.push_back({callback, user}); });
}

void Context::dispose() noexcept {
  reap(this, [](Object* object) { static_cast<Context*>(object)->destroy(); });
}

void Context::destroy() noexcept {
  const auto callbacks = destructors_.with([](auto& list) { return std::move(list); });
  for (auto it = callbacks.rbegin(); it != callbacks.rend(); ++it) it->callback(handle(), it->user);
  delete this;
}

}  // namespace weft
