#include "partition/sampling.h"

#include <utility>

namespace weft::partition {

Sampling::Choice Sampling::next(bool wanted) {
  constexpr unsigned first = 32, later = 128, row = 4;
  const unsigned number = ++launches_;
  const bool measured = wanted || number <= first || number % later < row;
  return {measured, std::exchange(last_, measured)};
}

}  // namespace weft::partition
