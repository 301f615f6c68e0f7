// Checks that several chapters share. Each returns what it checked, converted.
#pragma once

#include <array>
#include <vector>

#include "core/context.h"
#include "core/kernel.h"
#include "core/memory.h"
#include "core/program.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft::api {

inline Platform& toPlatform(cl_platform_id handle) { return fromHandle<Platform>(handle); }
inline Device& toDevice(cl_device_id handle) { return fromHandle<Device>(handle); }
inline Context& toContext(cl_context handle) { return fromHandle<Context>(handle); }
inline Queue& toQueue(cl_command_queue handle) { return fromHandle<Queue>(handle); }
inline MemObject& toMemObject(cl_mem handle) { return fromHandle<MemObject>(handle); }
inline Program& toProgram(cl_program handle) { return fromHandle<Program>(handle); }
inline Kernel& toKernel(cl_kernel handle) { return fromHandle<Kernel>(handle); }
inline Event& toEvent(cl_event handle) { return fromHandle<Event>(handle); }
// CL_INVALID_MEM_OBJECT for a memory object that is not a buffer.
Buffer& toBuffer(cl_mem handle);

// A device of `context`; CL_INVALID_DEVICE otherwise.
Device& toDeviceOf(const Context& context, cl_device_id handle);
// The devices of a list argument, which must be of `context`; all of the context's for {0, NULL}.
// "CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if device_list
// is not NULL and num_devices is zero."
std::vector<Ref<Device>> toDevicesOf(const Context& context, cl_uint count,
                                     const cl_device_id* list);

// Objects used together are of one context; CL_INVALID_CONTEXT otherwise.
template <class A, class B>
void requireSameContext(const A& a, const B& b) {
  require(&a.context() == &b.context(), CL_INVALID_CONTEXT, "objects of different contexts");
}

// A callback's user data makes no sense without the callback.
// "CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL."
template <class Callback>
Callback checkCallback(Callback callback, const void* user) {
  require(callback || !user, CL_INVALID_VALUE, "user_data without a callback");
  return callback;
}

// The wait list of an enqueue, converted. Short ones need no allocation.
class WaitArgument {
 public:
  WaitArgument(const WaitArgument&) = delete;
  WaitArgument& operator=(const WaitArgument&) = delete;

  // "CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0, or
  // event_wait_list is not NULL and num_events_in_wait_list is 0, or if event objects in
  // event_wait_list are not valid events."
  // "CL_INVALID_CONTEXT if the context associated with command_queue and events in event_wait_list
  // are not the same."
  WaitArgument(const Context& context, cl_uint count, const cl_event* events,
               cl_int invalid_code = CL_INVALID_EVENT_WAIT_LIST);

  operator WaitList() const { return list_; }
  // For a command whose own event the application may not have asked for.
  WaitList wanting(const cl_event* event) const {
    WaitList list = list_;
    list.event_wanted = event != nullptr;
    return list;
  }

 private:
  std::array<Ref<Event>, 4> few_;
  std::vector<Ref<Event>> many_;
  WaitList list_;
};

// The events of a function that has no other purpose: "CL_INVALID_EVENT if event objects specified
// in event_list are not valid event objects."
inline WaitArgument eventList(const Context& context, cl_uint count, const cl_event* events) {
  return WaitArgument(context, count, events, CL_INVALID_EVENT);
}

// Gives the application the event of a command it enqueued, if it asked.
void giveEvent(Ref<Event> event, cl_event* out);
// The same after waiting for a blocking command; throws how it failed.
void finishCommand(Ref<Event> event, cl_bool blocking, cl_event* out);

}  // namespace weft::api
