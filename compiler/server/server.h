// The compiler's process: forks a child for each job, bounds its time and memory, and says on the
// job's socket what became of a child that died.
#pragma once

namespace weft::compiler {

// See weft_compiler_serve.
int serve();

}  // namespace weft::compiler
