// Kernels of which the work-items of dimension 1, not 0, lie side by side in memory.
#pragma once

#include <optional>

#include "compiler/passes/kernel_body.h"

namespace weft::compiler {

// Groups run turned that are as long in dimension 1 as in dimension 0, or as this.
inline constexpr uint64_t long_row = 16;

// A copy of `body` that takes dimension 1 of the launch for its dimension 0 and the reverse, so
// that the lanes of a vector are work-items of dimension 1. Nothing if that does not pay, by the
// distances between what neighbours in either dimension access, or where the order of work-items
// within a group is told: they ask for their linear id, or use functions of work-groups or
// sub-groups. `always`: whether or not it pays.
std::optional<KernelBody> turnedBody(const KernelBody& body, bool always);

}  // namespace weft::compiler
