// Sums of factors times variables, and the ranges of the variables: what access records are
// evaluated with. Every result is exact in 63 bits or not known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/access.h"

namespace weft::access {

struct Range {
  int64_t low;
  int64_t high;

  // As the integers of `width` bits.
  bool fitsSigned(unsigned width) const;
  bool fitsUnsigned(unsigned width) const;
};

struct Term {
  int64_t factor;
  uint8_t variable;
  bool operator==(const Term&) const = default;
};

// Made by its functions only: hundreds of these are room for results, not worth clearing.
struct Sum {
  static constexpr unsigned max_terms = 6;

  int64_t constant;
  uint8_t count;
  bool known;
  std::array<Term, max_terms> terms;  // by variable, no factor is 0

  static Sum of(int64_t constant);
  static Sum unknown();
  static Sum ofVariable(uint8_t variable, int64_t factor = 1);

  bool isConstant() const { return known && count == 0; }
  bool sameTerms(const Sum& other) const;
  bool divisibleBy(int64_t divisor) const;
};

Sum operator+(const Sum& a, const Sum& b);
Sum operator*(const Sum& a, int64_t factor);
Sum operator/(const Sum& a, int64_t divisor);  // divisible
inline Sum operator-(const Sum& a, const Sum& b) { return a + b * -1; }

// Rounded towards smaller numbers; the divisor is positive.
int64_t floorDivide(int64_t a, int64_t divisor);
// nullopt where the product leaves 63 bits.
std::optional<int64_t> product(int64_t a, int64_t b);
std::optional<Range> product(const Range& a, const Range& b);

// What each variable takes. `exact`: each of the values, whatever the others are.
class Variables {
 public:
  struct State {
    Range range;
    bool exact;
  };

  bool has(uint8_t variable) const { return defined_ >> variable & 1; }
  State& operator[](uint8_t variable) { return states_[variable]; }
  const State& operator[](uint8_t variable) const { return states_[variable]; }
  // Narrows one that is there already.
  void define(uint8_t variable, Range range, bool exact);

  // nullopt: not known, or the sum or a part of it has more than 62 bits.
  std::optional<Range> rangeOf(const Sum& sum) const;

 private:
  uint64_t defined_ = 0;
  std::array<State, access_variables> states_;
};

}  // namespace weft::access
