// cl_weft_unified_device: docs/extensions/cl_weft_unified_device.md.
#include <algorithm>

#include "api/checks.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/info.h"
#include "scheduler/split_query.h"

namespace weft::api {
namespace {

using partition::Split;
using partition::SplitClass;

constexpr std::pair<SplitClass, cl_split_class_weft> classes[] = {
    {SplitClass::exact, CL_SPLIT_CLASS_EXACT_WEFT},
    {SplitClass::merge, CL_SPLIT_CLASS_MERGE_WEFT},
    {SplitClass::whole, CL_SPLIT_CLASS_WHOLE_WEFT},
};

cl_split_class_weft classOf(const Split& split) {
  return std::ranges::find_if(classes,
                              [&](const auto& entry) { return entry.first == split.splitClass(); })
      ->second;
}

constexpr InfoRow<const Split> rows[] = {
    {CL_KERNEL_SPLIT_CLASS_WEFT, [](const Split& split) { return classOf(split); }},
    {CL_KERNEL_SPLIT_REASON_WEFT, [](const Split& split) { return split.reason(); }},
};

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clGetKernelSplitInfoWEFT(cl_command_queue queue, cl_kernel kernel,
                                            cl_uint work_dim, const size_t* global_work_offset,
                                            const size_t* global_work_size,
                                            const size_t* local_work_size,
                                            cl_kernel_split_info_weft param_name,
                                            size_t param_value_size, void* param_value,
                                            size_t* param_value_size_ret) {
  return call([&] {
    const Queue& where = toQueue(queue);
    const Kernel& what = toKernel(kernel);
    requireSameContext(where, what);
    require(work_dim >= 1 && work_dim <= 3, CL_INVALID_WORK_DIMENSION);
    const auto split =
        splitOf(where, what, {work_dim, global_work_offset, global_work_size, local_work_size});
    query<const Split>(rows, *split, param_name, param_value_size, param_value,
                       param_value_size_ret);
  });
}
