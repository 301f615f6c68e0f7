// Specification 4.4: contexts.
#include <algorithm>

#include "api/checks.h"
#include "api/composition.h"
#include "api/device_list.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/properties.h"
#include "api/tables.h"
#include "scheduler/context_state.h"

namespace weft::api {
namespace {

std::vector<cl_device_id> deviceHandles(const Context& context) {
  std::vector<cl_device_id> handles;
  for (const Ref<Device>& device : context.devices()) handles.push_back(device->handle());
  return handles;
}

constexpr InfoRow<Context> rows[] = {
    {CL_CONTEXT_REFERENCE_COUNT, [](Context& c) { return cl_uint{c.handleReferences()}; }},
    {CL_CONTEXT_NUM_DEVICES, [](Context& c) { return static_cast<cl_uint>(c.devices().size()); }},
    {CL_CONTEXT_DEVICES, by<deviceHandles>},
    {CL_CONTEXT_PROPERTIES, [](Context& c) { return c.properties(); }},
};

void checkProperty(cl_context_properties name, cl_context_properties value) {
  switch (name) {
    case CL_CONTEXT_PLATFORM:
      toPlatform(reinterpret_cast<cl_platform_id>(value));
      return;
    case CL_CONTEXT_INTEROP_USER_SYNC:
      require(value == CL_TRUE || value == CL_FALSE, CL_INVALID_PROPERTY);
      return;
    default:
      throw Error(CL_INVALID_PROPERTY, "unknown context property");
  }
}

std::vector<cl_context_properties> readContextProperties(const cl_context_properties* list) {
  return readProperties(list, CL_INVALID_PROPERTY, checkProperty);
}

cl_context makeContext(std::vector<Ref<Device>> devices,
                       std::vector<cl_context_properties> properties, Context::Notify notify,
                       void* user) {
  armForkGuard();
  auto context = make<Context>(platform(), std::move(devices), std::move(properties), notify, user);
  context->setState(makeContextState(*context));
  return give(std::move(context));
}

}  // namespace

constinit const InfoTable<Context> context_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint num_devices,
                                       const cl_device_id* devices, Context::Notify pfn_notify,
                                       void* user_data, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    auto list = readContextProperties(properties);
    require(devices && num_devices > 0, CL_INVALID_VALUE, "no devices");
    checkCallback(pfn_notify, user_data);
    // "Duplicate devices specified in devices are ignored."
    std::vector<Ref<Device>> members;
    for (const cl_device_id handle : std::span(devices, num_devices)) {
      const Ref<Device> device(&toDevice(handle));
      if (std::find(members.begin(), members.end(), device) == members.end())
        members.push_back(device);
    }
    return makeContext(std::move(members), std::move(list), pfn_notify, user_data);
  });
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties,
                                               cl_device_type device_type,
                                               Context::Notify pfn_notify, void* user_data,
                                               cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    auto list = readContextProperties(properties);
    checkCallback(pfn_notify, user_data);
    return makeContext(devicesOfType(platform(), device_type), std::move(list), pfn_notify,
                       user_data);
  });
}

cl_int CL_API_CALL clRetainContext(cl_context context) {
  return call([&] { toContext(context).retainHandle(); });
}

cl_int CL_API_CALL clReleaseContext(cl_context context) {
  return call([&] { toContext(context).releaseHandle(); });
}

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info param_name,
                                    size_t param_value_size, void* param_value,
                                    size_t* param_value_size_ret) {
  return call([&] {
    query(context_info, toContext(context), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context,
                                                  Context::DestructorCallback pfn_notify,
                                                  void* user_data) {
  return call([&] {
    Context& target = toContext(context);
    require(pfn_notify != nullptr, CL_INVALID_VALUE);
    target.addDestructorCallback(pfn_notify, user_data);
  });
}

// cl_weft_statistics.
cl_int CL_API_CALL clGetContextStatisticsWEFT(cl_context context, cl_device_id device, size_t size,
                                              cl_device_statistics_weft* statistics,
                                              size_t* size_ret) {
  return call([&] {
    const Context& owner = toContext(context);
    const DeviceStatistics now = weft::statistics(owner, toDeviceOf(owner, device));
    Answer(size, statistics, size_ret)
        .put(cl_device_statistics_weft{now.commands, now.busy_ns, now.bytes_in, now.bytes_out,
                                       now.transfers, now.evictions});
  });
}
