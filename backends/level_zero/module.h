// A loaded image and the launch of its kernels.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "backends/level_zero/images.h"
#include "core/ports/device.h"

namespace weft::level_zero {

// Program-scope variables are the module's: one module per program and device.
class Module final : public port::Module {
 public:
  // Throws CL_INVALID_BINARY with the driver's log when the image does not load.
  Module(std::shared_ptr<DeviceContext> context, const Image& image);
  ~Module() override;

  bool prints(uint32_t kernel) const {
    return kernel < kernels_.size() && kernels_[kernel]->prints;
  }
  // May the kernel write through this argument?
  bool writes(uint32_t kernel, size_t argument) const {
    return kernel < kernels_.size() && argument < kernels_[kernel]->writes.size() &&
           kernels_[kernel]->writes[argument];
  }
  // The kernel that samples the device's own images; nullptr where there is none.
  const NativeImages* native(uint32_t kernel) const {
    return kernel < kernels_.size() && kernels_[kernel]->native_handle ? &kernels_[kernel]->native
                                                                       : nullptr;
  }
  // Descriptors of the launch's images for where `images` is to be. Returns their bytes.
  static size_t describeImages(const port::Launch& launch, std::byte* images);
  // Addresses on the device: of a buffer to print into, for kernels that do, and of the
  // descriptors.
  struct Places {
    const void* print_buffer = nullptr;
    const std::byte* images = nullptr;
  };
  // `native`: for native(); nullptr for the kernel itself.
  ze_result_t launch(ze_command_list_handle_t list, const port::Launch& launch,
                     const Places& places, const NativeArguments* native) const;

 private:
  // A kernel's arguments are the handle's, so whoever appends a launch holds `mutex`.
  struct Kernel {
    std::mutex mutex;
    ze_kernel_handle_t handle = nullptr;
    bool prints = false;
    std::vector<bool> writes;  // by argument
    NativeImages native;
    ze_kernel_handle_t native_handle = nullptr;
  };
  void create(const Image& image);
  // What the driver says. `log` may be nullptr.
  ze_result_t create(std::span<const std::byte> code, ze_module_format_t format,
                     ze_module_build_log_handle_t* log);
  // False where nothing is kept of the program, or nothing that the driver takes.
  bool createFromCache(const Image& image);
  void keep(const Image& image) const;
  void findKernels(const Image& image);
  void destroy() noexcept;
  ze_result_t create(const std::string& symbol, ze_kernel_handle_t& handle) const;
  ze_result_t setArguments(ze_kernel_handle_t kernel, const port::Launch& launch,
                           const std::byte* images) const;
  ze_result_t setArguments(ze_kernel_handle_t kernel, uint32_t first,
                           const NativeArguments& native) const;

  std::shared_ptr<DeviceContext> context_;
  ze_module_handle_t module_ = nullptr;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace weft::level_zero
