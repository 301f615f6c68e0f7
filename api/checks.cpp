#include "api/checks.h"

#include <algorithm>

#include "api/entry.h"
#include "core/pool.h"

namespace weft::api {

Buffer& toBuffer(cl_mem handle) {
  MemObject& object = toMemObject(handle);
  require(object.type() == CL_MEM_OBJECT_BUFFER, CL_INVALID_MEM_OBJECT, "not a buffer");
  return static_cast<Buffer&>(object);
}

Device& toDeviceOf(const Context& context, cl_device_id handle) {
  Device& device = toDevice(handle);
  context.requireDevice(device);
  return device;
}

std::vector<Ref<Device>> toDevicesOf(const Context& context, cl_uint count,
                                     const cl_device_id* list) {
  require((count == 0) == (list == nullptr), CL_INVALID_VALUE, "device list and its length");
  if (!list) return context.devices();
  std::vector<Ref<Device>> devices;
  for (cl_uint i = 0; i < count; ++i) {
    Device& device = toDeviceOf(context, list[i]);
    const auto same = [&](const Ref<Device>& other) { return other.get() == &device; };
    if (std::none_of(devices.begin(), devices.end(), same)) devices.emplace_back(&device);
  }
  return devices;
}

WaitArgument::WaitArgument(const Context& context, cl_uint count, const cl_event* events,
                           cl_int invalid_code) {
  require((count == 0) == (events == nullptr), invalid_code, "wait list and its length");
  if (count > few_.size()) many_.resize(count);
  // The events of a large graph are anywhere in memory: their misses may overlap.
  for (cl_uint i = 0; i < count; ++i)
    if (events[i]) pool::prefetch(events[i], 128);
  Ref<Event>* list = count > few_.size() ? many_.data() : few_.data();
  for (cl_uint i = 0; i < count; ++i) {
    require(events[i] && events[i]->kind.load(std::memory_order_relaxed) == Kind::event,
            invalid_code, "not an event");
    Event& event = toEvent(events[i]);
    require(&event.context() == &context, CL_INVALID_CONTEXT, "an event of another context");
    list[i] = Ref<Event>(&event);
  }
  list_ = WaitList(list, count);
}

void giveEvent(Ref<Event> event, cl_event* out) {
  if (out) *out = give(std::move(event));
}

void finishCommand(Ref<Event> event, cl_bool blocking, cl_event* out) {
  if (blocking) {
    const cl_int status = event->wait();
    require(status == CL_COMPLETE, status, "the blocking command failed");
  }
  giveEvent(std::move(event), out);
}

}  // namespace weft::api
