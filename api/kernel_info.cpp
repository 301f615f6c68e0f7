// Specification 5.9.4, tables 'Kernel Object Queries', 'Kernel Object Device Queries' and 'Kernel
// Argument Queries'.
#include "api/checks.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/tables.h"

namespace weft::api {
namespace {

constexpr InfoRow<Kernel> rows[] = {
    {CL_KERNEL_FUNCTION_NAME, [](Kernel& k) { return k.name(); }},
    {CL_KERNEL_NUM_ARGS, [](Kernel& k) { return static_cast<cl_uint>(k.info().arguments.size()); }},
    {CL_KERNEL_REFERENCE_COUNT, [](Kernel& k) { return cl_uint{k.handleReferences()}; }},
    {CL_KERNEL_CONTEXT, [](Kernel& k) -> cl_context { return k.context().handle(); }},
    {CL_KERNEL_PROGRAM, [](Kernel& k) -> cl_program { return k.program().handle(); }},
    {CL_KERNEL_ATTRIBUTES, [](Kernel& k) { return k.info().attributes; }},
};

std::array<size_t, 3> requiredLocalSize(const KernelOnDevice& k) {
  const auto& size = k.code.info().required_local_size;
  return {size[0], size[1], size[2]};
}

// "CL_KERNEL_GLOBAL_WORK_SIZE [...] if device is not a custom device and kernel is not a built-in
// kernel, clGetKernelWorkGroupInfo returns the error CL_INVALID_VALUE": there are no such devices
// and kernels, so it has no row.
constexpr InfoRow<const KernelOnDevice> work_group_rows[] = {
    {CL_KERNEL_WORK_GROUP_SIZE, [](const KernelOnDevice& k) { return k.code.max_group; }},
    {CL_KERNEL_COMPILE_WORK_GROUP_SIZE, by<requiredLocalSize>},
    {CL_KERNEL_LOCAL_MEM_SIZE,
     [](const KernelOnDevice& k) -> cl_ulong {
       return k.code.info().local_bytes + k.kernel.localArgumentBytes();
     }},
    {CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
     [](const KernelOnDevice& k) { return k.device.capabilities().preferred_work_group_multiple; }},
    {CL_KERNEL_PRIVATE_MEM_SIZE,
     [](const KernelOnDevice& k) -> cl_ulong { return k.code.info().private_bytes; }},
    // "[...] the amount of spill memory [...] a device may return 0": nobody counts it.
    {CL_KERNEL_SPILL_MEM_SIZE_INTEL, always<cl_ulong{0}>},
};

cl_kernel_arg_address_qualifier addressQualifier(const ArgumentInfo& argument) {
  switch (argument.address) {
    case AddressQualifier::global:
      return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    case AddressQualifier::local:
      return CL_KERNEL_ARG_ADDRESS_LOCAL;
    case AddressQualifier::constant:
      return CL_KERNEL_ARG_ADDRESS_CONSTANT;
    case AddressQualifier::private_:
      break;
  }
  return CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

cl_kernel_arg_access_qualifier accessQualifier(const ArgumentInfo& argument) {
  switch (argument.access) {
    case AccessQualifier::read_only:
      return CL_KERNEL_ARG_ACCESS_READ_ONLY;
    case AccessQualifier::write_only:
      return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
    case AccessQualifier::read_write:
      return CL_KERNEL_ARG_ACCESS_READ_WRITE;
    case AccessQualifier::none:
      break;
  }
  return CL_KERNEL_ARG_ACCESS_NONE;
}

static_assert(qualifier_const == CL_KERNEL_ARG_TYPE_CONST &&
              qualifier_restrict == CL_KERNEL_ARG_TYPE_RESTRICT &&
              qualifier_volatile == CL_KERNEL_ARG_TYPE_VOLATILE &&
              qualifier_pipe == CL_KERNEL_ARG_TYPE_PIPE);

constexpr InfoRow<const ArgumentInfo> argument_rows[] = {
    {CL_KERNEL_ARG_ADDRESS_QUALIFIER, by<addressQualifier>},
    {CL_KERNEL_ARG_ACCESS_QUALIFIER, by<accessQualifier>},
    {CL_KERNEL_ARG_TYPE_NAME, [](const ArgumentInfo& a) { return a.type_name; }},
    {CL_KERNEL_ARG_TYPE_QUALIFIER,
     [](const ArgumentInfo& a) { return cl_kernel_arg_type_qualifier{a.type_qualifiers}; }},
    {CL_KERNEL_ARG_NAME, [](const ArgumentInfo& a) { return a.name; }},
};

}  // namespace

KernelOnDevice selectDevice(Kernel& kernel, cl_device_id handle) {
  if (!handle) {
    require(kernel.devices().size() == 1, CL_INVALID_DEVICE, "which device?");
    return {kernel, *kernel.devices().front()->device, *kernel.devices().front()};
  }
  const Device& device = toDevice(handle);
  const DeviceKernel* code = kernel.on(device);
  require(code != nullptr, CL_INVALID_DEVICE, "the kernel is not built for the device");
  return {kernel, device, *code};
}

constinit const InfoTable<Kernel> kernel_info = rows;
constinit const InfoTable<const KernelOnDevice> kernel_work_group_info = work_group_rows;
constinit const InfoTable<const ArgumentInfo> kernel_argument_info = argument_rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name,
                                   size_t param_value_size, void* param_value,
                                   size_t* param_value_size_ret) {
  return call([&] {
    query(kernel_info, toKernel(kernel), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                            cl_kernel_work_group_info param_name,
                                            size_t param_value_size, void* param_value,
                                            size_t* param_value_size_ret) {
  return call([&] {
    const KernelOnDevice selected = selectDevice(toKernel(kernel), device);
    query(kernel_work_group_info, selected, param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

// "CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel."
cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_index,
                                      cl_kernel_arg_info param_name, size_t param_value_size,
                                      void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    const Kernel& target = toKernel(kernel);
    const auto& arguments = target.info().arguments;
    require(arg_index < arguments.size(), CL_INVALID_ARG_INDEX);
    require(target.devices().front()->build->image->argument_names,
            CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
    query(kernel_argument_info, arguments[arg_index], param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}
