// Specification 5.9.4, table 'Kernel Object Sub-group Queries'.
#include "api/checks.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/tables.h"

namespace weft::api {
namespace {

constexpr size_t dimensions = 3;

size_t subGroupSize(const KernelOnDevice& k) { return k.code.info().sub_group_size; }

// What a query gets: nothing, a local size, or one number.
enum class Input : uint8_t { none, local_size, number };

struct Row {
  cl_kernel_sub_group_info token;
  Input input;
  size_t (*answer)(const KernelOnDevice& kernel, size_t input);
};

// A local size comes as the number of its work-items; a local size as an answer is its first
// dimension, and the others are 1.
constexpr Row rows[] = {
    {CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, Input::local_size,
     [](const KernelOnDevice& k, size_t) { return subGroupSize(k); }},
    {CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, Input::local_size,
     [](const KernelOnDevice& k, size_t items) {
       return (items + subGroupSize(k) - 1) / subGroupSize(k);
     }},
    // "If no work-group size can accommodate the requested number of sub-groups, 0 will be
    // returned in each element of the return array."
    {CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, Input::number,
     [](const KernelOnDevice& k, size_t count) {
       return count > k.code.max_group / subGroupSize(k) ? 0 : count * subGroupSize(k);
     }},
    {CL_KERNEL_MAX_NUM_SUB_GROUPS, Input::none,
     [](const KernelOnDevice& k, size_t) {
       return (k.code.max_group + subGroupSize(k) - 1) / subGroupSize(k);
     }},
    // "If the sub-group count is not specified [...] then 0": OpenCL C has no word for it.
    {CL_KERNEL_COMPILE_NUM_SUB_GROUPS, Input::none,
     [](const KernelOnDevice&, size_t) -> size_t { return 0; }},
    // "If the kernel was not compiled with a required sub-group size, 0 is returned."
    {CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, Input::none,
     [](const KernelOnDevice& k, size_t) -> size_t {
       return k.code.info().required_sub_group_size;
     }},
};

// "CL_INVALID_VALUE if [...] the size in bytes specified by input_value_size is not valid or if
// input_value is NULL."
size_t readInput(Input kind, std::span<const size_t> input) {
  if (kind == Input::none) return 0;
  require(!input.empty() && input.size() <= (kind == Input::number ? 1 : dimensions),
          CL_INVALID_VALUE, "input_value or its size");
  size_t product = 1;
  for (const size_t value : input) product *= value;
  return product;
}

void answerLocalSize(size_t items, Answer& answer) {
  const size_t wanted = answer.capacity() / sizeof(size_t);
  std::array<size_t, dimensions> size{};
  size.fill(items ? 1 : 0);
  size[0] = items;
  answer.bytes(size.data(), std::clamp<size_t>(wanted, 1, dimensions) * sizeof(size_t));
}

void querySubGroups(const KernelOnDevice& kernel, cl_kernel_sub_group_info token,
                    std::span<const size_t> input, Answer& answer) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [&](const Row& r) { return r.token == token; });
  require(row != std::end(rows), CL_INVALID_VALUE, "param_name is not a query of sub-groups");
  const size_t result = row->answer(kernel, readInput(row->input, input));
  if (token == CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT)
    answerLocalSize(result, answer);
  else
    answer.put(result);
}

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                           cl_kernel_sub_group_info param_name,
                                           size_t input_value_size, const void* input_value,
                                           size_t param_value_size, void* param_value,
                                           size_t* param_value_size_ret) {
  return call([&] {
    const KernelOnDevice selected = selectDevice(toKernel(kernel), device);
    require(selected.device.capabilities().max_sub_groups > 0, CL_INVALID_OPERATION,
            "the device does not support sub-groups");
    std::span<const size_t> input;
    if (input_value && input_value_size % sizeof(size_t) == 0)
      input = {static_cast<const size_t*>(input_value), input_value_size / sizeof(size_t)};
    Answer answer(param_value_size, param_value, param_value_size_ret);
    querySubGroups(selected, param_name, input, answer);
  });
}

cl_int CL_API_CALL clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device,
                                              cl_kernel_sub_group_info param_name,
                                              size_t input_value_size, const void* input_value,
                                              size_t param_value_size, void* param_value,
                                              size_t* param_value_size_ret) {
  return clGetKernelSubGroupInfo(kernel, device, param_name, input_value_size, input_value,
                                 param_value_size, param_value, param_value_size_ret);
}
