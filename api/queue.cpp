// Specification 5.1: command-queues; flush and finish (5.15).
#include <CL/cl_ext.h>

#include "api/checks.h"
#include "api/entry.h"
#include "api/properties.h"
#include "api/tables.h"

namespace weft::api {
namespace {

constexpr cl_command_queue_properties host_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
constexpr cl_command_queue_properties device_properties =
    CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

constexpr InfoRow<Queue> rows[] = {
    {CL_QUEUE_CONTEXT, [](Queue& q) { return q.context().handle(); }},
    {CL_QUEUE_DEVICE, [](Queue& q) { return q.device().handle(); }},
    {CL_QUEUE_REFERENCE_COUNT, [](Queue& q) { return cl_uint{q.handleReferences()}; }},
    {CL_QUEUE_PROPERTIES, [](Queue& q) { return q.properties(); }},
    {CL_QUEUE_PROPERTIES_ARRAY, [](Queue& q) { return q.propertyList(); }},
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for param_name": the
    // size is a property of device queues.
    {CL_QUEUE_SIZE,
     [](Queue&, Answer&) { throw Error(CL_INVALID_COMMAND_QUEUE, "not a device queue"); }},
    {CL_QUEUE_DEVICE_DEFAULT, [](Queue&) -> cl_command_queue { return nullptr; }},
};

cl_command_queue_properties checkFlags(cl_command_queue_properties flags) {
  require((flags & ~(host_properties | device_properties)) == 0, CL_INVALID_VALUE);
  // "Must be set together with CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE", and the default queue is a
  // device queue.
  constexpr auto on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  require(!(flags & CL_QUEUE_ON_DEVICE) || (flags & on_device) == on_device, CL_INVALID_VALUE);
  require(!(flags & CL_QUEUE_ON_DEVICE_DEFAULT) || flags & CL_QUEUE_ON_DEVICE, CL_INVALID_VALUE);
  require((flags & device_properties) == 0, CL_INVALID_QUEUE_PROPERTIES,
          "device queues are not supported");
  return flags;
}

cl_command_queue makeQueue(cl_context context, cl_device_id device,
                           const cl_queue_properties* properties) {
  Context& owner = toContext(context);
  Device& target = toDeviceOf(owner, device);
  cl_command_queue_properties flags = 0;
  bool has_size = false;
  auto list = readProperties(properties, CL_INVALID_VALUE, [&](auto name, auto value) {
    require(name == CL_QUEUE_PROPERTIES || name == CL_QUEUE_SIZE, CL_INVALID_VALUE,
            "unknown queue property");
    if (name == CL_QUEUE_PROPERTIES) flags = value;
    if (name == CL_QUEUE_SIZE) has_size = true;
  });
  checkFlags(flags);
  require(!has_size, CL_INVALID_VALUE, "only device queues have a size");
  return give(make<Queue>(Ref<Context>(&owner), Ref<Device>(&target), flags, std::move(list)));
}

}  // namespace

constinit const InfoTable<Queue> queue_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_command_queue CL_API_CALL
clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                   const cl_queue_properties* properties, cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return makeQueue(context, device, properties); });
}

// cl_khr_create_command_queue.
cl_command_queue CL_API_CALL clCreateCommandQueueWithPropertiesKHR(
    cl_context context, cl_device_id device, const cl_queue_properties_khr* properties,
    cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return makeQueue(context, device, properties); });
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties,
                                                  cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Context& owner = toContext(context);
    Device& target = toDeviceOf(owner, device);
    // Without a list: CL_QUEUE_PROPERTIES_ARRAY then answers with nothing.
    return give(make<Queue>(Ref<Context>(&owner), Ref<Device>(&target), checkFlags(properties),
                            std::vector<cl_queue_properties>()));
  });
}

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue) {
  return call([&] {
    toDeviceOf(toContext(context), device);
    // "CL_INVALID_OPERATION if device does not support a replaceable default on-device queue."
    throw Error(CL_INVALID_OPERATION, "device queues are not supported");
  });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue command_queue) {
  return call([&] { toQueue(command_queue).retainHandle(); });
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue command_queue) {
  return call([&] { toQueue(command_queue).releaseHandle(); });
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue command_queue,
                                         cl_command_queue_info param_name, size_t param_value_size,
                                         void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    query(queue_info, toQueue(command_queue), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue command_queue,
                                             cl_command_queue_properties, cl_bool,
                                             cl_command_queue_properties*) {
  return call([&] {
    toQueue(command_queue);
    // "CL_INVALID_OPERATION if no devices in the context associated with command_queue support
    // modifying the properties of a command-queue."
    throw Error(CL_INVALID_OPERATION, "the properties of a queue do not change");
  });
}

cl_int CL_API_CALL clFlush(cl_command_queue command_queue) {
  return call([&] { toQueue(command_queue).flush(); });
}

cl_int CL_API_CALL clFinish(cl_command_queue command_queue) {
  return call([&] { toQueue(command_queue).finish(); });
}
