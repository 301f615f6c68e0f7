// A HIP runtime made of threads, behind the same table: streams really are asynchronous, events
// carry times, kernels are the C++ twins of kernels.cl. One per process, with two devices.
#pragma once

#include <atomic>
#include <memory>

#include "backends/hip/provider.h"

namespace weft::test {

// What tests make the mock do. Zero is nothing.
struct MockFaults {
  std::atomic<int> failing_copies{0};  // so many asynchronous copies fail when they are called
  std::atomic<bool> lost{false};       // everything fails from now on, as after a kernel's fault
  std::atomic<int> alive{0};           // handles and allocations that were not given back
};
MockFaults& mockFaults();

std::unique_ptr<hip::Provider> openMock();

}  // namespace weft::test
