// Kernels of which is known what each work-item touches.
#pragma once

#include "tests/scheduler/fake_platform.h"

namespace weft::test {

// Of 1024 work-items in groups of so many.
inline constexpr size_t stencil_bytes = 1024 + 2, stencil_group = 16;

// `count` bytes from the work-item's id on, or from `distance` behind it.
inline ArgumentInfo bytesOfIds(bool writes, uint32_t count, int64_t distance) {
  ArgumentInfo argument = pointerArgument(!writes, writes);
  argument.reads_known = argument.writes_known = true;
  AccessStep id, constant, sum;
  id.code = AccessCode::global_id;
  constant.value = distance;
  sum.code = AccessCode::add;
  sum.a = 0;
  sum.b = 1;
  argument.accesses = {{!writes, writes, writes, 2, count, {id, constant, sum}}};
  return argument;
}

// out[i + shift] = in[i] + 3 * in[i + 1] + 5 * in[i + 2]
inline void apply(const uint8_t* in, uint8_t* out, size_t begin, size_t end, size_t shift) {
  for (size_t i = begin; i < end; ++i)
    out[i + shift] = uint8_t(in[i] + 3 * in[i + 1] + 5 * in[i + 2]);
}

template <size_t shift>
FakeKernelInfo stencil(const char* name) {
  return {
      name, {bytesOfIds(false, 3, 0), bytesOfIds(true, 1, shift)}, [](const FakeLaunch& launch) {
        apply(launch.pointer<const uint8_t>(0), launch.pointer<uint8_t>(1),
              launch.slice.begin[0] * stencil_group, launch.slice.end[0] * stencil_group, shift);
      }};
}

}  // namespace weft::test
