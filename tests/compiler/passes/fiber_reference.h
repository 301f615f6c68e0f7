// The reference for the lowering: each work-item is a fiber that runs the kernel as it was written;
// a barrier lets the others of its group run.
#pragma once

#include <memory>
#include <string>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {

class FiberReference {
 public:
  explicit FiberReference(const std::string& source);
  ~FiberReference();

  // Runs a kernel of random_kernel.h.
  void run(const std::string& kernel, const NdRange& range, uint32_t* out, const uint32_t* in,
           uint32_t n, uint32_t m) const;

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace weft::test
