// Destruction away from runtime threads. Dropping the last reference to a queue, a context or a
// memory object may join threads and call the application back; neither may happen on a thread that
// is completing a command.
#pragma once

namespace weft {

class Object;

// While one is alive on a thread, objects that end there are handed to the reaper's thread.
class RuntimeScope {
 public:
  RuntimeScope() noexcept;
  ~RuntimeScope();
  RuntimeScope(const RuntimeScope&) = delete;
  RuntimeScope& operator=(const RuntimeScope&) = delete;
};

// Is one alive on this thread?
bool inRuntimeScope() noexcept;

// Calls destroy(object): at once, or on the reaper's thread inside a RuntimeScope.
void reap(Object* object, void (*destroy)(Object* object)) noexcept;

// Returns when what was handed to the reaper's thread before has ended, or after two seconds: what
// ends may call the application. At once on that thread.
void awaitReaper() noexcept;

}  // namespace weft
