// Bounds on sums of several variables, as guards on linear indices are.
#include <algorithm>
#include <numeric>

#include "core/access_record.h"

namespace weft::access {

void RecordEvaluation::remember(const Sum& sum) {
  int64_t divisor = 0;
  for (unsigned i = 0; i < sum.count; ++i) divisor = std::gcd(divisor, sum.terms[i].factor);
  const bool negative = sum.terms[0].factor < 0;
  Sum terms = sum;
  terms.constant = 0;
  terms = terms / (negative ? -divisor : divisor);
  constexpr int64_t far = int64_t{1} << 62;
  const int64_t bound = floorDivide(-sum.constant, divisor);
  const Range range = negative ? Range{-bound, far} : Range{-far, bound};
  for (unsigned i = 0; i < bounds_count_; ++i) {
    Bounds& bounds = bounds_[i];
    if (!bounds.sum.sameTerms(terms)) continue;
    bounds.range = {std::max(bounds.range.low, range.low), std::min(bounds.range.high, range.high)};
    return;
  }
  if (bounds_count_ == bounds_.size())
    exact_ = false;
  else
    bounds_[bounds_count_++] = {terms, range};
}

// Puts one variable where the offset has a multiple of a sum with bounds. True when that takes care
// of all bounds: what is left depends on no other variable than the offset says.
bool RecordEvaluation::substitute(Sum& offset) {
  bool all = true;
  uint64_t replaced_variables = 0;
  for (unsigned n = 0; n < bounds_count_; ++n) {
    const Bounds& bounds = bounds_[n];
    uint64_t variables = 0;
    for (unsigned i = 0; i < bounds.sum.count; ++i)
      variables |= uint64_t{1} << bounds.sum.terms[i].variable;
    const auto range = variables_.rangeOf(bounds.sum);
    int64_t factor = 0;
    for (unsigned i = 0; i < offset.count; ++i)
      if (offset.terms[i].variable == bounds.sum.terms[0].variable)
        factor = offset.terms[i].factor / bounds.sum.terms[0].factor;
    const Sum rest = offset - bounds.sum * factor;
    const bool replaced = range && !(variables & replaced_variables) && factor != 0 && rest.known &&
                          rest.count + bounds.sum.count == offset.count &&
                          everyValueOf(bounds.sum) && rest.count < Sum::max_terms;
    const Range values{std::max(range ? range->low : 0, bounds.range.low),
                       std::min(range ? range->high : 0, bounds.range.high)};
    if (!replaced || values.low > values.high) {
      all = false;
      continue;
    }
    replaced_variables |= variables;
    // The variable of the first term is free now.
    const uint8_t variable = bounds.sum.terms[0].variable;
    variables_[variable].range = values;
    offset = rest + Sum::ofVariable(variable, factor);
  }
  return all;
}

// Does the sum take every value between its least and its greatest?
bool RecordEvaluation::everyValueOf(const Sum& sum) const {
  Footprint values;
  for (unsigned i = 0; i < sum.count; ++i) {
    const Range& range = variables_[sum.terms[i].variable].range;
    values.repeat(sum.terms[i].factor, range.high - range.low + 1);
  }
  int64_t length = 1;
  for (unsigned d = 0; d < values.dimensions; ++d) {
    if (values.dimension[d].stride > length) return false;
    length += values.dimension[d].stride * (values.dimension[d].count - 1);
  }
  return true;
}

// Does every combination of the used variables' values occur?
bool RecordEvaluation::independent() const {
  for (uint8_t v = 0; v < access_variables; ++v)
    if (used_ >> v & 1 && !variables_[v].exact) return false;
  const auto uses = [&](unsigned variable) { return used_ >> variable & 1; };
  for (unsigned d = 0; d < 3; ++d)
    if (uses(global_ids + d) && (uses(local_ids + d) || uses(group_ids + d))) return false;
  return true;
}

}  // namespace weft::access
