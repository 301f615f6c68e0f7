// 0-terminated lists of {name, value} pairs.
#pragma once

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace weft::api {

// Copies such a list with its terminator; empty for NULL. `check(name, value)` throws for what it
// does not accept; a name given twice throws `duplicate_code`.
template <class T, class Check>
std::vector<T> readProperties(const T* list, cl_int duplicate_code, Check&& check) {
  std::vector<T> copy;
  if (!list) return copy;
  for (; list[0] != 0; list += 2) {
    for (size_t i = 0; i < copy.size(); i += 2)
      require(copy[i] != list[0], duplicate_code, "a property given twice");
    check(list[0], list[1]);
    copy.insert(copy.end(), {list[0], list[1]});
  }
  copy.push_back(0);
  return copy;
}

}  // namespace weft::api
