#include "core/access_sums.h"

#include <algorithm>

namespace weft::access {
namespace {

constexpr int64_t limit = int64_t{1} << 62;

bool isSmall(int64_t value) { return value > -limit && value < limit; }

}  // namespace

bool Range::fitsSigned(unsigned width) const {
  if (width >= 64) return true;
  const int64_t half = int64_t{1} << (width - 1);
  return low >= -half && high < half;
}

bool Range::fitsUnsigned(unsigned width) const {
  return low >= 0 && (width >= 63 || high < int64_t{1} << width);
}

Sum Sum::of(int64_t constant) {
  Sum sum;
  sum.constant = constant;
  sum.count = 0;
  sum.known = true;
  return sum;
}

Sum Sum::unknown() {
  Sum sum = of(0);
  sum.known = false;
  return sum;
}

Sum Sum::ofVariable(uint8_t variable, int64_t factor) {
  Sum sum = of(0);
  sum.terms[sum.count++] = {factor, variable};
  return sum;
}

bool Sum::sameTerms(const Sum& other) const {
  return known && other.known &&
         std::equal(terms.begin(), terms.begin() + count, other.terms.begin(),
                    other.terms.begin() + other.count);
}

bool Sum::divisibleBy(int64_t divisor) const {
  return known && constant % divisor == 0 &&
         std::all_of(terms.begin(), terms.begin() + count,
                     [&](const Term& term) { return term.factor % divisor == 0; });
}

Sum operator+(const Sum& a, const Sum& b) {
  Sum sum = Sum::of(0);
  if (!a.known || !b.known || __builtin_add_overflow(a.constant, b.constant, &sum.constant))
    return Sum::unknown();
  unsigned i = 0, j = 0;
  while (i < a.count || j < b.count) {
    Term term;
    if (j == b.count || (i < a.count && a.terms[i].variable < b.terms[j].variable)) {
      term = a.terms[i++];
    } else if (i == a.count || b.terms[j].variable < a.terms[i].variable) {
      term = b.terms[j++];
    } else {
      term.variable = a.terms[i].variable;
      if (__builtin_add_overflow(a.terms[i++].factor, b.terms[j++].factor, &term.factor))
        return Sum::unknown();
      if (term.factor == 0) continue;
    }
    if (sum.count == Sum::max_terms) return Sum::unknown();
    sum.terms[sum.count++] = term;
  }
  return sum;
}

Sum operator*(const Sum& a, int64_t factor) {
  if (!a.known) return a;
  if (factor == 0) return Sum::of(0);
  Sum result = a;
  if (__builtin_mul_overflow(a.constant, factor, &result.constant)) return Sum::unknown();
  for (unsigned i = 0; i < a.count; ++i)
    if (__builtin_mul_overflow(a.terms[i].factor, factor, &result.terms[i].factor))
      return Sum::unknown();
  return result;
}

Sum operator/(const Sum& a, int64_t divisor) {
  Sum result = a;
  result.constant /= divisor;
  for (unsigned i = 0; i < a.count; ++i) result.terms[i].factor /= divisor;
  return result;
}

int64_t floorDivide(int64_t a, int64_t divisor) { return a / divisor - (a % divisor < 0 ? 1 : 0); }

std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

std::optional<Range> product(const Range& a, const Range& b) {
  const std::optional<int64_t> corners[] = {product(a.low, b.low), product(a.low, b.high),
                                            product(a.high, b.low), product(a.high, b.high)};
  Range range{INT64_MAX, INT64_MIN};
  for (const auto& corner : corners) {
    if (!corner) return std::nullopt;
    range = {std::min(range.low, *corner), std::max(range.high, *corner)};
  }
  return range;
}

void Variables::define(uint8_t variable, Range range, bool exact) {
  State& state = states_[variable];
  if (has(variable)) {
    const Range both{std::max(state.range.low, range.low), std::min(state.range.high, range.high)};
    // An empty intersection: nothing gets here.
    if (both.low <= both.high) state.range = both;
    return;
  }
  defined_ |= uint64_t{1} << variable;
  state = {range, exact};
}

std::optional<Range> Variables::rangeOf(const Sum& sum) const {
  if (!sum.known || !isSmall(sum.constant)) return std::nullopt;
  Range range{sum.constant, sum.constant};
  for (unsigned i = 0; i < sum.count; ++i) {
    const Term& term = sum.terms[i];
    const Range& values = states_[term.variable].range;
    const auto first = product(term.factor, values.low);
    const auto last = product(term.factor, values.high);
    if (!first || !last || !isSmall(*first) || !isSmall(*last) || !isSmall(term.factor) ||
        __builtin_add_overflow(range.low, std::min(*first, *last), &range.low) ||
        __builtin_add_overflow(range.high, std::max(*first, *last), &range.high))
      return std::nullopt;
  }
  if (!isSmall(range.low) || !isSmall(range.high)) return std::nullopt;
  return range;
}

}  // namespace weft::access
