#include "core/byte_rows.h"

namespace weft {

bool overlap(const ByteRows& a, const ByteRows& b) {
  if (a.begin >= b.end() || b.begin >= a.end()) return false;
  for (size_t i = 0, j = 0; i < a.count() && j < b.count();) {
    const size_t first = a.row(i);
    const size_t second = b.row(j);
    if (first < second + b.bytes && second < first + a.bytes) return true;
    ++(first < second ? i : j);
  }
  return false;
}

}  // namespace weft
