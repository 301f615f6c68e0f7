// The access record of a store that a guard keeps within bounds.
#pragma once

#include <vector>

#include "core/access.h"
#include "core/image.h"

namespace weft::test {

inline AccessStep step(AccessCode code, uint16_t a = 0, uint16_t b = 0, int64_t value = 0) {
  AccessStep result;
  result.code = code;
  result.variable = first_free_access_variable;
  result.a = a;
  result.b = b;
  result.value = value;
  return result;
}

// a[i] = ... of 4-byte elements, where i < n, the argument behind the pointer. More arguments are
// values of 4 bytes that nothing looks at.
inline std::vector<ArgumentInfo> guardedStore(size_t count = 2) {
  std::vector<ArgumentInfo> arguments(count);
  arguments[0].kind = ArgumentKind::global_pointer;
  arguments[0].size = 8;
  arguments[0].reads_known = arguments[0].writes_known = true;
  for (size_t i = 1; i < count; ++i) arguments[i].size = 4;
  AccessRecord record{false, true, true, 4, 4, {}};
  record.steps = {step(AccessCode::global_id), step(AccessCode::argument, 1),
                  step(AccessCode::guard, 0, 1, static_cast<int64_t>(AccessComparison::less)),
                  step(AccessCode::constant, 0, 0, 4), step(AccessCode::multiply, 0, 3)};
  record.steps[1].width = 32;
  record.steps[2].variable = 0;
  arguments[0].accesses = {record};
  return arguments;
}

}  // namespace weft::test
