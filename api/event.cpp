// Specification 5.11: event objects.
#include "api/checks.h"
#include "api/cl_weft_ext.h"
#include "api/entry.h"
#include "api/tables.h"
#include "scheduler/executed_parts.h"

namespace weft::api {
namespace {

// "CL_PROFILING_INFO_NOT_AVAILABLE if the command has not ended." User events are of no command.
std::vector<cl_event_part_weft> partsOf(Event& event) {
  require(event.done() || !event.queue(), CL_PROFILING_INFO_NOT_AVAILABLE,
          "the command has not ended");
  std::vector<cl_event_part_weft> parts;
  const auto* const command = dynamic_cast<const PartedCommand*>(&event);
  if (!command) return parts;
  for (const ExecutedPart& executed : command->executedParts()) {
    cl_event_part_weft& part = parts.emplace_back();
    part.device = executed.device->handle();
    for (size_t i = 0; i < 3; ++i) {
      part.first_group[i] = executed.groups.begin[i];
      part.group_count[i] = executed.groups.end[i] - executed.groups.begin[i];
    }
  }
  return parts;
}

constexpr InfoRow<Event> rows[] = {
    {CL_EVENT_COMMAND_QUEUE,
     [](Event& e) -> cl_command_queue { return e.queue() ? e.queue()->handle() : nullptr; }},
    {CL_EVENT_CONTEXT, [](Event& e) { return e.context().handle(); }},
    {CL_EVENT_COMMAND_TYPE, [](Event& e) { return e.type(); }},
    {CL_EVENT_COMMAND_EXECUTION_STATUS, [](Event& e) { return e.poll(); }},
    {CL_EVENT_REFERENCE_COUNT, [](Event& e) { return cl_uint{e.handleReferences()}; }},
    {CL_EVENT_PARTS_WEFT, by<partsOf>},
};

}  // namespace

constinit const InfoTable<Event> event_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* errcode_ret) {
  return create(errcode_ret,
                [&] { return give(make<UserEvent>(Ref<Context>(&toContext(context)))); });
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int execution_status) {
  return call([&] {
    Event& target = toEvent(event);
    require(target.type() == CL_COMMAND_USER, CL_INVALID_EVENT, "not a user event");
    require(execution_status <= CL_COMPLETE, CL_INVALID_VALUE);
    static_cast<UserEvent&>(target).setStatus(execution_status);
  });
}

cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  return call([&] {
    require(num_events > 0 && event_list, CL_INVALID_VALUE);
    waitForEvents(eventList(toEvent(event_list[0]).context(), num_events, event_list));
  });
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info param_name, size_t param_value_size,
                                  void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    query(event_info, toEvent(event), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int command_exec_callback_type,
                                      Event::Callback pfn_notify, void* user_data) {
  return call([&] {
    Event& target = toEvent(event);
    require(pfn_notify != nullptr, CL_INVALID_VALUE);
    // "[...] if command_exec_callback_type is not CL_SUBMITTED, CL_RUNNING, or CL_COMPLETE."
    require(command_exec_callback_type >= CL_COMPLETE && command_exec_callback_type <= CL_SUBMITTED,
            CL_INVALID_VALUE);
    target.addCallback(command_exec_callback_type, pfn_notify, user_data);
  });
}

cl_int CL_API_CALL clRetainEvent(cl_event event) {
  return call([&] { toEvent(event).retainHandle(); });
}

cl_int CL_API_CALL clReleaseEvent(cl_event event) {
  return call([&] { toEvent(event).releaseHandle(); });
}
