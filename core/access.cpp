#include "core/access.h"

#include <algorithm>

#include "core/image.h"
#include "core/ports/launch.h"

namespace weft {
namespace {

// What a code's fields mean; all else about it is the evaluation's.
enum class Operands : uint8_t { none, argument, dimension, two, one, turns, statement, comparison };

struct CodeRow {
  Operands operands;
  bool variable;  // has to have one
};

constexpr CodeRow rows[] = {
    {Operands::none, false},       // constant
    {Operands::argument, false},   // argument
    {Operands::dimension, false},  // global_id
    {Operands::dimension, false},  // local_id
    {Operands::dimension, false},  // group_id
    {Operands::dimension, false},  // global_size
    {Operands::dimension, false},  // global_offset
    {Operands::dimension, true},   // local_size
    {Operands::dimension, false},  // enqueued_local_size
    {Operands::dimension, false},  // group_count
    {Operands::none, false},       // work_dim
    {Operands::none, true},        // local_linear_id
    {Operands::two, false},        // add
    {Operands::two, true},         // multiply
    {Operands::two, false},        // shift_left
    {Operands::two, true},         // shift_right
    {Operands::two, true},         // shift_right_signed
    {Operands::two, true},         // minimum
    {Operands::two, true},         // maximum
    {Operands::two, true},         // minimum_signed
    {Operands::two, true},         // maximum_signed
    {Operands::two, true},         // divide
    {Operands::two, true},         // divide_signed
    {Operands::two, true},         // remainder
    {Operands::two, true},         // remainder_signed
    {Operands::two, true},         // bit_and
    {Operands::two, true},         // either
    {Operands::two, true},         // between
    {Operands::one, true},         // zero_extend
    {Operands::one, true},         // sign_extend
    {Operands::turns, true},       // turns
    {Operands::turns, true},       // turns_signed
    {Operands::statement, true},   // iterations
    {Operands::comparison, false}  // guard
};

bool isValue(const AccessStep& step) {
  return step.code != AccessCode::iterations && step.code != AccessCode::guard;
}

bool stepIsValid(const AccessRecord& record, size_t index,
                 const std::vector<ArgumentInfo>& arguments) {
  const AccessStep& step = record.steps[index];
  if (static_cast<size_t>(step.code) >= std::size(rows)) return false;
  const CodeRow& row = rows[static_cast<size_t>(step.code)];
  if (step.width < 1 || step.width > 64 || step.variable >= access_variables) return false;
  if (row.variable && step.variable < first_free_access_variable) return false;
  const auto earlier = [&](uint64_t other) {
    return other < index && isValue(record.steps[other]);
  };
  switch (row.operands) {
    case Operands::none:
      return true;
    case Operands::argument:
      return step.a < arguments.size() && knowsBytes(arguments[step.a], step);
    case Operands::dimension:
      return step.a < 3;
    case Operands::two:
      return earlier(step.a) && earlier(step.b);
    case Operands::one:
      return earlier(step.a);
    case Operands::turns:
      return earlier(step.a) && earlier(step.b) && earlier(static_cast<uint64_t>(step.value));
    case Operands::statement:
      return earlier(step.a) && step.value >= 0 && step.value <= 1 &&
             step.b <= static_cast<uint16_t>(AccessIterations::guarded);
    case Operands::comparison:
      return earlier(step.a) && earlier(step.b) && step.value >= 0 &&
             step.value <= static_cast<int64_t>(AccessComparison::not_equal);
  }
  return false;
}

}  // namespace

bool knowsBytes(const ArgumentInfo& argument, const AccessStep& step) {
  const bool image = argument.kind == ArgumentKind::image;
  if (!image && argument.kind != ArgumentKind::value) return false;
  const int64_t begin = image ? offsetof(port::ImageDescriptor, row_pitch) : 0;
  const int64_t end = image ? sizeof(port::ImageDescriptor) : argument.size;
  return step.width % 8 == 0 && step.value >= begin && step.value <= end &&
         step.width / 8 <= end - step.value;
}

bool isValid(const AccessRecord& record, const std::vector<ArgumentInfo>& arguments) {
  if (record.steps.size() > max_access_steps || record.offset >= record.steps.size() ||
      !isValue(record.steps[record.offset]))
    return false;
  for (size_t i = 0; i < record.steps.size(); ++i)
    if (!stepIsValid(record, i, arguments)) return false;
  return true;
}

}  // namespace weft
