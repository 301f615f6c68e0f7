#include "compiler/server/big_stack.h"

#include <pthread.h>

namespace weft::compiler {

bool runOnBigStack(const std::function<void()>& function) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, big_stack_bytes);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  const bool made =
      pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&function)) == 0;
  pthread_attr_destroy(&attributes);
  if (made) pthread_join(thread, nullptr);
  return made;
}

}  // namespace weft::compiler
