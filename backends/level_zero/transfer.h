// What moves bytes on one immediate command list: on its own, or with the calling thread's help.
#pragma once

#include <vector>

#include "backends/level_zero/images.h"
#include "backends/level_zero/memory.h"
#include "backends/level_zero/print_buffers.h"
#include "core/error.h"

namespace weft::level_zero {

// What an operation takes from the context's pools until it has ended. `chunk` is a piece of
// DeviceContext::small: the host's end of a small copy, or of images' descriptors.
struct Borrowed {
  std::byte* chunk = nullptr;
  std::byte* images = nullptr;
  // Of what comes from the device; its rows lie one behind the other in `chunk`.
  std::byte* to_host = nullptr;
  size_t row_pitch = 0, width = 0, rows = 0;

  // Does the host's part of it, when the device has done its own.
  void finish() const noexcept;
  void giveBack(DeviceContext& context) const noexcept;
};

// One thread at a time.
class Transfers {
 public:
  // Throws.
  Transfers(std::shared_ptr<DeviceContext> context, const QueueGroup& group);
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers();

  ze_command_list_handle_t list() const { return list_; }
  // Does what is appended to the list wait by itself for what is there?
  bool inOrder() const { return in_order_; }
  // Who writes, to those that may be copied as images.
  const void* writer() const { return &images_; }

  // Does one end lie in memory that only the host reaches, or the pattern not fit into a command?
  bool needsHost(const port::Copy& copy) const;
  bool needsHost(const port::Fill& fill) const;
  bool isFromHost(const port::Copy& copy) const;
  // Of those that need the host: can append() do it?
  bool isSmall(const port::Copy& copy) const;

  // Returns before it is done.
  ze_result_t append(const port::Copy& copy);
  ze_result_t append(const port::Copy& copy, Borrowed& borrowed);
  ze_result_t append(const port::Launch& launch, Borrowed& borrowed,
                     const void* print_buffer = nullptr);
  ze_result_t append(const port::Fill& fill);

  // Returns when it is done. Nothing else may be under way on the list. Throws.
  void perform(const port::Copy& copy);
  void perform(const port::Fill& fill);
  void perform(const port::Launch& printing);

 private:
  struct End {
    std::byte* address;
    size_t row_pitch;
    size_t slice_pitch;
    std::byte* at(size_t row, size_t slice) const {
      return address + row * row_pitch + slice * slice_pitch;
    }
  };
  static End endOf(const port::Location& location);
  // Where the host finds it, of memory that the device does not reach.
  std::byte* hostOf(const port::Location& location, const std::array<size_t, 3>& region) const;
  std::byte* sourceOnHost(const port::Copy& copy) const { return hostOf(copy.source, copy.region); }
  std::byte* destinationOnHost(const port::Copy& copy) const {
    return hostOf(copy.destination, copy.region);
  }
  // `rows` rows of one slice through the staging memory.
  void piece(const port::Copy& copy, const End& from, const End& to, size_t width, size_t rows);
  ze_result_t rows(std::byte* to, size_t to_pitch, const std::byte* from, size_t from_pitch,
                   size_t width, size_t count);
  void wait();
  ze_result_t create(uint32_t ordinal, ze_command_queue_flags_t flags);

  std::shared_ptr<DeviceContext> context_;
  const Api& api_;
  const size_t pattern_bytes_;
  ze_command_list_handle_t list_ = nullptr;
  bool in_order_ = false;
  Staging staging_;
  PrintBuffer print_buffer_;
  StreamImages images_;
};

}  // namespace weft::level_zero
