// Instructions that reach memory.
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "compiler/gpu/spirv/function.h"

namespace weft::compiler::emit {
namespace {

using llvm::AtomicRMWInst;
using llvm::Instruction;
using spv::Op;

struct AtomicRow {
  AtomicRMWInst::BinOp operation;
  Op op;
};
constexpr AtomicRow atomics[] = {
    {AtomicRMWInst::Xchg, Op::OpAtomicExchange}, {AtomicRMWInst::Add, Op::OpAtomicIAdd},
    {AtomicRMWInst::Sub, Op::OpAtomicISub},      {AtomicRMWInst::And, Op::OpAtomicAnd},
    {AtomicRMWInst::Or, Op::OpAtomicOr},         {AtomicRMWInst::Xor, Op::OpAtomicXor},
    {AtomicRMWInst::Max, Op::OpAtomicSMax},      {AtomicRMWInst::Min, Op::OpAtomicSMin},
    {AtomicRMWInst::UMax, Op::OpAtomicUMax},     {AtomicRMWInst::UMin, Op::OpAtomicUMin},
    {AtomicRMWInst::FAdd, Op::OpAtomicFAddEXT},
};
// Fences around an operation order it.
constexpr uint32_t device_scope = static_cast<uint32_t>(spv::Scope::Device), relaxed = 0;

}  // namespace

void FunctionWriter::alloca_(const Instruction& instruction) {
  const auto& variable = llvm::cast<llvm::AllocaInst>(instruction);
  if (!variable.isStaticAlloca()) refuse("an array of unknown size", instruction);
  llvm::Type* type = variable.getAllocatedType();
  if (variable.isArrayAllocation())
    type = llvm::ArrayType::get(
        type, llvm::cast<llvm::ConstantInt>(variable.getArraySize())->getZExtValue());
  const Id made = types_.newId();
  variables_.add(Op::OpVariable, {types_.pointerTo(private_space, type), made,
                                  static_cast<uint32_t>(spv::StorageClass::Function)});
  types_.decorate(made, spv::Decoration::Alignment,
                  {static_cast<uint32_t>(variable.getAlign().value())});
  prologue_.add(Op::OpBitcast, {types_.bytes(private_space), id(&instruction), made});
}

void FunctionWriter::needAtomics(llvm::Type* type) {
  constexpr uint64_t wide = 64;
  if (types_.layout().getTypeSizeInBits(type) == wide) types_.need(spv::Capability::Int64Atomics);
}

void FunctionWriter::load(const Instruction& instruction) {
  const auto& load = llvm::cast<llvm::LoadInst>(instruction);
  if (load.getType()->isIntOrIntVectorTy(1)) refuse("an instruction", instruction);
  const Id pointer = typed(load.getPointerOperand(), load.getType());
  if (load.isAtomic()) {
    needAtomics(load.getType());
    return define(instruction, Op::OpAtomicLoad, {pointer, number(device_scope), number(relaxed)});
  }
  std::vector<uint32_t> words{pointer};
  llvm::append_range(words, access(load.getAlign(), load.isVolatile()));
  define(instruction, Op::OpLoad, words);
}

void FunctionWriter::store(const Instruction& instruction) {
  const auto& store = llvm::cast<llvm::StoreInst>(instruction);
  const llvm::Value* value = store.getValueOperand();
  if (value->getType()->isIntOrIntVectorTy(1)) refuse("an instruction", instruction);
  const Id pointer = typed(store.getPointerOperand(), value->getType());
  if (store.isAtomic()) {
    needAtomics(value->getType());
    return body_.add(Op::OpAtomicStore,
                     {pointer, number(device_scope), number(relaxed), id(value)});
  }
  std::vector<uint32_t> words{pointer, id(value)};
  llvm::append_range(words, access(store.getAlign(), store.isVolatile()));
  body_.add(Op::OpStore, words);
}

// Pointers are to bytes, so a place is counted in bytes.
void FunctionWriter::elementPointer(const Instruction& instruction) {
  const auto& element = llvm::cast<llvm::GetElementPtrInst>(instruction);
  const llvm::Value* base = element.getPointerOperand();
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  llvm::APInt fixed(64, 0);
  if (element.getType()->isVectorTy() ||
      !element.collectOffset(types_.layout(), 64, variable, fixed))
    refuse("an address", instruction);
  const Id long_type = types_.type(llvm::Type::getInt64Ty(function_.getContext()));
  Id offset = fixed.isZero() && !variable.empty() ? 0 : long_(fixed.getZExtValue());
  for (const auto& [index, scale] : variable) {
    Id part = as64(index);
    if (!scale.isOne()) part = result(Op::OpIMul, long_type, {part, long_(scale.getZExtValue())});
    offset = offset ? result(Op::OpIAdd, long_type, {offset, part}) : part;
  }
  const Op op = element.isInBounds() ? Op::OpInBoundsPtrAccessChain : Op::OpPtrAccessChain;
  define(instruction, op, {id(base), offset});
}

void FunctionWriter::readModifyWrite(const Instruction& instruction) {
  const auto& update = llvm::cast<AtomicRMWInst>(instruction);
  const auto* const row = llvm::find_if(
      atomics, [&](const AtomicRow& each) { return each.operation == update.getOperation(); });
  if (row == std::end(atomics)) refuse("an instruction", instruction);
  needAtomics(update.getType());
  if (row->op == Op::OpAtomicFAddEXT) {
    types_.need(spv::Capability::AtomicFloat32AddEXT);
    types_.needExtension("SPV_EXT_shader_atomic_float_add");
  }
  define(instruction, row->op,
         {typed(update.getPointerOperand(), update.getType()), number(device_scope),
          number(relaxed), id(update.getValOperand())});
}

void FunctionWriter::compareExchange(const Instruction& instruction) {
  const auto& exchange = llvm::cast<llvm::AtomicCmpXchgInst>(instruction);
  llvm::Type* type = exchange.getCompareOperand()->getType();
  if (!type->isIntegerTy()) refuse("an instruction", instruction);
  needAtomics(type);
  const Id expected = id(exchange.getCompareOperand());
  const Id before =
      result(Op::OpAtomicCompareExchange, types_.type(type),
             {typed(exchange.getPointerOperand(), type), number(device_scope), number(relaxed),
              number(relaxed), id(exchange.getNewValOperand()), expected});
  const Id same = result(Op::OpIEqual, types_.type(llvm::Type::getInt1Ty(function_.getContext())),
                         {before, expected});
  define(instruction, Op::OpCompositeConstruct, {before, same});
}

}  // namespace weft::compiler::emit
