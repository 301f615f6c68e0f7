// One access record and one launch: the footprint.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "core/access_footprint.h"
#include "core/access_sums.h"

namespace weft::access {

// Where the three ids have their variables.
inline constexpr uint8_t global_ids = 0, local_ids = 3, group_ids = 6;
static_assert(first_free_access_variable == 9);

enum class Outcome : uint8_t {
  nothing,  // no work-item gets there
  unknown,  // any of the object's bytes
  known,
};

// The bits of an AccessCode::argument step, with their sign; none where the argument has not as
// many bytes.
std::optional<int64_t> argumentBits(std::span<const ArgumentValue> values, const AccessStep& step);

class RecordEvaluation {
 public:
  // Of the work-groups in `box`, which has at least one.
  RecordEvaluation(const AccessRecord& record, const port::LaunchRecord& launch,
                   const port::GroupBox& box, std::span<const ArgumentValue> values)
      : record_(record), launch_(launch), box_(box), values_(values), exact_(record.complete) {}

  // Fills all but `reads` and `writes`. To be called once.
  Outcome run(Footprint& footprint);

 private:
  // A sum of several variables that guards keep within bounds.
  struct Bounds {
    Sum sum;  // without constant; the first factor is positive and the factors have no divisor
    Range range;
  };

  // A sum as the integers of some width, with its range.
  struct Integer {
    Sum sum;
    Range range;
  };

  bool execute(const AccessStep& step, Sum& result);  // false: nothing gets beyond this step
  Sum evaluate(const AccessStep& step);
  Sum operation(const AccessStep& step);
  Sum argument(const AccessStep& step) const;
  Sum id(AccessCode code, unsigned dimension);
  Sum localSize(const AccessStep& step);
  Sum localLinearId(const AccessStep& step);
  Sum multiply(const AccessStep& step);
  Sum divide(const AccessStep& step);
  Sum divideSigned(const AccessStep& step);
  Sum shift(const AccessStep& step);
  Sum remainder(const AccessStep& step);
  Sum bitAnd(const AccessStep& step);
  Sum smaller(const AccessStep& step, bool is_signed, bool maximum);
  Sum either(const AccessStep& step);
  Sum extend(const AccessStep& step, bool is_signed);
  Sum turns(const AccessStep& step, bool is_signed);

  bool iterations(const AccessStep& step);
  bool guard(const AccessStep& step);
  bool lessUnsigned(const AccessStep& step, int64_t strict);
  bool notEqual(const Sum& difference);
  bool compare(const AccessStep& step, AccessComparison comparison);
  // The guards' common form. False when no work-item fulfils it.
  bool atMostZero(const Sum& sum);
  bool narrow(const Term& term, int64_t bound);
  void remember(const Sum& sum);

  bool substitute(Sum& offset);
  bool everyValueOf(const Sum& sum) const;
  bool independent() const;

  bool uniform(unsigned dimension) const;
  // nullopt: the sum may be another integer than the one that it stands for.
  std::optional<Integer> asInteger(const Sum& sum, unsigned width, bool is_signed) const;
  // Something in the range, and nothing else is known of it.
  Sum any(const AccessStep& step, Range range);
  Sum anyOfWidth(const AccessStep& step, bool is_signed);
  void use(const Sum& sum);
  const Sum& a(const AccessStep& step) const { return results_[step.a]; }
  const Sum& b(const AccessStep& step) const { return results_[step.b]; }

  const AccessRecord& record_;
  const port::LaunchRecord& launch_;
  const port::GroupBox& box_;
  std::span<const ArgumentValue> values_;
  bool exact_;
  uint64_t used_ = 0;  // variables that the offset and the guards depend on
  Variables variables_;
  unsigned bounds_count_ = 0;
  std::array<Bounds, 3> bounds_;
  std::array<Sum, max_access_steps> results_;
};

}  // namespace weft::access
