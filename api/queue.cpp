// Specification 5.1: command-queues; flush and finish (5.15).
#include <algorithm>

#include <CL/cl_ext.h>

#include "api/checks.h"
#include "api/cl_weft_ext.h"
#include "api/entry.h"
#include "api/properties.h"
#include "api/tables.h"
#include "core/device_queue.h"

namespace weft::api {
namespace {

constexpr cl_command_queue_properties host_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
constexpr cl_command_queue_properties device_properties =
    CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

// "Return the current default command queue for the underlying device."
template <class Q>
cl_command_queue defaultQueue(Q& queue) {
  const Ref<DeviceQueue> current = queue.context().defaultQueues().of(queue.device());
  return current ? current->handle() : nullptr;
}

cl_split_policy_weft splitPolicy(const Queue& queue) {
  return static_cast<cl_split_policy_weft>(queue.property(CL_QUEUE_SPLIT_POLICY_WEFT));
}

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
    {CL_QUEUE_DEVICE_DEFAULT, by<defaultQueue<Queue>>},
    {CL_QUEUE_SPLIT_POLICY_WEFT, by<splitPolicy>},
};

constexpr InfoRow<DeviceQueue> device_queue_rows[] = {
    {CL_QUEUE_CONTEXT, [](DeviceQueue& q) { return q.context().handle(); }},
    {CL_QUEUE_DEVICE, [](DeviceQueue& q) { return q.device().handle(); }},
    {CL_QUEUE_REFERENCE_COUNT, [](DeviceQueue& q) { return cl_uint{q.handleReferences()}; }},
    {CL_QUEUE_PROPERTIES, [](DeviceQueue& q) { return q.properties(); }},
    {CL_QUEUE_PROPERTIES_ARRAY, [](DeviceQueue& q) { return q.propertyList(); }},
    {CL_QUEUE_SIZE, [](DeviceQueue& q) { return q.bytes(); }},
    {CL_QUEUE_DEVICE_DEFAULT, by<defaultQueue<DeviceQueue>>},
};

// Of a queue as it is to be made.
struct Wanted {
  cl_command_queue_properties flags = 0;
  cl_uint bytes = 0;
  bool has_bytes = false;
  std::vector<cl_queue_properties> list;
};

void checkFlags(const Device& device, const Wanted& wanted) {
  const auto flags = wanted.flags;
  require((flags & ~(host_properties | device_properties)) == 0, CL_INVALID_VALUE);
  // "Must be set together with CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE", and the default queue is a
  // device queue.
  constexpr auto on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  require(!(flags & CL_QUEUE_ON_DEVICE) || (flags & on_device) == on_device, CL_INVALID_VALUE);
  require(!(flags & CL_QUEUE_ON_DEVICE_DEFAULT) || flags & CL_QUEUE_ON_DEVICE, CL_INVALID_VALUE);
  require(!(flags & CL_QUEUE_ON_DEVICE) || device.capabilities().device_queues,
          CL_INVALID_QUEUE_PROPERTIES, "the device has no device queues");
  require(!wanted.has_bytes || flags & CL_QUEUE_ON_DEVICE, CL_INVALID_VALUE,
          "only device queues have a size");
  require(!wanted.has_bytes || (wanted.bytes > 0 && wanted.bytes <= max_device_queue_bytes),
          CL_INVALID_VALUE, "more than CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE");
}

static_assert(split_policy == CL_QUEUE_SPLIT_POLICY_WEFT &&
              static_cast<cl_uint>(SplitPolicy::never) == CL_SPLIT_POLICY_NEVER_WEFT &&
              static_cast<cl_uint>(SplitPolicy::always) == CL_SPLIT_POLICY_ALWAYS_WEFT);

void checkSplitPolicy(const Device& device, cl_queue_properties policy) {
  require(policy <= CL_SPLIT_POLICY_ALWAYS_WEFT, CL_INVALID_VALUE, "no policy of splits");
  require(!device.members().empty(), CL_INVALID_QUEUE_PROPERTIES, "not a unified device");
}

cl_command_queue makeDeviceQueue(Context& context, Device& device, Wanted wanted) {
  const cl_uint bytes = wanted.has_bytes ? wanted.bytes : preferred_device_queue_bytes;
  auto queue = make<DeviceQueue>(Ref<Context>(&context), Ref<Device>(&device), wanted.flags, bytes,
                                 std::move(wanted.list));
  if (!(wanted.flags & CL_QUEUE_ON_DEVICE_DEFAULT)) return give(std::move(queue));
  // "If a default device queue has already been created [...] will return the existing default
  // device queue and increment its retain count by 1."
  Ref<DeviceQueue> first = context.defaultQueues().setFirst(queue);
  if (first == queue) return give(std::move(queue));
  first->retainHandle();
  return first->handle();
}

cl_command_queue makeQueue(cl_context context, cl_device_id device,
                           const cl_queue_properties* properties) {
  Context& owner = toContext(context);
  Device& target = toDeviceOf(owner, device);
  Wanted wanted;
  wanted.list = readProperties(properties, CL_INVALID_VALUE, [&](auto name, auto value) {
    if (name == CL_QUEUE_SPLIT_POLICY_WEFT) return checkSplitPolicy(target, value);
    require(name == CL_QUEUE_PROPERTIES || name == CL_QUEUE_SIZE, CL_INVALID_VALUE,
            "unknown queue property");
    if (name == CL_QUEUE_PROPERTIES) wanted.flags = value;
    if (name != CL_QUEUE_SIZE) return;
    wanted.has_bytes = true;
    wanted.bytes = cl_uint(std::min<cl_queue_properties>(value, CL_UINT_MAX));
  });
  checkFlags(target, wanted);
  if (wanted.flags & CL_QUEUE_ON_DEVICE) return makeDeviceQueue(owner, target, std::move(wanted));
  return give(make<Queue>(Ref<Context>(&owner), Ref<Device>(&target), wanted.flags,
                          std::move(wanted.list)));
}

// Calls `function` with the queue, whichever kind it is of.
template <class F>
void withQueue(cl_command_queue handle, F&& function) {
  if (DeviceQueue* queue = DeviceQueue::find(handle))
    function(*queue);
  else
    function(toQueue(handle));
}

void setDefault(Context& context, Device& device, cl_command_queue handle) {
  // "CL_INVALID_OPERATION if device does not support a replaceable default on-device queue."
  require(device.capabilities().device_queues, CL_INVALID_OPERATION,
          "the device has no device queues");
  // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for device."
  DeviceQueue* queue = DeviceQueue::find(handle);
  require(queue && &queue->context() == &context && &queue->device() == &device,
          CL_INVALID_COMMAND_QUEUE, "not a device queue of the device");
  context.defaultQueues().set(*queue);
}

}  // namespace

constinit const InfoTable<Queue> queue_info = rows;
constinit const InfoTable<DeviceQueue> device_queue_info = device_queue_rows;

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
    // Those on a device are made with a list of properties.
    require(!(properties & device_properties), CL_INVALID_VALUE, "not a host queue");
    Wanted wanted;
    wanted.flags = properties;
    checkFlags(target, wanted);
    return give(make<Queue>(Ref<Context>(&owner), Ref<Device>(&target), properties,
                            std::vector<cl_queue_properties>()));
  });
}

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue command_queue) {
  return call([&] {
    Context& owner = toContext(context);
    setDefault(owner, toDeviceOf(owner, device), command_queue);
  });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue command_queue) {
  return call([&] { withQueue(command_queue, [](auto& queue) { queue.retainHandle(); }); });
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue command_queue) {
  return call([&] { withQueue(command_queue, [](auto& queue) { queue.releaseHandle(); }); });
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue command_queue,
                                         cl_command_queue_info param_name, size_t param_value_size,
                                         void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    if (DeviceQueue* queue = DeviceQueue::find(command_queue))
      query(device_queue_info, *queue, param_name, param_value_size, param_value,
            param_value_size_ret);
    else
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
