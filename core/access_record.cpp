#include "core/access_record.h"

#include <algorithm>
#include <cstring>

#include "core/pixel_image.h"

namespace weft::access {
namespace {

constexpr Range nonNegative(int64_t high) { return {0, high}; }

std::span<const std::byte> bytesOf(const ArgumentValue& value) {
  const MemObject* const memory = value.memory();
  if (!memory || !isImageType(memory->type())) return value.bytes();
  return std::as_bytes(std::span(&static_cast<const PixelImage&>(*memory).descriptor(), 1));
}

}  // namespace

std::optional<int64_t> argumentBits(std::span<const ArgumentValue> values, const AccessStep& step) {
  const auto bytes = bytesOf(values[step.a]);
  const size_t offset = static_cast<size_t>(step.value), size = step.width / 8;
  if (offset + size > bytes.size()) return std::nullopt;
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + offset, size);
  const unsigned unused = 64 - step.width;
  return static_cast<int64_t>(bits << unused) >> unused;
}

Outcome RecordEvaluation::run(Footprint& footprint) {
  for (size_t i = 0; i < record_.steps.size(); ++i)
    if (!execute(record_.steps[i], results_[i])) return Outcome::nothing;
  Sum offset = results_[record_.offset];
  if (!variables_.rangeOf(offset)) return Outcome::unknown;
  use(offset);
  const bool bounded = substitute(offset);
  footprint.begin = offset.constant;
  footprint.bytes = record_.bytes;
  footprint.complete = exact_ && bounded && independent();
  for (unsigned i = 0; i < offset.count; ++i) {
    const Term& term = offset.terms[i];
    const Range& range = variables_[term.variable].range;
    footprint.begin += term.factor * range.low;
    footprint.repeat(term.factor, range.high - range.low + 1);
  }
  return Outcome::known;
}

bool RecordEvaluation::execute(const AccessStep& step, Sum& result) {
  if (step.code == AccessCode::iterations) return iterations(step);
  if (step.code == AccessCode::guard) return guard(step);
  result = evaluate(step);
  return true;
}

Sum RecordEvaluation::evaluate(const AccessStep& step) {
  switch (step.code) {
    case AccessCode::constant:
      return Sum::of(step.value);
    case AccessCode::argument:
      return argument(step);
    case AccessCode::global_id:
    case AccessCode::local_id:
    case AccessCode::group_id:
      return id(step.code, step.a);
    case AccessCode::global_size:
      return Sum::of(static_cast<int64_t>(launch_.global_size[step.a]));
    case AccessCode::global_offset:
      return Sum::of(static_cast<int64_t>(launch_.global_offset[step.a]));
    case AccessCode::local_size:
      return localSize(step);
    case AccessCode::enqueued_local_size:
      return Sum::of(static_cast<int64_t>(launch_.local_size[step.a]));
    case AccessCode::group_count:
      return Sum::of(static_cast<int64_t>(launch_.group_count[step.a]));
    case AccessCode::work_dim:
      return Sum::of(launch_.work_dim);
    case AccessCode::local_linear_id:
      return localLinearId(step);
    default:
      return operation(step);
  }
}

Sum RecordEvaluation::operation(const AccessStep& step) {
  switch (step.code) {
    case AccessCode::add:
      return a(step) + b(step);
    case AccessCode::multiply:
      return multiply(step);
    case AccessCode::shift_left:
    case AccessCode::shift_right:
    case AccessCode::shift_right_signed:
      return shift(step);
    case AccessCode::minimum:
    case AccessCode::maximum:
      return smaller(step, false, step.code == AccessCode::maximum);
    case AccessCode::minimum_signed:
    case AccessCode::maximum_signed:
      return smaller(step, true, step.code == AccessCode::maximum_signed);
    case AccessCode::divide:
      return divide(step);
    case AccessCode::divide_signed:
      return divideSigned(step);
    case AccessCode::remainder:
    case AccessCode::remainder_signed:
      return remainder(step);
    case AccessCode::bit_and:
      return bitAnd(step);
    case AccessCode::either:
      return either(step);
    case AccessCode::between:
      if (!a(step).isConstant() || !b(step).isConstant()) return Sum::unknown();
      return any(step, {a(step).constant, b(step).constant});
    case AccessCode::zero_extend:
      return extend(step, false);
    case AccessCode::sign_extend:
      return extend(step, true);
    case AccessCode::turns:
      return turns(step, false);
    case AccessCode::turns_signed:
      return turns(step, true);
    default:
      return Sum::unknown();
  }
}

// --- values ---

bool RecordEvaluation::uniform(unsigned d) const {
  return launch_.local_size[d] != 0 && launch_.global_size[d] % launch_.local_size[d] == 0;
}

Sum RecordEvaluation::any(const AccessStep& step, Range range) {
  if (range.low > range.high) return Sum::unknown();
  if (range.low == range.high) return Sum::of(range.low);
  if (step.variable < first_free_access_variable) return Sum::unknown();
  variables_.define(step.variable, range, false);
  return Sum::ofVariable(step.variable);
}

Sum RecordEvaluation::anyOfWidth(const AccessStep& step, bool is_signed) {
  if (step.width > 60) return Sum::unknown();
  const int64_t half = int64_t{1} << (step.width - 1);
  return any(step, is_signed ? Range{-half, half - 1} : nonNegative(half * 2 - 1));
}

// Modulo 2^width there is one sum in the range of the type, if its variables leave it there.
std::optional<RecordEvaluation::Integer> RecordEvaluation::asInteger(const Sum& sum, unsigned width,
                                                                     bool is_signed) const {
  auto range = variables_.rangeOf(sum);
  if (!range) return std::nullopt;
  const auto fits = [&] {
    return is_signed ? range->fitsSigned(width) : range->fitsUnsigned(width);
  };
  if (fits()) return Integer{sum, *range};
  if (width > 60) return std::nullopt;
  const int64_t size = int64_t{1} << width;
  const int64_t away = floorDivide(range->low + (is_signed ? size / 2 : 0), size) * size;
  const Sum nearer = sum + Sum::of(-away);
  range = variables_.rangeOf(nearer);
  if (!range || !fits()) return std::nullopt;
  return Integer{nearer, *range};
}

Sum RecordEvaluation::argument(const AccessStep& step) const {
  const auto bits = argumentBits(values_, step);
  return bits ? Sum::of(*bits) : Sum::unknown();
}

Sum RecordEvaluation::id(AccessCode code, unsigned d) {
  const uint64_t local = launch_.local_size[d], global = launch_.global_size[d];
  uint8_t variable = static_cast<uint8_t>(global_ids + d);
  uint64_t first = box_.begin[d] * local;
  // The last group may be smaller.
  uint64_t count = (box_.end[d] >= launch_.group_count[d] ? global : box_.end[d] * local) - first;
  bool exact = true;
  if (code == AccessCode::global_id) {
    if (launch_.global_offset[d] > UINT64_MAX - first) return Sum::unknown();
    first += launch_.global_offset[d];
  } else {
    const bool is_local = code == AccessCode::local_id;
    variable = static_cast<uint8_t>((is_local ? local_ids : group_ids) + d);
    first = is_local ? 0 : box_.begin[d];
    count = is_local ? std::min(local, global) : box_.end[d] - box_.begin[d];
    exact = uniform(d);
  }
  if (first > INT64_MAX || count - 1 > INT64_MAX - first) return Sum::unknown();
  if (count == 1) return Sum::of(static_cast<int64_t>(first));
  const Range range{static_cast<int64_t>(first), static_cast<int64_t>(first + count - 1)};
  if (!variables_.has(variable)) variables_.define(variable, range, exact);
  return Sum::ofVariable(variable);
}

// Groups at the edge may be smaller.
Sum RecordEvaluation::localSize(const AccessStep& step) {
  const uint64_t size = launch_.local_size[step.a], global = launch_.global_size[step.a];
  if (uniform(step.a)) return Sum::of(static_cast<int64_t>(size));
  if (size == 0) return Sum::unknown();
  return any(step,
             {static_cast<int64_t>(global % size), static_cast<int64_t>(std::min(size, global))});
}

Sum RecordEvaluation::localLinearId(const AccessStep& step) {
  Sum sum = Sum::of(0);
  for (unsigned d = 3; d-- > 0;) {
    if (!uniform(d)) {
      const uint64_t* size = launch_.local_size;
      const auto plane = product(static_cast<int64_t>(size[0]), static_cast<int64_t>(size[1]));
      const auto items = plane ? product(*plane, static_cast<int64_t>(size[2])) : plane;
      return items ? any(step, nonNegative(*items - 1)) : Sum::unknown();
    }
    sum = sum * static_cast<int64_t>(launch_.local_size[d]) + id(AccessCode::local_id, d);
  }
  return sum;
}

Sum RecordEvaluation::multiply(const AccessStep& step) {
  if (a(step).isConstant()) return b(step) * a(step).constant;
  if (b(step).isConstant()) return a(step) * b(step).constant;
  const auto left = variables_.rangeOf(a(step)), right = variables_.rangeOf(b(step));
  const auto both = left && right ? product(*left, *right) : std::nullopt;
  return both ? any(step, *both) : Sum::unknown();
}

Sum RecordEvaluation::divide(const AccessStep& step) {
  const auto left = asInteger(a(step), step.width, false);
  const auto right = asInteger(b(step), step.width, false);
  // Nothing may be divided by 0.
  const bool divisor = right && right->range.high > 0;
  const int64_t least = divisor ? std::max<int64_t>(1, right->range.low) : 1;
  if (!left) {
    const uint64_t most = ~uint64_t{0} >> (64 - step.width);
    const uint64_t quotient = most / static_cast<uint64_t>(least);
    if (quotient > uint64_t{1} << 60) return Sum::unknown();
    return any(step, nonNegative(static_cast<int64_t>(quotient)));
  }
  if (!divisor) return any(step, nonNegative(left->range.high));
  if (right->sum.isConstant() && left->sum.divisibleBy(least)) return left->sum / least;
  return any(step, {left->range.low / right->range.high, left->range.high / least});
}

Sum RecordEvaluation::divideSigned(const AccessStep& step) {
  const auto left = asInteger(a(step), step.width, true);
  const auto right = asInteger(b(step), step.width, true);
  if (!left) return anyOfWidth(step, true);
  if (!right || !right->sum.isConstant() || right->sum.constant <= 0) {
    const int64_t most = std::max(-left->range.low, left->range.high);
    return any(step, {-most, most});
  }
  const int64_t divisor = right->sum.constant;
  if (left->sum.divisibleBy(divisor)) return left->sum / divisor;
  return any(step, {left->range.low / divisor, left->range.high / divisor});
}

Sum RecordEvaluation::shift(const AccessStep& step) {
  const bool is_signed = step.code == AccessCode::shift_right_signed;
  const auto by = asInteger(b(step), step.width, false);
  const bool distance =
      by && by->sum.isConstant() && by->sum.constant < std::min<int64_t>(step.width, 62);
  if (step.code == AccessCode::shift_left)
    return distance ? a(step) * (int64_t{1} << by->sum.constant) : Sum::unknown();
  const auto value = asInteger(a(step), step.width, is_signed);
  if (!distance || !value) return anyOfWidth(step, is_signed);
  const int64_t divisor = int64_t{1} << by->sum.constant;
  if (value->sum.divisibleBy(divisor)) return value->sum / divisor;
  return any(step,
             {floorDivide(value->range.low, divisor), floorDivide(value->range.high, divisor)});
}

Sum RecordEvaluation::remainder(const AccessStep& step) {
  const bool is_signed = step.code == AccessCode::remainder_signed;
  const auto left = asInteger(a(step), step.width, is_signed);
  const auto right = asInteger(b(step), step.width, is_signed);
  if (!right || right->range.high <= 0 || right->range.low < 0) return anyOfWidth(step, is_signed);
  const int64_t most = right->range.high - 1;
  if (!left) return any(step, {is_signed ? -most : 0, most});
  const Range& range = left->range;
  if (range.low >= 0 && range.high < right->range.low) return left->sum;
  if (range.low >= 0 && right->sum.isConstant()) {
    const int64_t away = range.low - range.low % right->range.low;
    if (range.high - away < right->range.low) return left->sum - Sum::of(away);
  }
  return any(step, {range.low >= 0 ? 0 : std::max(-most, range.low),
                    std::max<int64_t>(0, std::min(range.high, most))});
}

Sum RecordEvaluation::bitAnd(const AccessStep& step) {
  auto value = asInteger(a(step), step.width, false), mask = asInteger(b(step), step.width, false);
  if (!mask || (value && value->sum.isConstant())) std::swap(value, mask);
  if (!mask) return anyOfWidth(step, false);
  const int64_t most = mask->range.high;
  if (!value) return any(step, nonNegative(most));
  // Of a mask of low bits only: a remainder.
  if (mask->sum.isConstant() && (most & (most + 1)) == 0) {
    const int64_t away = value->range.low & ~most;
    if (value->range.high - away <= most) return value->sum - Sum::of(away);
  }
  return any(step, nonNegative(std::min(most, value->range.high)));
}

Sum RecordEvaluation::smaller(const AccessStep& step, bool is_signed, bool maximum) {
  const auto x = asInteger(a(step), step.width, is_signed);
  const auto y = asInteger(b(step), step.width, is_signed);
  if (!x || !y) {
    // The smaller of two is no larger than the one that is known.
    if (!is_signed && !maximum && x) return any(step, nonNegative(x->range.high));
    if (!is_signed && !maximum && y) return any(step, nonNegative(y->range.high));
    return anyOfWidth(step, is_signed);
  }
  if (const auto difference = variables_.rangeOf(x->sum - y->sum)) {
    if (difference->high <= 0) return maximum ? y->sum : x->sum;
    if (difference->low >= 0) return maximum ? x->sum : y->sum;
  }
  const Range &first = x->range, &second = y->range;
  if (maximum)
    return any(step, {std::max(first.low, second.low), std::max(first.high, second.high)});
  return any(step, {std::min(first.low, second.low), std::min(first.high, second.high)});
}

Sum RecordEvaluation::either(const AccessStep& step) {
  const Sum &x = a(step), &y = b(step);
  if (x.sameTerms(y) && x.constant == y.constant) return x;
  const auto first = variables_.rangeOf(x), second = variables_.rangeOf(y);
  if (!first || !second) return Sum::unknown();
  return any(step, {std::min(first->low, second->low), std::max(first->high, second->high)});
}

Sum RecordEvaluation::extend(const AccessStep& step, bool is_signed) {
  const auto value = asInteger(a(step), step.width, is_signed);
  return value ? value->sum : anyOfWidth(step, is_signed);
}

Sum RecordEvaluation::turns(const AccessStep& step, bool is_signed) {
  const auto first = asInteger(a(step), step.width, is_signed);
  const auto stride = asInteger(b(step), step.width, is_signed);
  const auto last = asInteger(results_[static_cast<size_t>(step.value)], step.width, is_signed);
  if (!first || !stride || !last || stride->range.low <= 0) return Sum::unknown();
  // A counter that wraps would go on.
  const Range beyond{0, last->range.high + stride->range.high};
  const bool wraps = is_signed ? !beyond.fitsSigned(step.width) : !beyond.fitsUnsigned(step.width);
  const auto distance = variables_.rangeOf(last->sum - first->sum);
  if (wraps || !distance) return Sum::unknown();
  const auto count = [](int64_t way, int64_t by) { return way < 0 ? 0 : way / by + 1; };
  return any(step,
             {count(distance->low, stride->range.high), count(distance->high, stride->range.low)});
}

// --- statements ---

void RecordEvaluation::use(const Sum& sum) {
  for (unsigned i = 0; i < sum.count; ++i) used_ |= uint64_t{1} << sum.terms[i].variable;
}

bool RecordEvaluation::iterations(const AccessStep& step) {
  const auto count = asInteger(a(step), step.width, false);
  const auto happens = static_cast<AccessIterations>(step.b);
  const bool exact = count && (happens == AccessIterations::guarded ||
                               (happens == AccessIterations::all && count->sum.isConstant()));
  int64_t last = int64_t{1} << 60;  // of a loop of which nothing is known
  if (count)
    last = count->range.high + step.value - 1;
  else if (step.width < 60)
    last = (int64_t{1} << step.width) + step.value - 2;
  if (last < 0) return false;
  // Some work-items may not get there at all, even where the loop's variable is not used.
  if (!exact) exact_ = false;
  variables_.define(step.variable, nonNegative(last), exact);
  return true;
}

bool RecordEvaluation::guard(const AccessStep& step) {
  const bool exact = exact_;
  const uint64_t used = used_;
  const unsigned bounds = bounds_count_;
  if (!compare(step, static_cast<AccessComparison>(step.value))) return false;
  // What follows from the iterations that are counted leaves out none of them.
  if (step.variable != 0) {
    exact_ = exact;
    used_ = used;
    bounds_count_ = bounds;
  }
  return true;
}

bool RecordEvaluation::compare(const AccessStep& step, AccessComparison comparison) {
  const auto signed_a = asInteger(a(step), step.width, true);
  const auto signed_b = asInteger(b(step), step.width, true);
  const auto unsigned_a = asInteger(a(step), step.width, false);
  const auto unsigned_b = asInteger(b(step), step.width, false);
  const int64_t strict =
      comparison == AccessComparison::less || comparison == AccessComparison::less_signed;
  std::optional<Sum> signed_difference, unsigned_difference;
  if (signed_a && signed_b) signed_difference = signed_a->sum - signed_b->sum;
  if (unsigned_a && unsigned_b) unsigned_difference = unsigned_a->sum - unsigned_b->sum;
  const auto& either = signed_difference ? signed_difference : unsigned_difference;
  switch (comparison) {
    case AccessComparison::less:
    case AccessComparison::less_equal:
      if (unsigned_difference) return atMostZero(*unsigned_difference + Sum::of(strict));
      return lessUnsigned(step, strict);
    case AccessComparison::less_signed:
    case AccessComparison::less_equal_signed:
      if (signed_difference) return atMostZero(*signed_difference + Sum::of(strict));
      break;
    case AccessComparison::equal:
      if (either) return atMostZero(*either) && atMostZero(*either * -1);
      break;
    case AccessComparison::not_equal:
      if (either) return notEqual(*either);
      break;
  }
  exact_ = false;
  return true;
}

// One comparison for two bounds: below 0 means above all that is positive.
bool RecordEvaluation::lessUnsigned(const AccessStep& step, int64_t strict) {
  const auto x = asInteger(a(step), step.width, true);
  const auto y = asInteger(b(step), step.width, true);
  if (!x || !y || y->range.low < 0) {
    exact_ = false;
    return true;
  }
  return atMostZero(x->sum * -1) && atMostZero(x->sum - y->sum + Sum::of(strict));
}

bool RecordEvaluation::notEqual(const Sum& difference) {
  if (difference.isConstant()) return difference.constant != 0;
  const auto range = variables_.rangeOf(difference);
  if (range && (range->low > 0 || range->high < 0)) return true;
  if (range && difference.count == 1) {
    const Term& term = difference.terms[0];
    Range& values = variables_[term.variable].range;
    if (difference.constant % term.factor != 0) return true;
    const int64_t zero = -difference.constant / term.factor;
    use(difference);
    if (zero == values.low) {
      ++values.low;
      return values.low <= values.high;
    }
    if (zero == values.high) {
      --values.high;
      return values.low <= values.high;
    }
  }
  exact_ = false;
  return true;
}

bool RecordEvaluation::atMostZero(const Sum& sum) {
  const auto range = variables_.rangeOf(sum);
  if (!range) {
    exact_ = false;
    return true;
  }
  if (range->high <= 0) return true;
  if (range->low > 0) return false;
  use(sum);
  if (sum.count > 1) remember(sum);
  for (unsigned i = 0; i < sum.count; ++i) {
    const Term& term = sum.terms[i];
    const Range& values = variables_[term.variable].range;
    const int64_t least = term.factor * (term.factor > 0 ? values.low : values.high);
    // What the other terms leave for this one.
    if (!narrow(term, least - range->low)) return false;
  }
  return true;
}

// To where the term is at most `bound`.
bool RecordEvaluation::narrow(const Term& term, int64_t bound) {
  Range& values = variables_[term.variable].range;
  if (term.factor > 0)
    values.high = std::min(values.high, floorDivide(bound, term.factor));
  else
    values.low = std::max(values.low, -floorDivide(bound, -term.factor));
  return values.low <= values.high;
}

}  // namespace weft::access
