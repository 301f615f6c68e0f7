// Memory of the driver's in pieces of one size: of the host's, for its devices to read and write,
// or of a device's, and where that is full, for it to reach on the host.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/level_zero/api.h"
#include "core/guarded.h"

namespace weft::level_zero {

struct Driver;

// Thread-safe.
class Pool {
 public:
  // `device`: whose memory; nullptr for the host's.
  Pool(const Driver& driver, ze_device_handle_t device, size_t piece_bytes, size_t block_bytes)
      : driver_(driver), device_(device), piece_bytes_(piece_bytes), block_bytes_(block_bytes) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // Of any contents; nullptr when the driver has no more.
  std::byte* take() noexcept;
  void give(std::byte* piece) noexcept;

 private:
  struct Pieces {
    std::vector<void*> blocks;
    std::vector<std::byte*> free;
  };
  bool grow(Pieces& pieces) noexcept;

  const Driver& driver_;
  const ze_device_handle_t device_;
  const size_t piece_bytes_, block_bytes_;
  Guarded<Pieces> pieces_;
};

}  // namespace weft::level_zero
