// Work-item queries and barriers: their names, and the hidden parameters that answer them.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler {

// Hidden parameters that follow a kernel's own, by position. Each of a group of three is one per
// dimension. All are i64 but work_dim (i32) and the pointers.
namespace env {
enum Parameter : unsigned {
  work_dim = 0,
  global_offset = 1,
  global_size = 4,
  enqueued_local_size = 7,
  group_count = 10,
  group_id = 13,
  global_base = 16,  // global id of the group's first work-item
  local_size = 19,   // of this group: smaller at the edges
  local_id = 22,
  lane = 25,           // local linear id
  lane_capacity = 26,  // lanes of a full group, rounded up to 64
  local_memory = 27,
  context = 28,
  services = 29,  // const port::HostServices*
  local_bytes = 30,
  context_bytes = 31,
  frame = 32,  // the kernel's stack ends here
  // Of the group that runs with this one (joint_groups.h), if any does.
  next_base = 33,  // its global_base in dimension 0; else this one's
  next_local_memory = 34,
  count = 35
};
}  // namespace env

// Declared by builtins that call back into the host; answered with the launch's services.
inline constexpr llvm::StringLiteral services_query = "__weft_host_services";

// Declared by builtins that leave requests for the host; GPUs answer with port::GpuLaunch::journal.
inline constexpr llvm::StringLiteral journal_query = "__weft_journal";
inline constexpr llvm::StringLiteral journal_writer_query = "__weft_journal_writer";

// i1: do the work-items of a sub-group run at the same time?
inline constexpr llvm::StringLiteral side_by_side_query = "__weft_side_by_side";

// Before the name of a query: it answers with the lower half of what the query does, as i32.
inline constexpr llvm::StringLiteral narrow_query = "__weft_narrow";

// Queries about a pointer (generic_addresses.h) count, too.
bool isWorkItemQuery(const llvm::Function& function);
// Such a query whose answer depends on the work-item alone: it may be asked anywhere.
bool asksAboutWorkItem(const llvm::Function& function);
// Meetings of a sub-group's lanes, too.
bool isBarrier(const llvm::Function& function);
bool isBarrierCall(const llvm::Instruction& instruction);
bool isMeeting(const llvm::CallInst& barrier);
// Says something about other code, and neither does nor returns anything itself.
bool isNote(const llvm::Instruction& instruction);
// Does the barrier also order memory beyond the work-group?
bool needsFence(const llvm::CallInst& barrier);

// The types of the hidden parameters, env::count of them.
llvm::SmallVector<llvm::Type*, env::count> environmentTypes(llvm::LLVMContext& context);

// Replaces the queries of `function`, whose parameters from `first` on are the environment.
void lowerWorkItemQueries(llvm::Function& function, unsigned first);

}  // namespace weft::compiler
