// Work-item queries of which a program takes the lower half.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// `int i = get_global_id(0)` asks for 32 bits by the query's narrow form (narrow_query), which is
// computed in them. Before anything is simplified: LLVM makes shifts of 64 bits of indices that it
// sees to be halves of something, and forgets that they do not overflow.
void narrowQueries(llvm::Module& module);

// The other way round, for who knows the wide forms only.
void widenQueries(llvm::Module& module);

}  // namespace weft::compiler
