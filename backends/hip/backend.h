// GPUs through the HIP runtime, or through HIP over NVIDIA's driver.
#pragma once

#include <functional>

#include "backends/hip/provider.h"
#include "core/ports/device.h"

namespace weft::hip {

class Backend final : public port::Backend {
 public:
  using Open = std::function<std::unique_ptr<Provider>(std::vector<port::Diagnostic>&)>;

  Backend();
  explicit Backend(std::vector<Open> providers) : providers_(std::move(providers)) {}

  std::string_view name() const override { return "hip"; }
  std::vector<std::shared_ptr<port::Device>> discover(
      std::vector<port::Diagnostic>& diagnostics) override;

 private:
  std::vector<Open> providers_;
};

}  // namespace weft::hip
