// Sub-groups (OpenCL C 6.15.19): `width` lanes that follow each other in a group's linear order.
// Their functions (builtins/cl/sub_group.def) let lanes meet: a meeting is a barrier among those
// lanes of one sub-group that come to it.
//
// As long as all lanes of a group stand at one point, its region runs for all of them, whatever
// kind of point it is. Where they part, each sub-group goes on with those of its lanes that stand
// at the first meeting, in the program's order: so lanes which left a loop or skipped a branch wait
// for the others where their ways join again. Lanes at a barrier go on when no lane of the group is
// left at a meeting.
//
// Where each sub-group is a row's vector of lanes nothing of this is needed: the same functions are
// then the library's own for devices that run lanes at the same time (own_sub_group.cl), of which
// what is left to the vectoriser are exchanges of the lanes of one vector (simd/exchanges.h).
#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/passes/liveness.h"

namespace weft::compiler {

struct KernelBody;
struct SplitKernel;
class ContextLayout;
class RegionCaller;

// What a kernel needs of the context for them: the first slots there.
struct SubGroupUse {
  uint32_t width = 0;
  uint64_t slot_bytes = 0;    // of a lane's slot, through which it hands values to others; or 0
  bool knows_active = false;  // each lane keeps which lanes came to the last meeting
  bool are_vectors = false;   // each is a vector
};

// Are there functions of sub-groups of which there is a form for vectors?
bool usesSubGroups(const llvm::Function& kernel);

bool isSubGroupQuery(const llvm::Function& function);

// Replaces the queries of `function`, whose parameters from `first` on are the environment, and
// chooses the functions' form.
SubGroupUse lowerSubGroupQueries(llvm::Function& function, unsigned first, uint32_t width,
                                 bool are_vectors);
// Answers of `function`, in which lanes hand nothing to each other, where a lane is in its
// sub-group, so that it may run in any form.
void lowerPlaces(llvm::Function& function, unsigned first, uint32_t width);
// To be called before any other slot is added.
void reserveSubGroupSlots(const SubGroupUse& use, ContextLayout& layout);

// Lets the lanes of a sub-group that go on in a loop meet between its turns, where some may have
// come to other meetings in the last one: those that pass them by would be at the next turn's,
// which come first in the program.
void keepTurnsTogether(llvm::Function& body);

// Loops come before what follows them, and else each block before its successors.
void sortByProgramOrder(llvm::Function& body, std::vector<Barrier>& barriers);

// Makes `active` all lanes of each sub-group.
void emitAllActive(llvm::IRBuilder<>& builder, const SubGroupUse& use, RegionCaller& caller);

// Says of lanes that have parted which of them go on.
class LaneChoice {
 public:
  // Set in the states of those that do.
  static constexpr uint32_t goes_on = uint32_t{1} << 31;

  // At the start of the function.
  LaneChoice(llvm::IRBuilder<>& builder, const KernelBody& body, const SplitKernel& split);
  void emit(llvm::IRBuilder<>& builder, RegionCaller& caller);

 private:
  void emitSubGroup(llvm::IRBuilder<>& builder, RegionCaller& caller, llvm::Value* first,
                    llvm::Value* members);
  void mark(llvm::IRBuilder<>& builder, RegionCaller& caller, llvm::Value* first,
            llvm::Value* members);

  const KernelBody& body_;
  const SplitKernel& split_;
  llvm::GlobalVariable* is_meeting_;  // by state
  llvm::AllocaInst *least_, *active_, *any_;
};

}  // namespace weft::compiler
