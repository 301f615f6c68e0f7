// Some cases again in intrinsics of AVX-512, as somebody writes them who tunes for one core: what
// the compiler's vectors are measured against.
#pragma once

#include <cstddef>

namespace weft::bench {

struct Handwritten {
  const char* name;  // the case's
  const char* how;
  // On one thread: the arguments' contents, aligned to whole vectors, and the work-items of
  // dimension 0. Only where the processor has AVX-512.
  void (*run)(void* const* arguments, size_t count);
};

// Compiled for such processors, so nothing here may be code that others share. None where the
// compiler has no such target.
extern const Handwritten handwritten[];
extern const size_t handwritten_count;

// Runs them in turns with their cases and prints a table. What main returns.
int compareHandwritten();

}  // namespace weft::bench
