// What moves bytes on one immediate command list: on its own, or with the calling thread's help.
#pragma once

#include <vector>

#include "backends/level_zero/memory.h"
#include "backends/level_zero/print_buffers.h"
#include "core/error.h"

namespace weft::level_zero {

// Belongs to one thread.
class Transfers {
 public:
  // Throws.
  explicit Transfers(std::shared_ptr<DeviceContext> context);
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers();

  ze_command_list_handle_t list() const { return list_; }

  // Does one end lie in host memory, or the pattern not fit into a command?
  static bool needsHost(const port::Copy& copy);
  static bool needsHost(const port::Fill& fill);

  // Between memories of devices; returns before it is done.
  ze_result_t append(const port::Copy& copy);
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
  static std::byte* hostOf(const port::Location& location);
  // `rows` rows of one slice through the staging memory.
  void piece(const port::Copy& copy, const End& from, const End& to, size_t width, size_t rows);
  ze_result_t rows(std::byte* to, size_t to_pitch, const std::byte* from, size_t from_pitch,
                   size_t width, size_t count);
  void wait();

  std::shared_ptr<DeviceContext> context_;
  const Api& api_;
  ze_command_list_handle_t list_ = nullptr;
  Staging staging_;
  PrintBuffer print_buffer_;
};

}  // namespace weft::level_zero
