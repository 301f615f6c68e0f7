#include "backends/hip/peer_copies.h"

#include <cstdint>

namespace weft::hip {
namespace {

constexpr size_t most_bytes = size_t{256} << 10;
constexpr unsigned group = 256;
constexpr int most_peers = 64;

// Each thread copies one.
constexpr uint32_t word_bytes = 4;

bool alignedTo(uint32_t bytes, const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

}  // namespace

PeerCopies::~PeerCopies() {
  if (!module_) return;
  const Current current(api_, device_);
  api_.moduleUnload(module_);
}

void PeerCopies::load() noexcept {
  if (!api_.peer_copy_code) return;
  std::call_once(loaded_, [&] {
    const Current current(api_, device_);
    if (current.status() != success) return;
    if (api_.moduleLoadDataEx(&module_, api_.peer_copy_code, 0, nullptr, nullptr) != success)
      module_ = nullptr;
    else
      find("copy_words", words_), find("copy_bytes", bytes_);
  });
}

void PeerCopies::find(const char* name, std::atomic<FunctionHandle>& kernel) noexcept {
  FunctionHandle found = nullptr;
  int used = 0;  // to ask makes the runtime load it now
  if (api_.moduleGetFunction(&found, module_, name) == success &&
      api_.funcGetAttribute(&used, FunctionAttribute::shared_size_bytes, found) == success)
    kernel.store(found, std::memory_order_release);
}

void PeerCopies::enable(int peer) noexcept {
  if (peer < most_peers) peers_.fetch_or(uint64_t{1} << peer, std::memory_order_release);
}

bool PeerCopies::enabled(int peer) const noexcept {
  return peer < most_peers && (peers_.load(std::memory_order_acquire) >> peer & 1) != 0;
}

bool PeerCopies::copy(StreamHandle stream, std::byte* to, const std::byte* from, size_t bytes,
                      Status& status) const noexcept {
  const bool by_words =
      alignedTo(word_bytes, to) && alignedTo(word_bytes, from) && bytes % word_bytes == 0;
  const FunctionHandle function = (by_words ? words_ : bytes_).load(std::memory_order_acquire);
  if (!function || bytes > most_bytes) return false;
  auto count = static_cast<uint32_t>(by_words ? bytes / word_bytes : bytes);
  void* parameters[] = {&to, &from, &count};
  status = api_.moduleLaunchKernel(function, (count + group - 1) / group, 1, 1, group, 1, 1, 0,
                                   stream, parameters, nullptr);
  return true;
}

}  // namespace weft::hip
