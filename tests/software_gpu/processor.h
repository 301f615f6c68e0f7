// The host's hold on a software GPU's processor: a process (processor/main.cpp).
#pragma once

#include <mutex>
#include <string>

#include "tests/software_gpu/memory.h"
#include "tests/software_gpu/wire.h"

namespace weft::software {

class Processor {
 public:
  // Throws std::runtime_error when the process cannot be started.
  Processor();
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;
  ~Processor();

  // All false, with a message, when the process refuses, or has ended.
  ControlAnswer map(const void* address, size_t bytes, const SharedPages& pages);
  ControlAnswer map(const SharedBlock& block) {
    return map(block.address(), block.bytes(), {block.descriptor(), 0});
  }
  ControlAnswer unmap(const void* address, size_t bytes);
  ControlAnswer load(const void* image, size_t bytes);
  ControlAnswer unload(uint64_t module);
  ControlAnswer find(uint64_t module, const std::string& name);
  // A socket for a stream's launches; -1 when there can be none.
  int open();

 private:
  ControlAnswer ask(const ControlRequest& request, int descriptor = -1);

  std::mutex mutex_;
  int control_ = -1;
};

// Runs the kernel on the processor at the other end of `socket`; false when that has ended.
bool launchAndWait(int socket, const LaunchRequest& launch);

}  // namespace weft::software
