#include "scheduler/split_query.h"

#include "scheduler/experience.h"
#include "scheduler/work.h"

namespace weft {

std::shared_ptr<const partition::Split> splitOf(const Queue& queue, const Kernel& kernel,
                                                const NDRange& range) {
  require(!queue.device().members().empty(), CL_INVALID_OPERATION, "not a unified device");
  const LaunchWork launch = LaunchWork::check(queue, kernel, range);
  const DeviceKernel& code = *kernel.on(queue.device());
  return Experience::of({queue.device(), code, launch.record}, code)
      ->split(code, launch.record, launch.arguments);
}

}  // namespace weft
