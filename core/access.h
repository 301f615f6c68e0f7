// Which bytes behind a kernel's pointer argument a launch touches. The compiler describes every
// access (compiler/passes/access_analysis.h) as a list of steps over work-item ids, sizes and
// by-value arguments; evaluated with a launch's geometry and arguments it gives ranges of bytes.
//
// The value of a step is a sum: a constant, and factors times variables, each of which takes every
// value of a range on its own. A step of `width` bits stands for the integer that the kernel
// computes in that many bits; the sum is congruent to it modulo 2^width. Only where a value is made
// wider, compared or divided does it have to be that integer, and there the sum's range has to fit
// the type, or all that is known is the type's range. So arithmetic that wraps costs precision and
// never soundness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

struct ArgumentInfo;

enum class AccessCode : uint8_t {
  constant,  // `value`
  argument,  // the `width` bits at byte `value` of by-value argument `a`, or of its descriptor
  // Of dimension `a`:
  global_id,
  local_id,
  group_id,
  global_size,
  global_offset,
  local_size,
  enqueued_local_size,
  group_count,

  work_dim,
  local_linear_id,
  // Of steps `a` and `b`:
  add,
  multiply,
  shift_left,
  shift_right,         // with zeros
  shift_right_signed,  // with the sign
  minimum,             // unsigned
  maximum,
  minimum_signed,
  maximum_signed,
  divide,  // unsigned
  divide_signed,
  remainder,  // unsigned
  remainder_signed,
  bit_and,
  either,   // one of the two
  between,  // anything from one to the other

  zero_extend,  // step `a` of `width` bits
  sign_extend,
  // How often a counter that begins as step `a` and grows by step `b` each time is found to be at
  // most what step `value` is, before it is more for the first time; a number.
  turns,  // unsigned
  turns_signed,
  // Statements, without a value of their own:
  iterations,  // `variable` counts from 0 to less than step `a`, unsigned, plus `value`; `b`: an
               // AccessIterations
  // The access happens only where steps `a` and `b` compare as `value`, an AccessComparison, says.
  // With a variable: that follows from the iterations, where they are exact.
  guard,
};

enum class AccessComparison : uint8_t {
  less,  // unsigned
  less_equal,
  less_signed,
  less_equal_signed,
  equal,
  not_equal,
};

// Does the access happen in every one of the iterations?
enum class AccessIterations : uint16_t {
  perhaps,
  all,      // if their number is the same for all work-items
  guarded,  // in those that the guards behind this statement let through
};

// Variables: the work-item's ids, then one for each loop and for each step that is no sum.
inline constexpr unsigned access_variables = 64, first_free_access_variable = 9;
inline constexpr unsigned max_access_steps = 96;

struct AccessStep {
  AccessCode code = AccessCode::constant;
  uint8_t width = 64;
  uint8_t variable = 0;  // what stands for the value where it is no sum
  uint16_t a = 0;        // earlier steps, unless said otherwise
  uint16_t b = 0;
  int64_t value = 0;

  bool operator==(const AccessStep&) const = default;
};

// The bytes [offset, offset + bytes) from where the argument points, in every work-item and
// iteration that the steps let through.
struct AccessRecord {
  bool reads = false;
  bool writes = false;
  bool complete = false;  // of a write: it happens wherever the steps let it, not only there
  uint16_t offset = 0;    // a step, of 64 bits
  uint32_t bytes = 0;
  std::vector<AccessStep> steps;

  bool operator==(const AccessRecord&) const = default;
};

// Are the bytes of an AccessCode::argument step known at launch? Not an image's address.
bool knowsBytes(const ArgumentInfo& argument, const AccessStep& step);

// May this be evaluated for a kernel with these arguments?
bool isValid(const AccessRecord& record, const std::vector<ArgumentInfo>& arguments);

}  // namespace weft
