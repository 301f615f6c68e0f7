// Copies of little between two devices, by a kernel: copy engines take some ten microseconds to
// begin. Only where the provider brings the code.
#pragma once

#include <atomic>
#include <mutex>

#include "backends/hip/api.h"

namespace weft::hip {

// Of one device. Thread-safe.
class PeerCopies {
 public:
  PeerCopies(const Api& api, int device) : api_(api), device_(device) {}
  ~PeerCopies();
  PeerCopies(const PeerCopies&) = delete;
  PeerCopies& operator=(const PeerCopies&) = delete;

  // Loads the code, as a module is loaded: not while streams wait for the host.
  void load() noexcept;
  // The device's kernels can use that one's memory.
  void enable(int peer) noexcept;
  bool enabled(int peer) const noexcept;
  // With the device current; all bytes are its own or an enabled peer's. False: not this way.
  bool copy(StreamHandle stream, std::byte* to, const std::byte* from, size_t bytes,
            Status& status) const noexcept;

 private:
  void find(const char* name, std::atomic<FunctionHandle>& kernel) noexcept;

  const Api& api_;
  const int device_;
  std::atomic<uint64_t> peers_{0};  // a bit each
  std::once_flag loaded_;
  ModuleHandle module_ = nullptr;
  std::atomic<FunctionHandle> words_ = nullptr, bytes_ = nullptr;  // of four bytes, and single ones
};

}  // namespace weft::hip
