// A loaded image and the launch of its kernels.
#pragma once

#include <vector>

#include "backends/hip/context.h"
#include "core/image.h"
#include "core/ports/device.h"

namespace weft::hip {

// Program-scope variables are the module's: one module per program and device.
class Module final : public port::Module {
 public:
  // Throws CL_INVALID_BINARY with the runtime's log when the image does not load.
  Module(std::shared_ptr<DeviceContext> context, const Image& image);
  ~Module() override;

  size_t maxWorkGroupSize(uint32_t kernel) const override { return kernels_[kernel].max_group; }

  bool prints(uint32_t kernel) const { return kernel < kernels_.size() && kernels_[kernel].prints; }

  // With the device current. `print_buffer`: the device's address of one, for kernels that print.
  Status launch(StreamHandle stream, const port::Launch& launch, void* print_buffer) const;

 private:
  struct Kernel {
    FunctionHandle function = nullptr;
    std::vector<uint32_t> alignments;  // of the pointees of local pointers, by argument
    size_t max_group = 0;              // work-items: what its registers leave room for
    FunctionHandle twin = nullptr;     // reads textures
    NativeImages native;
    bool prints = false;
  };
  void findKernels(const Image& image);
  FunctionHandle find(const std::string& symbol, size_t& max_group) const;

  std::shared_ptr<DeviceContext> context_;
  ModuleHandle module_ = nullptr;
  std::vector<Kernel> kernels_;
};

}  // namespace weft::hip
