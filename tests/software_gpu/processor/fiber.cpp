#include "tests/software_gpu/processor/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

// Saves the registers that a call keeps and the stack pointer, and takes up another's.
extern "C" void weftSwitchStack(void** save, void* load);
asm(R"(
  .pushsection .text
  .globl weftSwitchStack
  .type weftSwitchStack, @function
weftSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size weftSwitchStack, .-weftSwitchStack
  .popsection
)");

namespace weft::software {
namespace {

constexpr size_t guard_bytes = 4096, saved_registers = 6;
thread_local Fiber* entered = nullptr;

}  // namespace

Fiber::Fiber(Body body) : body_(body) {
  void* const mapped = mmap(nullptr, guard_bytes + fiber_stack_bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(mapped) + guard_bytes;
  mprotect(stack_, fiber_stack_bytes, PROT_READ | PROT_WRITE);
  // As if main() had just been called: its return address' place is 8 below a multiple of 16.
  auto* const top = reinterpret_cast<void**>(stack_ + fiber_stack_bytes) - 2;
  *top = reinterpret_cast<void*>(&Fiber::main);
  inside_ = top - saved_registers;
}

Fiber::~Fiber() { munmap(stack_ - guard_bytes, guard_bytes + fiber_stack_bytes); }

void Fiber::main() {
  for (;;) {
    entered->body_();
    entered->leave();
  }
}

void Fiber::enter() {
  entered = this;
  weftSwitchStack(&outside_, inside_);
}

void Fiber::leave() { weftSwitchStack(&inside_, outside_); }

bool Fiber::holds(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  return byte >= stack_ && byte < stack_ + fiber_stack_bytes;
}

}  // namespace weft::software
