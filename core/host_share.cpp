#include "core/host_share.h"

#include <atomic>

#include "core/error.h"
#include "core/reaper.h"
#include "core/system.h"

namespace weft {
namespace {

std::atomic<uint64_t> all_shares{0};

bool isTaken(uint64_t bytes) {
  static const uint64_t limit = physicalMemoryBytes();
  uint64_t others = all_shares.load(std::memory_order_relaxed);
  do {
    if (bytes > limit || others > limit - bytes) return false;
  } while (!all_shares.compare_exchange_weak(others, others + bytes, std::memory_order_relaxed));
  return true;
}

}  // namespace

HostShare::HostShare(uint64_t bytes) {
  if (!isTaken(bytes)) {
    awaitReaper();  // what has ended may not be given back yet
    require(isTaken(bytes), CL_MEM_OBJECT_ALLOCATION_FAILURE, "more than the machine's memory");
  }
  bytes_ = bytes;
}

HostShare::~HostShare() { all_shares.fetch_sub(bytes_, std::memory_order_relaxed); }

}  // namespace weft
