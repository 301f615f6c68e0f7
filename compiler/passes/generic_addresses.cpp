#include "compiler/passes/generic_addresses.h"

#include <array>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

enum Space : unsigned { private_space = 0, global_space = 1, local_space = 3, generic_space = 4 };
// What a function of the x86-64 ABI may use below its stack pointer.
constexpr uint64_t red_zone_bytes = 128;
// Of opencl-c-base.h.
constexpr uint32_t local_fence = 1, global_fence = 2;

struct Query {
  llvm::StringLiteral name;
  bool fence;  // else: the pointer, if it is to `space`
  Space space;
};

constexpr std::array queries = {
    Query{"__to_global", false, global_space},
    Query{"__to_local", false, local_space},
    Query{"__to_private", false, private_space},
    Query{"_Z9get_fencePU3AS4v", true, generic_space},
    Query{"_Z9get_fencePU3AS4Kv", true, generic_space},
};

const Query* findQuery(const llvm::Function& function) {
  const auto* found =
      llvm::find_if(queries, [&](const Query& q) { return q.name == function.getName(); });
  return found == queries.end() || !function.isDeclaration() ? nullptr : found;
}

// The space that a generic pointer was made from, where that can be seen.
unsigned knownSpace(const Value* pointer) {
  while (true) {
    if (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer)) {
      if (cast->getSrcAddressSpace() != generic_space) return cast->getSrcAddressSpace();
      pointer = cast->getPointerOperand();
    } else if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      pointer = element->getPointerOperand();
    } else {
      return generic_space;
    }
  }
}

class AddressLowering {
 public:
  AddressLowering(llvm::Function& function, unsigned first) : function_(function), first_(first) {}

  Value* answer(llvm::CallInst& call, const Query& query) {
    Builder builder(&call);
    Value* pointer = call.getArgOperand(0);
    if (query.fence) {
      Value* fence =
          builder.CreateSelect(isIn(builder, pointer, local_space), builder.getInt32(local_fence),
                               builder.getInt32(global_fence));
      return builder.CreateSelect(isIn(builder, pointer, private_space), builder.getInt32(0),
                                  fence);
    }
    return builder.CreateSelect(isIn(builder, pointer, query.space),
                                builder.CreateAddrSpaceCast(pointer, call.getType()),
                                llvm::Constant::getNullValue(call.getType()));
  }

 private:
  Value* argument(unsigned parameter) { return function_.getArg(first_ + parameter); }

  Value* isIn(Builder& builder, Value* pointer, Space space) {
    const unsigned known = knownSpace(pointer);
    if (known != generic_space) return builder.getInt1(known == space);
    Value* address = number(builder, pointer);
    if (space == local_space) return isLocal(builder, address);
    if (space == private_space) return isPrivate(builder, address);
    return builder.CreateNot(
        builder.CreateOr(isLocal(builder, address), isPrivate(builder, address)));
  }

  Value* isLocal(Builder& builder, Value* address) {
    return isWithin(builder, address, number(builder, argument(env::local_memory)),
                    argument(env::local_bytes));
  }

  // Between the stack pointer here and the frame of the kernel's entry lies nothing but what the
  // kernel put there.
  Value* isPrivate(Builder& builder, Value* address) {
    Value* in_context = isWithin(builder, address, number(builder, argument(env::context)),
                                 argument(env::context_bytes));
    Value* low = number(builder, builder.CreateStackSave());
    low = builder.CreateSub(low, builder.getInt64(red_zone_bytes));
    Value* bytes = builder.CreateSub(number(builder, argument(env::frame)), low);
    return builder.CreateOr(in_context, isWithin(builder, address, low, bytes));
  }

  static Value* number(Builder& builder, Value* pointer) {
    return builder.CreatePtrToInt(pointer, builder.getInt64Ty());
  }
  static Value* isWithin(Builder& builder, Value* address, Value* begin, Value* bytes) {
    return builder.CreateICmpULT(builder.CreateSub(address, begin), bytes);
  }

  llvm::Function& function_;
  unsigned first_;
};

}  // namespace

bool isAddressQuery(const llvm::Function& function) { return findQuery(function) != nullptr; }

void lowerAddressQueries(llvm::Function& function, unsigned first) {
  AddressLowering lowering(function, first);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || !call->getCalledFunction()) continue;
    const Query* query = findQuery(*call->getCalledFunction());
    if (!query) continue;
    call->replaceAllUsesWith(lowering.answer(*call, *query));
    call->eraseFromParent();
  }
}

}  // namespace weft::compiler
