// cl_command_queue. Specification 5.1.
#pragma once

#include <memory>
#include <vector>

#include "core/context.h"
#include "core/guarded.h"
#include "core/handle.h"
#include "scheduler/event.h"

namespace weft {

class Command;

// Thread-safe. Kept alive by its commands until they complete and by their events.
class Queue final : public HandleObject<_cl_command_queue> {
 public:
  // `list` is the property list as passed, 0-terminated, or empty (CL_QUEUE_PROPERTIES_ARRAY).
  Queue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
        std::vector<cl_queue_properties> list);

  Context& context() const { return *context_; }
  Device& device() const { return *device_; }
  cl_command_queue_properties properties() const { return properties_; }
  const std::vector<cl_queue_properties>& propertyList() const { return property_list_; }
  bool outOfOrder() const { return properties_ & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE; }
  bool profiling() const { return properties_ & CL_QUEUE_PROFILING_ENABLE; }

  void flush();
  // Blocks until everything enqueued before the call has completed.
  void finish();

  port::Stream& stream() const { return *stream_; }

 private:
  friend class Command;
  friend class Join;
  enum class Ordering : uint8_t { command, marker, barrier };

  // Places `command` behind what it must follow by the queue's rules.
  void order(Command& command, bool has_wait_list);
  void completed(Command& command) noexcept;
  void onLastHandleReleased() noexcept override;

  struct Tail {
    Ref<Event> last;     // in-order: the newest command
    Ref<Event> barrier;  // out-of-order: the newest barrier
    Ref<Event> epoch;    // out-of-order: join of the commands since the last marker or barrier
  };

  Ref<Context> context_;
  Ref<Device> device_;
  cl_command_queue_properties properties_;
  std::vector<cl_queue_properties> property_list_;
  std::unique_ptr<port::Stream> stream_;
  Guarded<Tail> tail_;
};

}  // namespace weft
