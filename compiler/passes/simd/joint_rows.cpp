#include "compiler/passes/simd/joint_rows.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/passes/simd/vector_report.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {

using llvm::Function;
using llvm::Instruction;
using llvm::Value;

namespace {

constexpr unsigned longest_chain = 12;                 // instructions from the ids to a condition
constexpr uint64_t page = 4096, last_cache = 8 << 20;  // bytes

bool isConnective(const Instruction& instruction) {
  if (!instruction.getType()->isIntegerTy(1)) return false;
  switch (instruction.getOpcode()) {
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::Select:
    case Instruction::Freeze:
      return true;
    default:
      return false;
  }
}

// Is it always loaded, before anything is written?
bool isLoadedFirst(const llvm::LoadInst& load) {
  const llvm::BasicBlock* entry = load.getParent();
  if (!load.isSimple() || entry != &load.getFunction()->getEntryBlock()) return false;
  for (const Instruction& before : *entry) {
    if (&before == &load) return true;
    if (before.mayWriteToMemory()) return false;
  }
  return false;
}

}  // namespace

JointRows::JointRows(Function& lane, const LaneShapes& shapes, const RowParameters& parameters)
    : lane_(lane), shapes_(shapes), parameters_(parameters) {
  findDifferences();
  for (const llvm::BasicBlock& block : lane) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch && branch->isConditional() && !findConditions(branch->getCondition()))
      possible_ = false;
  }
  if (!possible_) return;
  steps_.emplace(
      lane, parameters, [&](const Value* value) { return differs(value); },
      [&](const Value* value) { return isKnownBefore(value, longest_chain); });
}

// Does it have to be done for each row, whatever its operands are?
bool JointRows::isRepeated(const Instruction& instruction) const {
  if (instruction.isTerminator() || llvm::isa<llvm::FenceInst>(instruction)) return false;
  if (llvm::isa<llvm::AllocaInst>(instruction)) return true;
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return !store->isSimple();
  return !isNote(instruction) && !isOncePerVector(instruction);
}

void JointRows::findDifferences() {
  differing_.insert(lane_.getArg(parameters_.local_id));
  differing_.insert(lane_.getArg(parameters_.lane));
  bool changed = true;
  while (std::exchange(changed, false))
    for (const Instruction& instruction : llvm::instructions(lane_)) {
      const bool differs =
          isRepeated(instruction) || llvm::any_of(instruction.operands(), [&](const auto& operand) {
            return differing_.contains(operand.get());
          });
      if (differs && !instruction.isTerminator()) changed |= differing_.insert(&instruction).second;
    }
}

// What a branch is decided by: rows that agree on all of it take the same way.
bool JointRows::findConditions(const Value* condition) {
  if (!differs(condition)) return true;
  auto* instruction = llvm::dyn_cast<Instruction>(condition);
  if (instruction && isConnective(*instruction))
    return llvm::all_of(instruction->operands(),
                        [&](const auto& operand) { return findConditions(operand.get()); });
  conditions_.insert(condition);
  return shapes_.isUniform(condition) && isKnownBefore(condition, longest_chain);
}

bool JointRows::isKnownBefore(const Value* value, unsigned depth) const {
  if (!llvm::isa<Instruction>(value)) return true;
  auto& instruction = *llvm::cast<Instruction>(value);
  if (depth == 0 || !shapes_.isUniform(value) || llvm::isa<llvm::PHINode>(instruction))
    return false;
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  const bool safe = load ? isLoadedFirst(*load) && !differs(load)
                         : !instruction.mayReadOrWriteMemory() &&
                               llvm::isSafeToSpeculativelyExecute(&instruction);
  return safe && llvm::all_of(instruction.operands(), [&](const auto& operand) {
           return isKnownBefore(operand.get(), depth - 1);
         });
}

// The parameters that differ, in a row that follows the first.
void JointRows::enterRow(llvm::IRBuilder<>& builder, Function& function, Row& row,
                         unsigned number) const {
  Value* place = builder.getInt64(number);
  row[lane_.getArg(parameters_.local_id)] =
      builder.CreateAdd(function.getArg(parameters_.local_id), place, "", true, true);
  Value* lanes = builder.CreateMul(function.getArg(parameters_.row_length), place, "", true, true);
  row[lane_.getArg(parameters_.lane)] =
      builder.CreateAdd(function.getArg(parameters_.lane), lanes, "", true, true);
}

Function* JointRows::join(unsigned rows) const {
  llvm::ValueToValueMapTy first;
  Function* joint = llvm::CloneFunction(&lane_, first);
  joint->setName(lane_.getName() + ".rows");
  std::vector<Row> others(rows - 1);
  llvm::IRBuilder<> builder(&joint->getEntryBlock(), joint->getEntryBlock().begin());
  for (unsigned r = 1; r < rows; ++r) enterRow(builder, *joint, others[r - 1], r);
  for (const Instruction& instruction : llvm::instructions(lane_)) {
    if (!differs(&instruction)) continue;
    auto* place = llvm::cast<Instruction>(first[&instruction]);
    for (Row& row : others) {
      Instruction* copy = place->clone();
      copy->insertAfter(place);
      row[&instruction] = place = copy;
    }
  }
  for (const Instruction& instruction : llvm::instructions(lane_)) {
    if (!differs(&instruction)) continue;
    for (Row& row : others) {
      auto* copy = llvm::cast<Instruction>(row.lookup(&instruction));
      for (unsigned i = 0; i < instruction.getNumOperands(); ++i)
        if (Value* own = row.lookup(instruction.getOperand(i))) copy->setOperand(i, own);
    }
  }
  stepAddresses(first, others);
  llvm::SmallVector<llvm::WeakTrackingVH> copies;
  for (const Row& row : others)
    for (auto& [value, copy] : row) copies.push_back(copy);
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(copies);
  return joint;
}

// What rows access a constant distance apart has one address, and its distance.
void JointRows::stepAddresses(llvm::ValueToValueMapTy& first,
                              llvm::MutableArrayRef<Row> others) const {
  const auto place = [&](const Value* value) -> Value* {
    Value* const became = first.lookup(value);
    return became ? became : const_cast<Value*>(value);
  };
  llvm::DenseMap<std::pair<const Value*, size_t>, Value*> addresses;
  for (const Instruction& instruction : llvm::instructions(lane_)) {
    const Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address || !differs(address) || !steps_->isStepped(address)) continue;
    auto* const start = llvm::cast<Instruction>(place(address));
    llvm::IRBuilder<> builder(start->getNextNode());
    if (!addresses.contains({address, 0})) {
      Value* const step = steps_->step(builder, address, place);
      for (size_t r = 0; r < others.size(); ++r) {
        Value* const distance = builder.CreateMul(step, builder.getInt64(r + 1));
        addresses[{address, r}] = builder.CreatePtrAdd(start, distance);
      }
    }
    for (size_t r = 0; r < others.size(); ++r) {
      auto* copy = llvm::cast<Instruction>(others[r].lookup(&instruction));
      copy->replaceUsesOfWith(const_cast<Value*>(llvm::getLoadStorePointerOperand(copy)),
                              addresses.lookup({address, r}));
    }
  }
}

Value* JointRows::compute(llvm::IRBuilder<>& builder, Function& function, Row& row,
                          const Value* value) const {
  if (Value* known = row.lookup(value)) return known;
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return function.getArg(argument->getArgNo());
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction) return const_cast<Value*>(value);
  Instruction* copy = instruction->clone();
  for (llvm::Use& operand : copy->operands())
    operand.set(compute(builder, function, row, operand.get()));
  return row[value] = builder.Insert(copy);
}

// Can the step between rows be computed before one is run? What is added in all rows is no part of
// it.
bool JointRows::hasKnownStep(const Value* address) const {
  auto* instruction = llvm::dyn_cast<Instruction>(address);
  return !instruction || llvm::all_of(instruction->operands(), [&](const llvm::Use& operand) {
    if (differs(operand)) return hasKnownStep(operand);
    return instruction->getOpcode() != Instruction::Mul || isKnownBefore(operand, longest_chain);
  });
}

// One that writes elements side by side, the rows a step apart.
const llvm::StoreInst* JointRows::findPassingStore() const {
  for (const Instruction& instruction : llvm::instructions(lane_)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !differs(store) || !steps_->isStepped(store->getPointerOperand())) continue;
    if (accessForm(*store, shapes_, /*masked=*/true) == AccessForm::vector &&
        hasKnownStep(store->getPointerOperand()))
      return store;
  }
  return nullptr;
}

// Memory beyond the caches is read ahead where it is passed through in order. Rows that share their
// pages are in order one after the other, and not side by side; those that are parts of vectors are
// nothing but their beginnings and ends.
Value* JointRows::liesWell(llvm::IRBuilder<>& builder, Function& test, unsigned lanes) const {
  const llvm::StoreInst* store = findPassingStore();
  if (!store) return nullptr;
  const llvm::DataLayout& layout = store->getDataLayout();
  Value* bytes = builder.getInt64(
      layout.getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue());
  for (unsigned d = 0; d < 3; ++d)
    bytes = builder.CreateMul(bytes, test.getArg(parameters_.global_size + d));
  Row row;
  Value* step = steps_->step(builder, store->getPointerOperand(), [&](const Value* value) {
    return compute(builder, test, row, value);
  });
  Value* distance = builder.CreateFreeze(
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, step, builder.getFalse()));
  Value* cached = builder.CreateICmpULE(bytes, builder.getInt64(last_cache));
  Value* apart = builder.CreateICmpUGE(distance, builder.getInt64(page / 2));
  Value* partial =
      builder.CreateICmpULT(test.getArg(parameters_.row_length), builder.getInt64(lanes));
  return builder.CreateOr(builder.CreateOr(cached, apart), partial);
}

Function* JointRows::agreement(unsigned rows, unsigned passing) const {
  if (conditions_.empty() && steps_->narrowed().empty() && !(passing && findPassingStore()))
    return nullptr;
  llvm::IRBuilder<> builder(lane_.getContext());
  Function* test = Function::Create(
      llvm::FunctionType::get(builder.getInt1Ty(), lane_.getFunctionType()->params(), false),
      llvm::GlobalValue::InternalLinkage, lane_.getName() + ".agree", lane_.getParent());
  test->addFnAttrs(llvm::AttrBuilder(lane_.getContext(), lane_.getAttributes().getFnAttrs()));
  builder.SetInsertPoint(llvm::BasicBlock::Create(lane_.getContext(), "entry", test));
  llvm::DenseMap<const Value*, Value*> expected;
  Value* agree = builder.getTrue();
  for (unsigned r = 0; r < rows; ++r) {
    Row row;
    if (r > 0) enterRow(builder, *test, row, r);
    for (const Value* condition : conditions_) {
      // Nobody may come to ask: it may be poison.
      Value* here = builder.CreateFreeze(compute(builder, *test, row, condition));
      Value*& there = expected[condition];
      if (r == 0)
        there = here;
      else
        agree = builder.CreateAnd(agree, builder.CreateICmpEQ(there, here));
    }
  }
  for (const Value* wide : steps_->narrowed()) {
    Row first, last;
    enterRow(builder, *test, last, rows - 1);
    const auto half = [&](Row& row) {
      return builder.CreateTrunc(compute(builder, *test, row, wide), builder.getInt32Ty());
    };
    Value* least = half(first);
    agree = builder.CreateAnd(agree, builder.CreateICmpSLE(least, half(last)));
  }
  if (Value* well = passing ? liesWell(builder, *test, passing) : nullptr)
    agree = builder.CreateAnd(agree, well);
  builder.CreateRet(agree);
  return test;
}

}  // namespace weft::compiler
