// The OpenCL C builtin library of CPU targets. In this order on a module from the front end:
// linkBuiltins, lowerPrintf, lowerDeviceQueueCalls, addVectorVariants, unresolvedFunctions; then
// the lowering to lanes, optimisation, linkLateMath.
#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace weft::compiler {

// Math functions that stay calls, of declarations that passes treat like SLEEF's, until
// linkLateMath links them; or are linked at once.
enum class LateMath { left, linked };

// The functions of work-groups and sub-groups are the lowering's to lanes, or the library's own
// (cl/own_work_group.cl, cl/own_sub_group.cl): for targets whose work-items run at the same time.
// Or those of sub-groups are either, as the lowering answers side_by_side_query (work_items.h).
enum class GroupFunctions { lowered, own, either };

// Makes pow(x, n), where n is a small whole number that stands there, or 0.5 or -0.5, products and
// roots: of those the program calls, before the library is linked.
void expandPowers(llvm::Module& module);

// Links into `module` the definitions of every OpenCL builtin that it references, transitively, and
// nothing else, with internal linkage and the C calling convention (their calls are converted too).
// Work-item queries and barriers stay undefined: the lowering to lanes replaces them. Events become
// plain pointers, images pointers to their descriptors, samplers numbers. Keeps the module's triple
// and data layout.
llvm::Error linkBuiltins(llvm::Module& module, LateMath late = LateMath::left,
                         GroupFunctions groups = GroupFunctions::lowered);

// Gives the math functions their SLEEF symbols: the ones that suit the target's instructions for
// scalars and for the program's own vectors, and vector variants that the loop vectoriser may use.
// Where the target has fused multiply-add, some get the library's own code instead, linked here.
// Scalar and vector forms of one target return the same bits. Must follow linkBuiltins: without it
// math symbols stay undefined.
llvm::Error addVectorVariants(llvm::Module& module, const llvm::TargetMachine& machine);

// The sine and the cosine of one number become functions that share what they compute, once both
// are inlined. Before lanes become vectors, so that all forms of a lane do the same.
void pairSinesAndCosines(llvm::Module& module, const llvm::TargetMachine& machine);

// Links the library's own math functions that were calls until then, of scalars and vectors: of
// declarations that passes treat like SLEEF's. Short ones are to be inlined. True if there are any.
llvm::Expected<bool> linkLateMath(llvm::Module& module, const llvm::TargetMachine& machine);

// Rewrites printf calls: packs the arguments (core/printf.h) and calls HostServices::print
// (core/ports/launch.h). True if there were any.
bool lowerPrintf(llvm::Module& module);

// What the builtin library's functions about device queues call to ask the host.
inline constexpr llvm::StringLiteral device_queue_call = "__weft_device_queue";
// On devices whose work-items run at the same time, which cannot ask (cl/own_device_queue.cl).
inline constexpr llvm::StringLiteral own_device_queue_call = "__weft_own_device_queue";

// Waits at a named barrier (cl/named_barrier.def), whose place in local memory begins with this.
inline constexpr llvm::StringLiteral named_barrier_call = "__weft_named_barrier";
inline constexpr llvm::StringLiteral named_barrier_variable = "weft.named_barrier";

// Was the program compiled with -g? Then enqueue_kernel() names what failed.
bool isDebugged(const llvm::Module& module);
void chooseErrors(llvm::Module& module, bool named);

// Makes the former calls of HostServices::device_queue, and chooses errors.
void lowerDeviceQueueCalls(llvm::Module& module);

// Rewrites printf calls for devices that cannot call the host: each adds a record to the launch's
// print buffer (core/printf.h). To be followed by linkBuiltins.
void lowerPrintfToRecords(llvm::Module& module);

// As OpenCL C writes them ("foo(float4)"), the functions that are called but neither defined, nor
// lowered later, nor symbols of the math library. Sorted.
std::vector<std::string> unresolvedFunctions(const llvm::Module& module);

// The same, of a module that is lowered already: whatever is called but not defined.
std::vector<std::string> undefinedFunctions(const llvm::Module& module);

// Of which math functions the library's own code (cl/own_*.cl) is taken: of all that it has, for
// targets without SLEEF, or of those for which it is faster.
enum class OwnMath : uint8_t { all, faster };

// Is there anything faster on a CPU? It needs fused multiply-add.
bool hasFasterMath(const llvm::TargetMachine& machine);

// Defines the math functions by it, all that there are. Must follow linkBuiltins. What the library
// does not have stays undefined.
llvm::Error defineOwnMath(llvm::Module& module);

// Before linkBuiltins, with the same choice: functions of which the library has a form that needs
// no double, or less of what completes SLEEF's.
void useOwnMath(llvm::Module& module, OwnMath which = OwnMath::all);

}  // namespace weft::compiler
