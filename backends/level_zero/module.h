// A loaded image and the launch of its kernels.
#pragma once

#include <mutex>
#include <vector>

#include "backends/level_zero/context.h"
#include "core/ports/device.h"

namespace weft::level_zero {

// Program-scope variables are the module's: one module per program and device.
class Module final : public port::Module {
 public:
  // Throws CL_INVALID_BINARY with the driver's log when the image does not load.
  Module(std::shared_ptr<DeviceContext> context, const Image& image);
  ~Module() override;

  bool prints(uint32_t kernel) const { return kernels_[kernel]->prints; }
  // `print_buffer`: the device's address of one, for kernels that print.
  ze_result_t launch(ze_command_list_handle_t list, const port::Launch& launch,
                     const void* print_buffer) const;

 private:
  // A kernel's arguments are the handle's, so whoever appends a launch holds `mutex`.
  struct Kernel {
    std::mutex mutex;
    ze_kernel_handle_t handle = nullptr;
    bool prints = false;
  };
  void create(const Image& image);
  void findKernels(const Image& image);
  void destroy() noexcept;
  ze_result_t setArguments(const Kernel& kernel, const port::Launch& launch) const;

  std::shared_ptr<DeviceContext> context_;
  ze_module_handle_t module_ = nullptr;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace weft::level_zero
