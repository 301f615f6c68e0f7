// Runs a function on a thread with a stack that deeply nested programs fit in.
#pragma once

#include <functional>

namespace weft::compiler {

inline constexpr size_t big_stack_bytes = size_t{256} << 20;

// False when the thread cannot be made.
bool runOnBigStack(const std::function<void()>& function);

}  // namespace weft::compiler
