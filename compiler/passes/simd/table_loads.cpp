#include "compiler/passes/simd/table_loads.h"

#include <algorithm>
#include <cmath>

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/MC/MCSubtargetInfo.h>

namespace weft::compiler {
namespace {

using llvm::Constant;
using llvm::Value;

constexpr llvm::StringRef prefix = "weft.table.";
constexpr unsigned register_bytes = 64, short_table = 16;  // bytes of one that AVX permutes

// Elements of a constant variable, and which of them is loaded.
struct Place {
  Constant* initial = nullptr;  // the variable's value
  uint64_t first = 0, count = 0;
  llvm::MapVector<Value*, llvm::APInt> terms;  // of the index, in bytes
  int64_t constant = 0;
};

// The elements that an index of one term may reach, where that is less than the variable.
void narrow(Place& place, uint64_t bytes, const llvm::DataLayout& layout) {
  if (place.terms.size() != 1 || place.terms.front().second != bytes || place.constant < 0) return;
  const llvm::KnownBits known = llvm::computeKnownBits(place.terms.front().first, layout);
  const uint64_t begin = static_cast<uint64_t>(place.constant) / bytes;
  if (!known.isNonNegative() || begin >= place.count) return;
  place.first = begin;
  place.count = std::min(place.count - begin, known.getMaxValue().getLimitedValue(UINT32_MAX) + 1);
}

std::optional<Place> placeOf(const llvm::LoadInst& load, uint64_t bytes) {
  const llvm::DataLayout& layout = load.getDataLayout();
  Place place;
  Value* pointer = const_cast<Value*>(load.getPointerOperand());
  const unsigned bits = layout.getIndexTypeSizeInBits(pointer->getType());
  llvm::APInt constant(bits, 0);
  while (!llvm::isa<llvm::GlobalVariable>(pointer)) {
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer)) {
      pointer = cast->getPointerOperand();
      continue;
    }
    auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer);
    if (!element || !element->collectOffset(layout, bits, place.terms, constant))
      return std::nullopt;
    pointer = element->getPointerOperand();
  }
  auto& variable = *llvm::cast<llvm::GlobalVariable>(pointer);
  if (!variable.isConstant() || !variable.hasDefinitiveInitializer()) return std::nullopt;
  place.initial = variable.getInitializer();
  place.constant = constant.getSExtValue();
  place.count = layout.getTypeAllocSize(place.initial->getType()) / bytes;
  const auto divides = [&](int64_t offset) { return offset % static_cast<int64_t>(bytes) == 0; };
  if (!divides(place.constant) || llvm::any_of(place.terms, [&](const auto& term) {
        return !divides(term.second.getSExtValue());
      }))
    return std::nullopt;
  return place;
}

// The table's values, or nothing if one is not known as a number.
std::optional<llvm::SmallVector<llvm::APInt>> valuesAt(const Place& place, llvm::Type* number,
                                                       const llvm::DataLayout& layout) {
  const uint64_t bytes = number->getIntegerBitWidth() / 8;
  llvm::SmallVector<llvm::APInt> values;
  for (uint64_t i = 0; i < place.count; ++i) {
    const llvm::APInt offset(64, (place.first + i) * bytes);
    auto* value = llvm::dyn_cast_or_null<llvm::ConstantInt>(
        llvm::ConstantFoldLoadFromConst(place.initial, number, offset, layout));
    if (!value) return std::nullopt;
    values.push_back(value->getValue());
  }
  return values;
}

unsigned registersFor(uint64_t count, unsigned bytes) {
  return static_cast<unsigned>(llvm::PowerOf2Ceil(llvm::divideCeil(count * bytes, register_bytes)));
}

// Of a length that registers hold, filled up with zeros.
Constant* tableOf(llvm::ArrayRef<llvm::APInt> values, unsigned bytes, unsigned longest,
                  llvm::LLVMContext& context) {
  uint64_t length = uint64_t{registersFor(values.size(), bytes)} * register_bytes / bytes;
  if (bytes == 1 && values.size() <= short_table) length = short_table;
  length = std::min<uint64_t>(length, longest);
  auto* type = llvm::IntegerType::get(context, 8 * bytes);
  llvm::SmallVector<Constant*> elements(length, Constant::getNullValue(type));
  for (size_t i = 0; i < values.size(); ++i)
    elements[i] = llvm::ConstantInt::get(type, values[i].zextOrTrunc(8 * bytes));
  return llvm::ConstantVector::get(elements);
}

// The bytes of the elements to hold; 0: the table does not fit. Those of tables that are too long
// may be held in fewer bytes than they are loaded in.
unsigned heldBytes(llvm::ArrayRef<llvm::APInt> values, unsigned bytes, bool is_number,
                   const TableLengths& lengths) {
  unsigned needed = 1;
  for (const llvm::APInt& value : values)
    needed = std::max(needed, llvm::divideCeil(value.getActiveBits(), 8u));
  for (unsigned held = bytes; held >= (is_number ? needed : bytes); held /= 2)
    if (values.size() <= lengths[llvm::Log2_32(held)]) return held;
  return 0;
}

// Of a lane alone it is what it says.
llvm::Function* lookupIn(llvm::Module& module, llvm::FixedVectorType* table) {
  llvm::Type* const element = table->getElementType();
  const std::string name = (prefix + llvm::Twine(table->getNumElements()) + "i" +
                            llvm::Twine(element->getIntegerBitWidth()))
                               .str();
  if (llvm::Function* const known = module.getFunction(name)) return known;
  auto* const function =
      llvm::Function::Create(llvm::FunctionType::get(element, {table, element}, false),
                             llvm::Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", function));
  builder.CreateRet(builder.CreateExtractElement(
      function->getArg(0), builder.CreateZExt(function->getArg(1), builder.getInt64Ty())));
  return function;
}

bool replace(llvm::LoadInst& load, const TableLengths& lengths) {
  llvm::Type* const type = load.getType();
  const llvm::DataLayout& layout = load.getDataLayout();
  if (!load.isSimple() || !(type->isIntegerTy() || type->isFloatingPointTy())) return false;
  const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, bits)) return false;
  const unsigned bytes = bits / 8;
  std::optional<Place> place = placeOf(load, bytes);
  if (!place) return false;
  const unsigned longest = *std::max_element(lengths.begin(), lengths.end());
  if (place->count > longest) narrow(*place, bytes, layout);
  if (place->count == 0 || place->count > longest) return false;
  llvm::IRBuilder<> builder(&load);
  llvm::Type* const number = builder.getIntNTy(bits);
  const auto values = valuesAt(*place, number, layout);
  const unsigned held = values ? heldBytes(*values, bytes, type->isIntegerTy(), lengths) : 0;
  if (held == 0) return false;
  Constant* const table = tableOf(*values, held, lengths[llvm::Log2_32(held)], load.getContext());
  llvm::Type* const element = table->getType()->getScalarType();
  const int64_t begin = place->constant / bytes - static_cast<int64_t>(place->first);
  Value* index = llvm::ConstantInt::getSigned(element, begin);
  for (const auto& [value, scale] : place->terms) {
    Value* const factor = llvm::ConstantInt::getSigned(element, scale.getSExtValue() / bytes);
    Value* const term = builder.CreateMul(builder.CreateSExtOrTrunc(value, element), factor);
    index = builder.CreateAdd(term, index);
  }
  auto* const call = builder.CreateCall(
      lookupIn(*load.getModule(), llvm::cast<llvm::FixedVectorType>(table->getType())),
      {table, index});
  Value* const result = builder.CreateBitCast(builder.CreateZExt(call, number), type);
  result->takeName(&load);
  load.replaceAllUsesWith(result);
  load.eraseFromParent();
  return true;
}

// The first `length` elements, or as many and more.
Value* resized(llvm::IRBuilderBase& builder, Value* vector, unsigned begin, unsigned length) {
  const unsigned has = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  if (begin == 0 && length == has) return vector;
  llvm::SmallVector<int> places;
  for (unsigned i = 0; i < length; ++i)
    places.push_back(begin + i < has ? static_cast<int>(begin + i) : -1);
  return builder.CreateShuffleVector(vector, places);
}

struct Permutations {
  llvm::Intrinsic::ID of_one, of_two;
};

Permutations permutationsOf(unsigned bytes) {
  switch (bytes) {
    case 1:
      return {llvm::Intrinsic::x86_avx512_permvar_qi_512,
              llvm::Intrinsic::x86_avx512_vpermi2var_qi_512};
    case 2:
      return {llvm::Intrinsic::x86_avx512_permvar_hi_512,
              llvm::Intrinsic::x86_avx512_vpermi2var_hi_512};
    case 4:
      return {llvm::Intrinsic::x86_avx512_permvar_si_512,
              llvm::Intrinsic::x86_avx512_vpermi2var_d_512};
    default:
      return {llvm::Intrinsic::x86_avx512_permvar_di_512,
              llvm::Intrinsic::x86_avx512_vpermi2var_q_512};
  }
}

// Of as many indices as a register has.
Value* permuted(llvm::IRBuilderBase& builder, Value* table, Value* indices) {
  auto* const type = llvm::cast<llvm::FixedVectorType>(table->getType());
  const unsigned length = type->getNumElements(), bytes = type->getScalarSizeInBits() / 8;
  if (length * bytes == short_table)
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_ssse3_pshuf_b_128, {}, {table, indices});
  const unsigned lanes = register_bytes / bytes;
  if (length < lanes)
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {table, indices});
  const Permutations instructions = permutationsOf(bytes);
  if (length == lanes) return builder.CreateIntrinsic(instructions.of_one, {}, {table, indices});
  const auto pair = [&](unsigned begin) {
    return builder.CreateIntrinsic(instructions.of_two, {},
                                   {resized(builder, table, begin, lanes), indices,
                                    resized(builder, table, begin + lanes, lanes)});
  };
  if (length == 2 * lanes) return pair(0);
  Value* const upper =
      builder.CreateAnd(indices, llvm::ConstantInt::get(indices->getType(), 2 * lanes));
  return builder.CreateSelect(builder.CreateIsNotNull(upper), pair(2 * lanes), pair(0));
}

// How many indices one permutation takes.
unsigned lanesOf(llvm::FixedVectorType& table) {
  const unsigned bytes = table.getScalarSizeInBits() / 8;
  return std::min(table.getNumElements(), register_bytes / bytes);
}

llvm::FixedVectorType& tableType(const llvm::CallBase& call) {
  return *llvm::cast<llvm::FixedVectorType>(call.getArgOperand(0)->getType());
}

}  // namespace

TableLengths tableLengths(const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return {};
  const auto has = [&](const char* features) {
    return machine.getMCSubtargetInfo()->checkFeatures(features);
  };
  if (has("+avx512bw")) return {has("+avx512vbmi") ? 256u : short_table, 128, 64, 32};
  if (has("+avx2")) return {short_table, 0, 8, 0};
  return {};
}

bool loadFromTables(llvm::Function& lane, const LaneShapes& shapes, const TableLengths& lengths) {
  if (lengths[0] == 0) return false;
  bool any = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(lane)))
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        load && shapes.isVarying(load->getPointerOperand()))
      any |= replace(*load, lengths);
  return any;
}

bool isFromTable(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee && callee->getName().starts_with(prefix);
}

Value* takeFromTable(llvm::IRBuilderBase& builder, const llvm::CallBase& call, Value* indices) {
  Value* const table = call.getArgOperand(0);
  const unsigned width = llvm::cast<llvm::FixedVectorType>(indices->getType())->getNumElements();
  const unsigned lanes = lanesOf(tableType(call));
  // LLVM would load as many bytes as a register has, of which fewer have just been stored.
  if (width < lanes) indices = builder.CreateFreeze(indices);
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < width; begin += lanes)
    results.push_back(permuted(builder, table, resized(builder, indices, begin, lanes)));
  return resized(builder, llvm::concatenateVectors(builder, results), 0, width);
}

double costFromTable(const llvm::CallBase& call, unsigned width) {
  llvm::FixedVectorType& type = tableType(call);
  const unsigned lanes = lanesOf(type), registers = type.getNumElements() / lanes;
  return (registers == 4 ? 4 : 1.5) * std::ceil(static_cast<double>(width) / lanes) + 1;
}

}  // namespace weft::compiler
