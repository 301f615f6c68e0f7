// Cuts a kernel body at its barriers. Region 0 starts at the kernel's entry, region k at the
// continuation of barrier k-1; each ends at the next barriers or where the kernel returns.
#pragma once

#include <optional>
#include <vector>

#include "compiler/passes/context_layout.h"
#include "compiler/passes/kernel_body.h"
#include "compiler/passes/liveness.h"

namespace weft::compiler {

// To an id may be added that much, up or down, before it is narrowed to 32 bits.
inline constexpr int64_t most_narrowed_offset = 1 << 20;

// A region for the lanes of so many rows of dimension 1 at once, in vectors of one or more widths,
// the widest first.
struct VectorRows {
  struct Form {
    llvm::Function* function;
    unsigned width;
    // Of the parameters: may these lanes run so? They are inside of the kernel's bounds, which are
    // not tested. Null: always; the tail does the others.
    llvm::Function* suits = nullptr;
  };
  unsigned rows = 1;
  llvm::SmallVector<Form, 2> forms;
  llvm::Function* agreement = nullptr;  // of the parameters: may these rows run so? null: always
};

// A region for several lanes at once. The parameters are the region's, for the first lane; the
// tail's last one is an i64, how many lanes run. Where lanes may have different outcomes, all
// return a vector of them, and rows run one by one.
struct VectorRegion {
  llvm::SmallVector<VectorRows, 2> rows;  // most first; the last one is of one row
  llvm::Function* tail = nullptr;         // for lanes of one row
  // Of the parameters: has this row anything to do, or as many of its lanes as the tail has room
  // for? Null: yes.
  llvm::Function *wanted = nullptr, *tail_wanted = nullptr;
  unsigned least_lanes = 1;        // in a row, for which vectors are worth it
  bool always = false;             // lanes hand each other values: none can run alone
  bool shares_rows = false;        // shorter rows are LLVM's vectoriser's
  bool narrows_global_id = false;  // not for lanes on both sides of a multiple of 2^31 (an
                                   // odd one: or near it)
  bool narrows_product = false;    // not in launches of that many work-items in a row
};

// One region as a function of a lane: the body's parameters, then the value of each group slot,
// then a pointer to where its new value goes. Returns the region at which the lane goes on, or
// SplitKernel::done().
struct Region {
  llvm::Function* function = nullptr;
  llvm::SmallVector<unsigned> outcomes;  // sorted
  bool after_meeting = false;            // of a sub-group (sub_groups.h)
  bool uniform_outcome = false;          // all lanes that run it agree
  bool for_all_lanes = false;            // what one lane does is all there is to do
  llvm::MDNode* access_group = nullptr;  // of the accesses that lanes may do in any order
  std::optional<VectorRegion> vector;
  bool stays_scalar = false;  // without vectors of any kind
  bool loses_order = false;   // as LLVM's vectors (lane_order.h)
  uint8_t other_forms = 0;    // see KernelInfo

  bool goesToLoopVectoriser() const {
    return !stays_scalar && !loses_order && (!vector || vector->shares_rows);
  }
};

struct SplitKernel {
  std::vector<Region> regions;
  std::vector<llvm::Type*> group_slots;  // values that are the same for all lanes
  ContextLayout layout;
  unsigned state_slot = 0;  // an i32 per lane: where it goes on; only with divergent outcomes
  bool keeps_state = false;
  bool has_meetings = false;      // of sub-groups
  bool shares_variables = false;  // lanes use one private array, one after the other

  unsigned done() const { return static_cast<unsigned>(regions.size()); }
  unsigned apart() const { return done() + 1; }  // lanes go on at different regions
};

// Consumes the code of `body`.
SplitKernel splitAtBarriers(KernelBody& body);

}  // namespace weft::compiler
