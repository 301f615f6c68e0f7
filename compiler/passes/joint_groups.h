// Two work-groups that are neighbours in dimension 0 as one: the code of a work-item becomes that
// of the two which have its local id.
//
// What does not depend on the group is done once, so that a value that both need is loaded once,
// and the vectors of both wait less for each other. A local variable of which both groups are seen
// to make the same (a tile of rows that both read) is one for both; of others, each has its own.
#pragma once

#include <optional>

#include "compiler/passes/kernel_body.h"

namespace weft::compiler {

inline constexpr unsigned joint_groups = 2;

// Nothing if that does not pay, or if the two groups may not take the same way through the code,
// or tell others where they are (atomics, calls that access memory). `always`: whether or not it
// pays.
std::optional<KernelBody> jointBody(const KernelBody& body, bool always);

}  // namespace weft::compiler
