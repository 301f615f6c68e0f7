#include "compiler/passes/work_items.h"

#include <array>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/passes/generic_addresses.h"
#include "compiler/passes/sub_groups.h"

namespace weft::compiler {
namespace {

using llvm::Value;

enum class Shape : uint8_t {
  dimension,  // the parameter of that dimension
  global_id,  // global_base + local_id of that dimension
  scalar,     // one parameter
  global_linear_id,
};

struct Query {
  llvm::StringLiteral name;
  Shape shape;
  unsigned parameter;
  uint64_t out_of_range;  // the answer for a dimension that does not exist
};

constexpr std::array queries = {
    Query{"_Z13get_global_idj", Shape::global_id, env::global_base, 0},
    Query{"_Z12get_local_idj", Shape::dimension, env::local_id, 0},
    Query{"_Z12get_group_idj", Shape::dimension, env::group_id, 0},
    Query{"_Z14get_num_groupsj", Shape::dimension, env::group_count, 1},
    Query{"_Z15get_global_sizej", Shape::dimension, env::global_size, 1},
    Query{"_Z14get_local_sizej", Shape::dimension, env::local_size, 1},
    Query{"_Z23get_enqueued_local_sizej", Shape::dimension, env::enqueued_local_size, 1},
    Query{"_Z17get_global_offsetj", Shape::dimension, env::global_offset, 0},
    Query{"_Z12get_work_dimv", Shape::scalar, env::work_dim, 0},
    Query{"_Z19get_local_linear_idv", Shape::scalar, env::lane, 0},
    Query{"_Z20get_global_linear_idv", Shape::global_linear_id, env::global_base, 0},
    Query{services_query, Shape::scalar, env::services, 0},
};

constexpr std::array<llvm::StringLiteral, 3> barriers = {
    "_Z7barrierj",
    "_Z18work_group_barrierj",
    "_Z18work_group_barrierj12memory_scope",
};
constexpr std::array<llvm::StringLiteral, 3> meetings = {
    "__weft_sub_group_meet",
    "_Z17sub_group_barrierj",
    "_Z17sub_group_barrierj12memory_scope",
};

// What GPUs answer: of lanes that run side by side (compiler/gpu/sub_groups.cpp), as CPUs do where
// they are vectors (sub_groups.h), and where requests for the host are left.
constexpr std::array<llvm::StringLiteral, 20> gpu_queries = {
    "__weft_lanes",      "__weft_lane",         "__weft_members",     "__weft_sub_group",
    "__weft_sub_groups", "__weft_here",         "__weft_meet",        "__weft_ballot",
    "__weft_shuffle",    "__weft_shuffle_up",   "__weft_group_slots", "__weft_barrier_number",
    "__weft_meet_warps", "__weft_order_group",  "__weft_rest",        "__weft_idle_lanes_run",
    "__weft_runs",       "__weft_shuffle_long", journal_query,        journal_writer_query};

const Query* findQuery(llvm::StringRef name) {
  const auto* found = llvm::find_if(queries, [&](const Query& q) { return q.name == name; });
  return found == queries.end() ? nullptr : found;
}

class QueryLowering {
 public:
  QueryLowering(llvm::Function& function, unsigned first) : function_(function), first_(first) {}

  Value* answer(llvm::CallInst& call, const Query& query) {
    llvm::IRBuilder<> builder(&call);
    switch (query.shape) {
      case Shape::scalar:
        return argument(query.parameter);
      case Shape::global_linear_id:
        return globalLinearId(builder);
      case Shape::global_id:
      case Shape::dimension:
        break;
    }
    Value* dimension = call.getArgOperand(0);
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(dimension)) {
      uint64_t index = constant->getZExtValue();
      return index < 3 ? ofDimension(builder, query, static_cast<unsigned>(index))
                       : builder.getInt64(query.out_of_range);
    }
    Value* result = builder.getInt64(query.out_of_range);
    for (unsigned d = 0; d < 3; ++d) {
      Value* here =
          builder.CreateICmpEQ(dimension, llvm::ConstantInt::get(dimension->getType(), d));
      result = builder.CreateSelect(here, ofDimension(builder, query, d), result);
    }
    return result;
  }

 private:
  Value* argument(unsigned parameter) { return function_.getArg(first_ + parameter); }

  Value* ofDimension(llvm::IRBuilder<>& builder, const Query& query, unsigned d) {
    if (query.shape == Shape::dimension) return argument(query.parameter + d);
    return builder.CreateAdd(argument(env::global_base + d), argument(env::local_id + d), "gid",
                             /*HasNUW=*/true, /*HasNSW=*/true);
  }

  // The three-dimensional formula serves all: unused dimensions have size 1 and id 0.
  Value* globalLinearId(llvm::IRBuilder<>& builder) {
    Value* result = builder.getInt64(0);
    for (unsigned d = 3; d-- > 0;) {
      Value* id = builder.CreateAdd(argument(env::global_base + d), argument(env::local_id + d));
      id = builder.CreateSub(id, argument(env::global_offset + d));
      result = builder.CreateAdd(builder.CreateMul(result, argument(env::global_size + d)), id);
    }
    return result;
  }

  llvm::Function& function_;
  unsigned first_;
};

}  // namespace

bool isWorkItemQuery(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  name.consume_front(narrow_query);
  return function.isDeclaration() &&
         (findQuery(name) != nullptr || llvm::is_contained(gpu_queries, function.getName()) ||
          isAddressQuery(function) || isSubGroupQuery(function));
}

bool asksAboutWorkItem(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  name.consume_front(narrow_query);
  return function.isDeclaration() && findQuery(name) != nullptr;
}

bool isBarrier(const llvm::Function& function) {
  return function.isDeclaration() && (llvm::is_contained(barriers, function.getName()) ||
                                      llvm::is_contained(meetings, function.getName()));
}

bool isBarrierCall(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && isBarrier(*call->getCalledFunction());
}

bool isNote(const llvm::Instruction& instruction) {
  auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->isAssumeLikeIntrinsic() && intrinsic->getType()->isVoidTy();
}

bool isMeeting(const llvm::CallInst& barrier) {
  return llvm::is_contained(meetings, barrier.getCalledFunction()->getName());
}

bool needsFence(const llvm::CallInst& barrier) {
  // memory_scope_work_group is 1 in Clang's opencl-c-base.h (work_item 0, device 2, all 3).
  if (barrier.arg_size() < 2) return false;
  auto* scope = llvm::dyn_cast<llvm::ConstantInt>(barrier.getArgOperand(1));
  return !scope || scope->getZExtValue() > 1;
}

llvm::SmallVector<llvm::Type*, env::count> environmentTypes(llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::Type*, env::count> types(env::count, llvm::Type::getInt64Ty(context));
  types[env::work_dim] = llvm::Type::getInt32Ty(context);
  for (unsigned p :
       {env::local_memory, env::context, env::services, env::frame, env::next_local_memory})
    types[p] = llvm::PointerType::get(context, 0);
  return types;
}

void lowerWorkItemQueries(llvm::Function& function, unsigned first) {
  lowerAddressQueries(function, first);
  QueryLowering lowering(function, first);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || !call->getCalledFunction()) continue;
    const Query* query = findQuery(call->getCalledFunction()->getName());
    if (!query || !call->getCalledFunction()->isDeclaration()) continue;
    call->replaceAllUsesWith(lowering.answer(*call, *query));
    call->eraseFromParent();
  }
}

}  // namespace weft::compiler
