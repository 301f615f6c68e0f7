// What a cl_* handle points at: a head {dispatch table, icd2 dispatch data, kind tag}. Each object
// derives from the head of its handle type; one line per type, at the end.
#pragma once

#include <atomic>
#include <cstdint>

#include <CL/cl.h>

#include "core/command_buffer_khr.h"
#include "core/error.h"
#include "core/ref.h"

namespace weft {

enum class Kind : uint32_t {
  dead = 0,
  platform = 0x57454601,  // "WEF" and a number: unlikely in foreign memory
  device,
  context,
  queue,
  memory,
  sampler,
  program,
  kernel,
  event,
  command_buffer,
  mutable_command,
  device_queue,
};

// The table every handle starts with; set by api/ before any handle is made.
extern const void* icd_dispatch;

struct Head {
  explicit Head(Kind k) noexcept : dispatch(icd_dispatch), kind(k) {}
  ~Head() { kind.store(Kind::dead, std::memory_order_relaxed); }

  const void* dispatch;
  void* dispatch_data = nullptr;
  std::atomic<Kind> kind;
  std::atomic<uint32_t> application_references{1};
};

// An object with a handle. `H` is one of the heads below. The application's references together
// hold one of the runtime's.
template <class H>
class HandleObject : public H, public Object {
 public:
  using HandleHead = H;
  static constexpr cl_int invalid_code = H::invalid_code;

  H* handle() noexcept { return static_cast<H*>(this); }

  // A handle that the application gave up but can still query (a kernel's program) comes back to it
  // this way.
  void retainHandle() noexcept {
    if (this->application_references.fetch_add(1, std::memory_order_relaxed) == 0) retain();
  }
  // Throws the type's error when the application releases more often than it retained.
  void releaseHandle() {
    uint32_t count = this->application_references.load(std::memory_order_relaxed);
    do {
      if (count == 0) throw Error(invalid_code, "released more often than retained");
    } while (!this->application_references.compare_exchange_weak(count, count - 1,
                                                                 std::memory_order_acq_rel));
    if (count == 1) {
      onLastHandleReleased();
      release();
    }
  }
  uint32_t handleReferences() const noexcept {
    return this->application_references.load(std::memory_order_relaxed);
  }

 protected:
  // The application gave up its last reference; the object lives on while the runtime uses it.
  virtual void onLastHandleReleased() noexcept {}
};

}  // namespace weft

// NOLINTBEGIN(bugprone-reserved-identifier): the names that cl.h declares.
#define WEFT_HANDLE(name, kind_, error)                  \
  struct name : weft::Head {                             \
    static constexpr weft::Kind tag = weft::Kind::kind_; \
    static constexpr cl_int invalid_code = error;        \
    name() noexcept : Head(tag) {}                       \
  };
WEFT_HANDLE(_cl_platform_id, platform, CL_INVALID_PLATFORM)
WEFT_HANDLE(_cl_device_id, device, CL_INVALID_DEVICE)
WEFT_HANDLE(_cl_context, context, CL_INVALID_CONTEXT)
WEFT_HANDLE(_cl_command_queue, queue, CL_INVALID_COMMAND_QUEUE)
WEFT_HANDLE(_cl_mem, memory, CL_INVALID_MEM_OBJECT)
WEFT_HANDLE(_cl_sampler, sampler, CL_INVALID_SAMPLER)
WEFT_HANDLE(_cl_program, program, CL_INVALID_PROGRAM)
WEFT_HANDLE(_cl_kernel, kernel, CL_INVALID_KERNEL)
WEFT_HANDLE(_cl_event, event, CL_INVALID_EVENT)
WEFT_HANDLE(_cl_command_buffer_khr, command_buffer, weft::khr::invalid_command_buffer)
WEFT_HANDLE(_cl_mutable_command_khr, mutable_command, weft::khr::invalid_mutable_command)
#undef WEFT_HANDLE
// NOLINTEND(bugprone-reserved-identifier)

namespace weft {

// The one way from a handle to an object: reads the tag before the downcast; throws the type's
// CL_INVALID_* for NULL, for a handle of another kind, and for a released one while its memory is
// still readable.
template <class T>
T& fromHandle(typename T::HandleHead* handle) {
  if (!handle || handle->kind.load(std::memory_order_relaxed) != T::HandleHead::tag)
    throw Error(T::invalid_code);
  return static_cast<T&>(*handle);
}

}  // namespace weft
