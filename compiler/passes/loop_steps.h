// What grows from turn to turn in loops with barriers.
#pragma once

namespace weft::compiler {

struct KernelBody;

// An address or a number that each lane begins with its own and that grows by as much for all
// lanes, as of `A += 4 * pitch`, becomes what it began with and a sum that is the same for all: the
// first can be computed anew behind a barrier, where it is seen to be linear in the lane, and the
// second is kept once for the group.
void separateUniformSums(KernelBody& body);

}  // namespace weft::compiler
