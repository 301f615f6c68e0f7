// Specification 5.14: profiling operations on memory objects and kernels.
#include "api/checks.h"
#include "api/entry.h"
#include "api/tables.h"

namespace weft::api {
namespace {

template <auto member>
constexpr auto time = [](const Event& event) -> cl_ulong { return (event.times().*member).load(); };

constexpr InfoRow<Event> rows[] = {
    {CL_PROFILING_COMMAND_QUEUED, time<&EventTimes::queued>},
    {CL_PROFILING_COMMAND_SUBMIT, time<&EventTimes::submitted>},
    {CL_PROFILING_COMMAND_START, time<&EventTimes::started>},
    {CL_PROFILING_COMMAND_END, time<&EventTimes::ended>},
    {CL_PROFILING_COMMAND_COMPLETE, time<&EventTimes::completed>},
};

// "CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the
// command-queue, if the execution status of the command identified by event is not CL_COMPLETE or
// if event is a user event object."
Event& checkProfiled(Event& event) {
  require(event.queue() && event.queue()->profiling() && event.status() == CL_COMPLETE,
          CL_PROFILING_INFO_NOT_AVAILABLE);
  return event;
}

}  // namespace

constinit const InfoTable<Event> profiling_info = rows;

}  // namespace weft::api

using namespace weft::api;

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name,
                                           size_t param_value_size, void* param_value,
                                           size_t* param_value_size_ret) {
  return call([&] {
    query(profiling_info, checkProfiled(toEvent(event)), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}
