#include "compiler/gpu/work_items.h"

#include <array>
#include <cstddef>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/gpu/sub_groups.h"
#include "compiler/passes/work_items.h"
#include "core/ports/launch.h"

namespace weft::compiler {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;
namespace Intrinsic = llvm::Intrinsic;

constexpr Intrinsic::ID local_ids[] = {Intrinsic::nvvm_read_ptx_sreg_tid_x,
                                       Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                       Intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr Intrinsic::ID local_sizes[] = {Intrinsic::nvvm_read_ptx_sreg_ntid_x,
                                         Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_ntid_z};
constexpr Intrinsic::ID block_ids[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                       Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                       Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
// Of opencl-c-base.h.
constexpr uint32_t local_fence = 1, global_fence = 2;

// What the launch says, each part of it read once and for the whole kernel: LLVM would take time
// that grows with all code before a read to move it out of a loop.
class Launch {
 public:
  explicit Launch(const GpuKernel& kernel) : kernel_(kernel) {}

  Value* read(size_t offset, llvm::Type* type) {
    Value*& value = known_[{offset, type}];
    if (!value) value = load(offset, type);
    return value;
  }

 private:
  Value* load(size_t offset, llvm::Type* type) const {
    Builder builder(&*kernel_.function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    Value* address =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), kernel_.launch, offset);
    auto* load = builder.CreateLoad(type, address);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(load->getContext(), {}));
    return load;
  }

  const GpuKernel& kernel_;
  llvm::DenseMap<std::pair<size_t, llvm::Type*>, Value*> known_;
};

// Says what a work-item wants to know, as i64 or as the lower half of that.
class Place {
 public:
  enum class Width : uint8_t { half = 32, whole = 64 };
  Place(Builder& builder, Launch& launch, Width width = Width::whole)
      : builder_(builder), launch_(launch), whole_(width == Width::whole) {}

  Value* localId(unsigned d) { return special(local_ids[d]); }
  Value* localSize(unsigned d) { return special(local_sizes[d]); }
  Value* groupId(unsigned d) {
    return builder_.CreateAdd(field(offsetof(port::GpuLaunch, box.begin), d),
                              special(block_ids[d]));
  }
  Value* globalOffset(unsigned d) { return record(offsetof(port::LaunchRecord, global_offset), d); }
  Value* globalSize(unsigned d) { return record(offsetof(port::LaunchRecord, global_size), d); }
  Value* enqueuedLocalSize(unsigned d) {
    return record(offsetof(port::LaunchRecord, local_size), d);
  }
  Value* groupCount(unsigned d) { return record(offsetof(port::LaunchRecord, group_count), d); }
  // Relative to the offset.
  Value* rangeId(unsigned d) {
    Value* base = builder_.CreateMul(groupId(d), enqueuedLocalSize(d), "", whole_, whole_);
    return builder_.CreateAdd(base, localId(d), "", whole_, whole_);
  }
  Value* globalId(unsigned d) {
    return builder_.CreateAdd(rangeId(d), globalOffset(d), "", whole_, whole_);
  }
  Value* number(uint64_t value) { return llvm::ConstantInt::get(type(), value); }

  Value* workDim() {
    return launch_.read(offsetof(port::GpuLaunch, record.work_dim), builder_.getInt32Ty());
  }
  Value* services() {
    return launch_.read(offsetof(port::GpuLaunch, record.services), builder_.getPtrTy());
  }
  Value* journal() {
    return launch_.read(offsetof(port::GpuLaunch, journal.head), builder_.getInt64Ty());
  }
  Value* journalWriter() {
    return launch_.read(offsetof(port::GpuLaunch, journal.writer), builder_.getInt64Ty());
  }
  Value* localLinearId() {
    Value* id = localId(2);
    for (unsigned d = 2; d-- > 0;)
      id = builder_.CreateAdd(builder_.CreateMul(id, localSize(d)), localId(d));
    return id;
  }
  // Of the group.
  Value* items() {
    return builder_.CreateMul(builder_.CreateMul(localSize(0), localSize(1)), localSize(2));
  }
  Value* globalLinearId() {
    Value* id = rangeId(2);
    for (unsigned d = 2; d-- > 0;)
      id = builder_.CreateAdd(builder_.CreateMul(id, globalSize(d)), rangeId(d));
    return id;
  }

 private:
  Value* special(Intrinsic::ID id) {
    return builder_.CreateZExt(builder_.CreateIntrinsic(id, {}, {}), type());
  }
  Value* record(size_t offset, unsigned d) {
    return field(offsetof(port::GpuLaunch, record) + offset, d);
  }
  Value* field(size_t offset, unsigned d) {
    return launch_.read(offset + d * sizeof(uint64_t), type());
  }
  llvm::Type* type() { return whole_ ? builder_.getInt64Ty() : builder_.getInt32Ty(); }

  Builder& builder_;
  Launch& launch_;
  const bool whole_;
};

struct DimensionQuery {
  llvm::StringLiteral name;
  Value* (Place::*answer)(unsigned);
  uint64_t out_of_range;  // the answer for a dimension that does not exist
};
constexpr std::array dimension_queries = {
    DimensionQuery{"_Z13get_global_idj", &Place::globalId, 0},
    DimensionQuery{"_Z12get_local_idj", &Place::localId, 0},
    DimensionQuery{"_Z12get_group_idj", &Place::groupId, 0},
    DimensionQuery{"_Z14get_num_groupsj", &Place::groupCount, 1},
    DimensionQuery{"_Z15get_global_sizej", &Place::globalSize, 1},
    DimensionQuery{"_Z14get_local_sizej", &Place::localSize, 1},
    DimensionQuery{"_Z23get_enqueued_local_sizej", &Place::enqueuedLocalSize, 1},
    DimensionQuery{"_Z17get_global_offsetj", &Place::globalOffset, 0},
};

struct PlainQuery {
  llvm::StringLiteral name;
  Value* (Place::*answer)();
};
constexpr std::array plain_queries = {
    PlainQuery{"_Z12get_work_dimv", &Place::workDim},
    PlainQuery{"_Z19get_local_linear_idv", &Place::localLinearId},
    PlainQuery{"_Z20get_global_linear_idv", &Place::globalLinearId},
    PlainQuery{services_query, &Place::services},
    PlainQuery{journal_query, &Place::journal},
    PlainQuery{journal_writer_query, &Place::journalWriter},
};

struct SpaceQuery {
  llvm::StringLiteral name;
  bool fence;      // else: the pointer, if it is to that space, or null
  unsigned space;  // SPIR's number
};
constexpr std::array space_queries = {
    SpaceQuery{"__to_global", false, 1},         SpaceQuery{"__to_local", false, 3},
    SpaceQuery{"__to_private", false, 0},        SpaceQuery{"_Z9get_fencePU3AS4v", true, 4},
    SpaceQuery{"_Z9get_fencePU3AS4Kv", true, 4},
};

template <class Table>
auto* find(const Table& table, llvm::StringRef name) {
  const auto found = llvm::find_if(table, [&](const auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Value* answerDimension(Builder& builder, Place& place, llvm::CallInst& call,
                       const DimensionQuery& query) {
  Value* dimension = call.getArgOperand(0);
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(dimension)) {
    const uint64_t d = constant->getZExtValue();
    return d < 3 ? (place.*query.answer)(static_cast<unsigned>(d))
                 : place.number(query.out_of_range);
  }
  Value* result = place.number(query.out_of_range);
  for (unsigned d = 0; d < 3; ++d) {
    Value* here = builder.CreateICmpEQ(dimension, llvm::ConstantInt::get(dimension->getType(), d));
    result = builder.CreateSelect(here, (place.*query.answer)(d), result);
  }
  return result;
}

// Frozen, a sum stays one operand of what is computed from it. Of its parts, which may overflow,
// nobody could say that an index, which may not, grows by as much in 64 bits as in 32.
Value* answerHalf(Builder& builder, Launch& launch, llvm::CallInst& call, llvm::StringRef name) {
  const auto* query = find(dimension_queries, name);
  if (!query) return nullptr;
  Place place(builder, launch, Place::Width::half);
  Value* answer = answerDimension(builder, place, call, *query);
  return llvm::isa<llvm::BinaryOperator>(answer) ? builder.CreateFreeze(answer) : answer;
}

// Constants are in global memory, and what is in none of the others is private.
Value* isIn(Builder& builder, Value* pointer, unsigned space) {
  Value* global = builder.CreateIntrinsic(Intrinsic::nvvm_isspacep_global, {}, {pointer});
  Value* local = builder.CreateIntrinsic(Intrinsic::nvvm_isspacep_shared, {}, {pointer});
  if (space == 1) return global;
  if (space == 3) return local;
  return builder.CreateNot(builder.CreateOr(global, local));
}

Value* answerSpace(Builder& builder, llvm::CallInst& call, const SpaceQuery& query) {
  Value* pointer = call.getArgOperand(0);
  if (query.fence)
    return builder.CreateSelect(isIn(builder, pointer, 3), builder.getInt32(local_fence),
                                builder.CreateSelect(isIn(builder, pointer, 0), builder.getInt32(0),
                                                     builder.getInt32(global_fence)));
  Value* there = builder.CreatePointerBitCastOrAddrSpaceCast(pointer, call.getType());
  return builder.CreateSelect(isIn(builder, pointer, query.space), there,
                              llvm::Constant::getNullValue(call.getType()));
}

// The target's barrier orders the memory of its work-group.
void replaceBarrier(Builder& builder, const llvm::CallInst& call) {
  if (needsFence(call)) builder.CreateIntrinsic(Intrinsic::nvvm_membar_gl, {}, {});
  builder.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
  if (needsFence(call)) builder.CreateIntrinsic(Intrinsic::nvvm_membar_gl, {}, {});
}

// Null where the call is of something else.
Value* answerFor(Builder& builder, Launch& launch, const SubGroups& sub_groups,
                 llvm::CallInst& call) {
  llvm::StringRef name = call.getCalledFunction()->getName();
  if (name.consume_front(narrow_query)) return answerHalf(builder, launch, call, name);
  Place place(builder, launch);
  if (const auto* query = find(dimension_queries, name))
    return answerDimension(builder, place, call, *query);
  if (const auto* query = find(plain_queries, name)) return (place.*query->answer)();
  if (const auto* query = find(space_queries, name)) return answerSpace(builder, call, *query);
  return answerSubGroup(builder, call, sub_groups, [&] {
    const auto narrow = [&](Value* number) {
      return builder.CreateTrunc(number, builder.getInt32Ty());
    };
    return GroupPlace{narrow(place.localLinearId()), narrow(place.items())};
  });
}

// Does the operation order more than itself, and on which sides?
struct Sides {
  bool before, after;
};
Sides sidesOf(llvm::AtomicOrdering order) {
  return {llvm::isReleaseOrStronger(order), llvm::isAcquireOrStronger(order)};
}

void fence(llvm::Instruction& operation, Sides sides) {
  Builder before(&operation);
  if (sides.before) before.CreateIntrinsic(Intrinsic::nvvm_membar_gl, {}, {});
  if (!sides.after) return;
  Builder after(operation.getNextNode());
  after.CreateIntrinsic(Intrinsic::nvvm_membar_gl, {}, {});
}

// Updates that are volatile, as what Clang's atomic functions take is, keep their generic pointers
// where LLVM finds out what they point to: slower on local memory, and on what a work-item owns
// NVIDIA's GPUs do something else.
void relax(llvm::Instruction& instruction) {
  constexpr auto relaxed = llvm::AtomicOrdering::Monotonic;
  if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    fence(*rmw, sidesOf(rmw->getOrdering()));
    rmw->setOrdering(relaxed);
    rmw->setVolatile(false);
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    fence(*exchange, sidesOf(exchange->getMergedOrdering()));
    exchange->setSuccessOrdering(relaxed);
    exchange->setFailureOrdering(relaxed);
    exchange->setVolatile(false);
  } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && load->isAtomic()) {
    const bool strict = load->getOrdering() == llvm::AtomicOrdering::SequentiallyConsistent;
    fence(*load, {strict, llvm::isAcquireOrStronger(load->getOrdering())});
    load->setOrdering(relaxed);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
             store && store->isAtomic()) {
    const bool strict = store->getOrdering() == llvm::AtomicOrdering::SequentiallyConsistent;
    fence(*store, {llvm::isReleaseOrStronger(store->getOrdering()), strict});
    store->setOrdering(relaxed);
  } else if (llvm::isa<llvm::FenceInst>(instruction)) {
    Builder(&instruction).CreateIntrinsic(Intrinsic::nvvm_membar_gl, {}, {});
    instruction.eraseFromParent();
  }
}

}  // namespace

void lowerGpuWorkItems(const GpuKernel& kernel, const SubGroups& sub_groups) {
  Launch launch(kernel);
  for (llvm::Instruction& instruction :
       llvm::make_early_inc_range(llvm::instructions(*kernel.function))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || !call->getCalledFunction() || !call->getCalledFunction()->isDeclaration())
      continue;
    Builder builder(call);
    if (isBarrier(*call->getCalledFunction())) {
      replaceBarrier(builder, *call);
    } else {
      Value* answer = answerFor(builder, launch, sub_groups, *call);
      if (!answer) continue;
      call->replaceAllUsesWith(answer);
    }
    call->eraseFromParent();
  }
}

void lowerGpuAtomics(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      relax(instruction);
}

}  // namespace weft::compiler
