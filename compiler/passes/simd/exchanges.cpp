#include "compiler/passes/simd/exchanges.h"

#include <array>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {
namespace {

constexpr std::array<llvm::StringLiteral, 6> names = {"__weft_lane",    "__weft_members",
                                                      "__weft_runs",    "__weft_ballot",
                                                      "__weft_shuffle", "__weft_shuffle_long"};

llvm::StringRef nameOf(Exchange exchange) { return names[static_cast<size_t>(exchange)]; }

bool handsOver(Exchange exchange) {
  return exchange != Exchange::lane && exchange != Exchange::members;
}

}  // namespace

llvm::Value* createExchange(llvm::IRBuilder<>& builder, Exchange exchange,
                            llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Value*, 3> all(arguments);
  // In the library's form, with the lanes that are asked.
  if (exchange == Exchange::ballot || exchange == Exchange::shuffle)
    all.push_back(builder.getInt32(~0u));
  llvm::SmallVector<llvm::Type*, 3> types;
  for (const llvm::Value* argument : all) types.push_back(argument->getType());
  llvm::Type* result =
      exchange == Exchange::shuffle_long ? builder.getInt64Ty() : builder.getInt32Ty();
  llvm::FunctionCallee callee = builder.GetInsertBlock()->getModule()->getOrInsertFunction(
      nameOf(exchange), llvm::FunctionType::get(result, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  if (handsOver(exchange)) function->addFnAttr(llvm::Attribute::Convergent);
  llvm::CallInst* call = builder.CreateCall(callee, all);
  call->setCallingConv(function->getCallingConv());
  return call;
}

llvm::Value* createShuffle(llvm::IRBuilder<>& builder, llvm::Value* number, llvm::Value* lane) {
  llvm::Type* const type = number->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type* const whole = builder.getIntNTy(bits);
  llvm::Value* taken = builder.CreateBitCast(number, whole);
  if (bits == 64) {
    taken = createExchange(builder, Exchange::shuffle_long, {taken, lane});
  } else {
    taken = builder.CreateZExt(taken, builder.getInt32Ty());
    taken = createExchange(builder, Exchange::shuffle, {taken, lane});
    taken = builder.CreateTrunc(taken, whole);
  }
  return builder.CreateBitCast(taken, type);
}

// What depends on the lanes that come must not be the same before and behind a barrier: so it is
// said to read something that barriers change.
void declareExchanges(llvm::Module& module) {
  for (const llvm::StringLiteral& name : names) {
    llvm::Function* function = module.getFunction(name);
    if (!function) continue;
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::WillReturn);
    if (!handsOver(static_cast<Exchange>(&name - names.begin()))) {
      function->setDoesNotAccessMemory();
      continue;
    }
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly(llvm::ModRefInfo::Ref));
    function->addFnAttr(llvm::Attribute::Convergent);
    function->addFnAttr(llvm::Attribute::NoMerge);
  }
}

std::optional<Exchange> exchangeOf(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->isDeclaration()) return std::nullopt;
  const auto* found = llvm::find(names, callee->getName());
  if (found == names.end()) return std::nullopt;
  return static_cast<Exchange>(found - names.begin());
}

bool isHandedOver(const llvm::Instruction& instruction) {
  const auto exchange = exchangeOf(instruction);
  return exchange && handsOver(*exchange);
}

bool hasExchanges(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), isHandedOver);
}

void VectorBody::emitExchange(llvm::CallInst& call, Exchange exchange) {
  llvm::Type* const type = builder_.getInt32Ty();
  switch (exchange) {
    case Exchange::lane:
      return setScalar(call, builder_.getInt32(0));
    case Exchange::members:
      return setScalar(
          call, options_.whole
                    ? builder_.getInt32(options_.width)
                    : builder_.CreateTrunc(function_->getArg(function_->arg_size() - 1), type));
    case Exchange::runs: {
      auto* wide_type = vectorOf(type);
      return setParts(call, {mask_ ? builder_.CreateZExt(mask_, wide_type)
                                   : llvm::ConstantInt::get(wide_type, 1)});
    }
    case Exchange::ballot: {
      Value* holds = both(mask_, builder_.CreateIsNotNull(wide(call.getArgOperand(0))));
      Value* lanes = builder_.CreateBitCast(holds, builder_.getIntNTy(options_.width));
      return setScalar(call, builder_.CreateZExt(lanes, type));
    }
    case Exchange::shuffle:
    case Exchange::shuffle_long:
      return emitShuffle(call);
  }
}

// Lanes that do not run may have poison, which must go no further than the number that is taken.
void VectorBody::emitShuffle(llvm::CallInst& call) {
  Value *number = call.getArgOperand(0), *from = call.getArgOperand(1);
  if (shapes_.isUniform(number)) return setScalar(call, scalar(number));
  const auto settled = [&](Value* value) { return mask_ ? builder_.CreateFreeze(value) : value; };
  llvm::Constant* const last = builder_.getInt32(options_.width - 1);
  if (!shapes_.isUniform(from))
    return setParts(
        call, {settled(permuted(
                  wide(number),
                  builder_.CreateAnd(wide(from),
                                     llvm::ConstantVector::getSplat(
                                         llvm::ElementCount::getFixed(options_.width), last))))});
  Value* lane = builder_.CreateAnd(scalar(from), last);
  Value* all = wide(number);
  if (!llvm::isa<llvm::Constant>(lane)) {
    all = permuted(all, builder_.CreateVectorSplat(options_.width, lane));
    lane = builder_.getInt32(0);
  }
  setScalar(call, settled(builder_.CreateExtractElement(all, lane)));
}

// The numbers at `places`, which are less than the vectors' length.
llvm::Value* VectorBody::permuted(Value* numbers, Value* places) {
  if (auto* known = llvm::dyn_cast<llvm::Constant>(places)) {
    llvm::SmallVector<int> mask;
    for (unsigned i = 0; i < options_.width; ++i) {
      auto* place = llvm::dyn_cast_or_null<llvm::ConstantInt>(known->getAggregateElement(i));
      mask.push_back(place ? static_cast<int>(place->getZExtValue()) : -1);
    }
    return builder_.CreateShuffleVector(numbers, mask);
  }
  if (numbers->getType()->getScalarSizeInBits() == 32) return permutedWords(numbers, places);
  const auto half = [&](unsigned shift) {
    Value* words = builder_.CreateTrunc(builder_.CreateLShr(numbers, shift), places->getType());
    return builder_.CreateZExt(permutedWords(words, places), numbers->getType());
  };
  return builder_.CreateOr(half(0), builder_.CreateShl(half(32), 32));
}

// In pieces as long as the processor permutes, of which each may come from any piece.
llvm::Value* VectorBody::permutedWords(Value* numbers, Value* places) {
  const unsigned width = options_.width;
  const unsigned lanes = std::min(options_.permuted_lanes, width);
  if (lanes < 8) return takenFromMemory(numbers, places);
  const auto piece = [&](Value* all, unsigned begin) {
    return lanes == width
               ? all
               : builder_.CreateShuffleVector(all, llvm::createSequentialMask(begin, lanes, 0));
  };
  const auto permute = [&](Value* from, Value* at) -> Value* {
    return lanes == 16 ? builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {},
                                                  {from, at})
                       : builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {from, at});
  };
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < width; begin += lanes) {
    Value* at = piece(places, begin);
    Value* result = permute(piece(numbers, 0), at);
    for (unsigned source = lanes; source < width; source += lanes) {
      Value* here = builder_.CreateICmpUGE(at, llvm::ConstantInt::get(at->getType(), source));
      result = builder_.CreateSelect(here, permute(piece(numbers, source), at), result);
    }
    results.push_back(result);
  }
  return llvm::concatenateVectors(builder_, results);
}

llvm::Value* VectorBody::takenFromMemory(Value* numbers, Value* places) {
  llvm::IRBuilder<> variables(entry_, entry_->begin());
  llvm::AllocaInst* slots = variables.CreateAlloca(numbers->getType(), nullptr, "offered");
  builder_.CreateStore(numbers, slots);
  Value* result = llvm::PoisonValue::get(numbers->getType());
  places = builder_.CreateFreeze(places);
  for (unsigned i = 0; i < options_.width; ++i) {
    Value* place = builder_.CreateAnd(builder_.CreateExtractElement(places, i), options_.width - 1);
    Value* slot = builder_.CreateInBoundsGEP(builder_.getInt32Ty(), slots, place);
    result =
        builder_.CreateInsertElement(result, builder_.CreateLoad(builder_.getInt32Ty(), slot), i);
  }
  return result;
}

}  // namespace weft::compiler
