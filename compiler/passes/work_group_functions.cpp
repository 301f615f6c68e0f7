#include "compiler/passes/work_group_functions.h"

#include <array>
#include <limits>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/passes/simd/exchanges.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::APInt;
using llvm::Function;
using llvm::StringLiteral;
using llvm::StringRef;
using llvm::Value;
using llvm::Intrinsic::ID;
using Builder = llvm::IRBuilder<>;

constexpr unsigned local_address_space = 3;
constexpr uint64_t slot_bytes = 8;   // the largest type
constexpr unsigned most_lanes = 32;  // of a vector
constexpr const char* slot_name = "weft.group_result";
constexpr const char* uniform_metadata = "weft.uniform";

enum class Number : uint8_t { signed_integer, unsigned_integer, floating };

enum class Shape : uint8_t { reduce, scan_inclusive, scan_exclusive, broadcast };

// How the values of two lanes become one, and the value that changes nothing.
struct Operation {
  StringLiteral name;
  Value* (*combine)(Builder& builder, Number number, Value* left, Value* right);
  llvm::Constant* (*identity)(llvm::Type* type, Number number);
  bool of_truth = false;  // of predicates: any integer that is not zero is true
};

Value* sum(Builder& builder, Number number, Value* left, Value* right) {
  return number == Number::floating ? builder.CreateFAdd(left, right)
                                    : builder.CreateAdd(left, right);
}
Value* product(Builder& builder, Number number, Value* left, Value* right) {
  return number == Number::floating ? builder.CreateFMul(left, right)
                                    : builder.CreateMul(left, right);
}
template <llvm::Instruction::BinaryOps operation>
Value* bitwise(Builder& builder, Number, Value* left, Value* right) {
  return builder.CreateBinOp(operation, left, right);
}
template <llvm::CmpInst::Predicate better, ID of_signed, ID of_unsigned>
Value* best(Builder& builder, Number number, Value* left, Value* right) {
  if (number == Number::floating)
    return builder.CreateSelect(builder.CreateFCmp(better, right, left), right, left);
  return builder.CreateBinaryIntrinsic(number == Number::signed_integer ? of_signed : of_unsigned,
                                       left, right);
}

llvm::Constant* zero(llvm::Type* type, Number) { return llvm::Constant::getNullValue(type); }
llvm::Constant* one(llvm::Type* type, Number number) {
  return number == Number::floating ? llvm::ConstantFP::get(type, 1)
                                    : llvm::ConstantInt::get(type, 1);
}
llvm::Constant* ones(llvm::Type* type, Number) { return llvm::Constant::getAllOnesValue(type); }
template <bool lowest>
llvm::Constant* extreme(llvm::Type* type, Number number) {
  if (number == Number::floating) return llvm::ConstantFP::getInfinity(type, lowest);
  const unsigned bits = type->getIntegerBitWidth();
  if (number == Number::signed_integer)
    return llvm::ConstantInt::get(
        type, lowest ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits));
  return llvm::ConstantInt::get(type, lowest ? APInt::getMinValue(bits) : APInt::getMaxValue(bits));
}

constexpr auto* least = best<llvm::CmpInst::FCMP_OLT, llvm::Intrinsic::smin, llvm::Intrinsic::umin>;
constexpr auto* greatest =
    best<llvm::CmpInst::FCMP_OGT, llvm::Intrinsic::smax, llvm::Intrinsic::umax>;

constexpr auto* both = bitwise<llvm::Instruction::And>;
constexpr auto* either = bitwise<llvm::Instruction::Or>;
constexpr auto* unlike = bitwise<llvm::Instruction::Xor>;

constexpr std::array operations = {
    Operation{"add", sum, zero},
    Operation{"min", least, extreme<false>},
    Operation{"max", greatest, extreme<true>},
    // cl_khr_work_group_uniform_arithmetic.
    Operation{"mul", product, one},
    Operation{"and", both, ones},
    Operation{"or", either, zero},
    Operation{"xor", unlike, zero},
    Operation{"logical_and", both, one, true},
    Operation{"logical_or", either, zero, true},
    Operation{"logical_xor", unlike, zero, true},
};
// Votes are the least and the greatest of truth values.
constexpr const Operation* all_of = &operations[1];
constexpr const Operation* any_of = &operations[2];

// What a mangled name says.
struct Call {
  Shape shape;
  const Operation* operation;  // null for broadcasts
  bool of_truth;
  Number number;
};

constexpr std::array<std::pair<StringLiteral, Shape>, 3> folds = {{
    {"reduce_", Shape::reduce},
    {"scan_inclusive_", Shape::scan_inclusive},
    {"scan_exclusive_", Shape::scan_exclusive},
}};

// "_Z21work_group_reduce_addi"
std::optional<Call> parse(StringRef symbol) {
  size_t length = 0;
  if (!symbol.consume_front("_Z") || symbol.consumeInteger(10, length)) return std::nullopt;
  StringRef name = symbol.take_front(length);
  const StringRef type = symbol.drop_front(name.size());
  if (!name.consume_front("work_group_") || type.empty()) return std::nullopt;
  const Number number = StringRef("acsil").contains(type[0])  ? Number::signed_integer
                        : StringRef("htjm").contains(type[0]) ? Number::unsigned_integer
                                                              : Number::floating;
  if (name == "all") return Call{Shape::reduce, all_of, true, Number::unsigned_integer};
  if (name == "any") return Call{Shape::reduce, any_of, true, Number::unsigned_integer};
  if (name == "broadcast") return Call{Shape::broadcast, nullptr, false, number};
  for (const auto& [prefix, shape] : folds) {
    if (!name.consume_front(prefix)) continue;
    for (const Operation& operation : operations)
      if (name == operation.name) return Call{shape, &operation, operation.of_truth, number};
  }
  return std::nullopt;
}

// The definition of one work-group function.
class Definition {
 public:
  Definition(Function& function, const Call& call, llvm::GlobalVariable* slot, bool may_be_vectors)
      : module_(*function.getParent()),
        function_(function),
        call_(call),
        slot_(slot),
        may_be_vectors_(may_be_vectors),
        builder_(llvm::BasicBlock::Create(module_.getContext(), "entry", &function)) {}

  void emit() {
    function_.setLinkage(llvm::GlobalValue::InternalLinkage);
    function_.setDSOLocal(true);
    function_.addFnAttr(llvm::Attribute::Convergent);
    function_.addFnAttr(llvm::Attribute::NoUnwind);
    if (may_be_vectors_) function_.addFnAttr(llvm::Attribute::NoInline);  // until it is chosen
    Value* value = function_.getArg(0);
    if (call_.of_truth)
      value = builder_.CreateZExt(builder_.CreateIsNotNull(value), value->getType());
    if (may_be_vectors_ && call_.shape == Shape::reduce) {
      builder_.CreateRet(reduceEitherWay(value));
      return;
    }
    barrier();
    Value* so_far = may_be_vectors_ ? foldEitherWay(value) : fold(value);
    barrier();
    builder_.CreateRet(so_far ? so_far : result(value->getType()));
  }

 private:
  // Returns what a scan's lane gets. Atomic accesses, as others may be done in any order.
  Value* fold(Value* value) {
    llvm::LoadInst* before = builder_.CreateLoad(value->getType(), slot_);
    before->setAtomic(llvm::AtomicOrdering::Unordered);
    Value* after;
    if (call_.shape == Shape::broadcast) {
      after = builder_.CreateSelect(isSource(), value, before);
    } else {
      after = call_.operation->combine(builder_, call_.number, before, value);
      after = builder_.CreateSelect(isFirst(), value, after);
    }
    builder_.CreateStore(after, slot_)->setAtomic(llvm::AtomicOrdering::Unordered);
    if (call_.shape == Shape::scan_inclusive) return after;
    if (call_.shape != Shape::scan_exclusive) return nullptr;
    return builder_.CreateSelect(isFirst(),
                                 call_.operation->identity(value->getType(), call_.number), before);
  }

  // What one of them gives, by the form that is chosen later.
  template <class Vectors, class Lanes>
  Value* eitherWay(Vectors&& vectors, Lanes&& lanes) {
    llvm::LLVMContext& context = module_.getContext();
    const auto newBlock = [&] { return llvm::BasicBlock::Create(context, "", &function_); };
    llvm::BasicBlock *first = newBlock(), *second = newBlock(), *done = newBlock();
    builder_.CreateCondBr(query(side_by_side_query, builder_.getInt1Ty(), {}), first, second);
    builder_.SetInsertPoint(first);
    Value* of_vectors = vectors();
    first = builder_.GetInsertBlock();
    builder_.CreateBr(done);
    builder_.SetInsertPoint(second);
    Value* of_lanes = lanes();
    second = builder_.GetInsertBlock();
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    if (!of_lanes) return nullptr;
    llvm::PHINode* either = builder_.CreatePHI(of_lanes->getType(), 2);
    either->addIncoming(of_vectors, first);
    either->addIncoming(of_lanes, second);
    return either;
  }
  Value* foldEitherWay(Value* value) {
    return eitherWay([&] { return foldVector(value); }, [&] { return fold(value); });
  }

  Value* reduceEitherWay(Value* value) {
    barrier();
    return eitherWay([&] { return reduceVectors(value); },
                     [&] {
                       fold(value);
                       barrier();
                       return result(value->getType());
                     });
  }

  // Each lane of a vector has its own slot, for the lanes at its place of all vectors, which come
  // one after the other. What is in the slots becomes one value once, not once in each vector.
  Value* reduceVectors(Value* value) {
    llvm::Type* type = value->getType();
    Value* lane = createExchange(builder_, Exchange::lane);
    Value* item = query("_Z19get_local_linear_idv", builder_.getInt64Ty(), {});
    Value* is_first = builder_.CreateICmpEQ(item, builder_.CreateZExt(lane, builder_.getInt64Ty()));
    Value* place = builder_.CreateInBoundsGEP(type, slot_, lane);
    Value* before = builder_.CreateLoad(type, place);
    // Asking who runs makes a vector of them, where each lane alone would find its slot, too.
    Value* runs = builder_.CreateIsNotNull(createExchange(builder_, Exchange::runs));
    Value* identity = call_.operation->identity(type, call_.number);
    value = builder_.CreateSelect(runs, value, identity);
    Value* after = call_.operation->combine(builder_, call_.number, before, value);
    builder_.CreateStore(builder_.CreateSelect(is_first, value, after), place);
    barrier();
    // The first vector has all lanes, or all that a row has.
    Value* lanes = builder_.CreateZExt(query("__weft_lanes", builder_.getInt32Ty(), {}),
                                       builder_.getInt64Ty());
    Value* row = query("_Z14get_local_sizej", builder_.getInt64Ty(), builder_.getInt32(0));
    lanes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, lanes, row);
    std::array<Value*, most_lanes> parts;
    for (unsigned i = 0; i < most_lanes; ++i)
      parts[i] = builder_.CreateSelect(builder_.CreateICmpULT(builder_.getInt64(i), lanes),
                                       result(type, i), identity);
    for (unsigned half = most_lanes / 2; half > 0; half /= 2)
      for (unsigned i = 0; i < half; ++i)
        parts[i] = call_.operation->combine(builder_, call_.number, parts[i], parts[i + half]);
    barrier();
    return parts[0];
  }

  // What a scan's lanes get. Vectors come one after the other, each with all of its lanes at once.
  Value* foldVector(Value* value) {
    Value* lane = createExchange(builder_, Exchange::lane);
    Value* item = query("_Z19get_local_linear_idv", builder_.getInt64Ty(), {});
    item = builder_.CreateSub(item, builder_.CreateZExt(lane, builder_.getInt64Ty()));
    Value* is_first = builder_.CreateIsNull(item);
    llvm::LoadInst* before = builder_.CreateLoad(value->getType(), slot_);
    if (call_.shape == Shape::broadcast) {
      Value* source = createExchange(builder_, Exchange::ballot,
                                     {builder_.CreateZExt(isSource(), builder_.getInt32Ty())});
      Value* from =
          builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, source, builder_.getFalse());
      Value* taken = createShuffle(builder_, value, from);
      builder_.CreateStore(builder_.CreateSelect(builder_.CreateIsNotNull(source), taken, before),
                           slot_);
      return nullptr;
    }
    const auto combine = [&](Value* left, Value* right) {
      return call_.operation->combine(builder_, call_.number, left, right);
    };
    Value* identity = call_.operation->identity(value->getType(), call_.number);
    Value* lanes = query("__weft_lanes", builder_.getInt32Ty(), {});
    Value* scanned = scanOfVector(value, lane, lanes, identity);
    Value* last = builder_.CreateSub(lanes, builder_.getInt32(1));
    Value* all = createShuffle(builder_, scanned, last);
    builder_.CreateStore(builder_.CreateSelect(is_first, all, combine(before, all)), slot_);
    if (call_.shape == Shape::scan_exclusive) {
      scanned = createShuffle(builder_, scanned, builder_.CreateSub(lane, builder_.getInt32(1)));
      scanned = builder_.CreateSelect(builder_.CreateIsNull(lane), identity, scanned);
    }
    return builder_.CreateSelect(is_first, scanned, combine(before, scanned));
  }

  // Lanes that are not there have what changes nothing.
  Value* scanOfVector(Value* value, Value* lane, Value* lanes, Value* identity) {
    Value* runs = createExchange(builder_, Exchange::runs);
    Value* x = builder_.CreateSelect(builder_.CreateIsNotNull(runs), value, identity);
    for (unsigned distance = 1; distance < most_lanes; distance *= 2) {
      Value* step = builder_.getInt32(distance);
      Value* below = createShuffle(builder_, x, builder_.CreateSub(lane, step));
      Value* takes = builder_.CreateAnd(builder_.CreateICmpUGE(lane, step),
                                        builder_.CreateICmpUGT(lanes, step));
      x = builder_.CreateSelect(takes, call_.operation->combine(builder_, call_.number, below, x),
                                x);
    }
    return x;
  }

  Value* result(llvm::Type* type, unsigned slot = 0) {
    llvm::LoadInst* load =
        builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(type, slot_, slot));
    load->setMetadata(uniform_metadata, llvm::MDNode::get(module_.getContext(), {}));
    return load;
  }

  Value* isFirst() {
    Value* lane = query("_Z19get_local_linear_idv", builder_.getInt64Ty(), {});
    return builder_.CreateICmpEQ(lane, builder_.getInt64(0));
  }
  // Is this the work-item whose local id the call names?
  Value* isSource() {
    Value* here = builder_.getTrue();
    for (unsigned d = 0; d + 1 < function_.arg_size(); ++d) {
      Value* id = query("_Z12get_local_idj", builder_.getInt64Ty(), builder_.getInt32(d));
      here = builder_.CreateAnd(here, builder_.CreateICmpEQ(id, function_.getArg(d + 1)));
    }
    return here;
  }

  void barrier() {
    query("_Z7barrierj", builder_.getVoidTy(), builder_.getInt32(0))
        ->addFnAttr(llvm::Attribute::Convergent);
  }
  llvm::CallInst* query(StringRef name, llvm::Type* type, llvm::ArrayRef<Value*> arguments) {
    llvm::SmallVector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    auto* callee = llvm::cast<Function>(
        module_.getOrInsertFunction(name, llvm::FunctionType::get(type, types, false)).getCallee());
    llvm::CallInst* call = builder_.CreateCall(callee, arguments);
    call->setCallingConv(callee->getCallingConv());
    return call;
  }

  llvm::Module& module_;
  Function& function_;
  const Call call_;
  llvm::GlobalVariable* slot_;
  const bool may_be_vectors_;
  Builder builder_;
};

// For all calls: a value is used up before the next call's first barrier. One for each lane of a
// vector, if there are any.
llvm::GlobalVariable* makeSlots(llvm::Module& module, bool may_be_vectors) {
  const uint64_t bytes = may_be_vectors ? slot_bytes * most_lanes : slot_bytes;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), bytes);
  auto* slot = new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                        llvm::GlobalValue::InternalLinkage,
                                        llvm::UndefValue::get(type), slot_name, nullptr,
                                        llvm::GlobalValue::NotThreadLocal, local_address_space);
  slot->setAlignment(llvm::Align(may_be_vectors ? 64 : slot_bytes));
  return slot;
}

}  // namespace

void defineWorkGroupFunctions(llvm::Module& module, bool may_be_vectors) {
  llvm::SmallVector<std::pair<Function*, Call>> found;
  for (Function& function : module) {
    if (!function.isDeclaration() || function.use_empty()) continue;
    if (const auto call = parse(function.getName())) found.push_back({&function, *call});
  }
  if (found.empty()) return;
  llvm::GlobalVariable* slot = makeSlots(module, may_be_vectors);
  for (auto& [function, call] : found) Definition(*function, call, slot, may_be_vectors).emit();
}

bool isGroupResult(const llvm::GlobalVariable& variable) {
  return variable.getName().starts_with(slot_name);
}

bool readsGroupResult(const llvm::LoadInst& load) { return load.hasMetadata(uniform_metadata); }

}  // namespace weft::compiler
