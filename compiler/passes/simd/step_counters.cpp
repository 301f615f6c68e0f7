#include "compiler/passes/simd/step_counters.h"

#include <algorithm>
#include <optional>

#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/passes/simd/lane_marks.h"
#include "compiler/passes/simd/neighbours.h"
#include "compiler/passes/simd/united_turns.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::ICmpInst;
using llvm::Instruction;
using llvm::Loop;
using llvm::PHINode;
using llvm::Value;

constexpr size_t longest_doubled = 400;  // instructions
// On loops inside of one that has a second form, in the first: they get none of their own.
constexpr llvm::StringLiteral is_rare = "weft.lanes.rare";

// A number that a loop counts in steps that are the same for all lanes.
struct Counter {
  PHINode* number;
  llvm::BinaryOperator* next;  // number + step
  Value* step;
  LaneMark start;  // what may hold of the lanes' first numbers: are_neighbours or are_same
};

Value* startOf(const PHINode& number, const Loop& loop) {
  return number.getIncomingValueForBlock(loop.getLoopPreheader());
}

std::optional<LaneMark> likelyStart(const Value* start, const LaneShapes& shapes) {
  if (mayBeNeighbours(start, shapes)) return LaneMark::are_neighbours;
  if (mayBeSame(start, shapes)) return LaneMark::are_same;
  return std::nullopt;
}

std::optional<Counter> counterOf(PHINode& phi, const Loop& loop, const LaneShapes& shapes) {
  const auto start =
      phi.getType()->isIntegerTy() ? likelyStart(startOf(phi, loop), shapes) : std::nullopt;
  if (!start) return std::nullopt;
  auto* next =
      llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  if (!next || next->getOpcode() != Instruction::Add) return std::nullopt;
  for (const unsigned operand : {0, 1})
    if (Value* step = next->getOperand(1 - operand);
        next->getOperand(operand) == &phi && shapes.isUniform(step) && loop.isLoopInvariant(step))
      return Counter{&phi, next, step, *start};
  return std::nullopt;
}

// How lanes leave the loop, at the end of a turn: when what the counter becomes compares so with
// the bound.
struct End {
  llvm::WeakVH test;
  unsigned bound;  // operand
};

// Compared as numbers that are the further from the counter's start the more turns were taken, they
// must not wrap.
bool isExact(const Counter& counter, const ICmpInst& test) {
  if (test.isEquality()) return true;
  auto* step = llvm::dyn_cast<llvm::ConstantInt>(counter.step);
  if (!step || step->getValue().getSignificantBits() + 4 > step->getBitWidth()) return false;
  return test.isSigned() ? counter.next->hasNoSignedWrap()
                         : counter.next->hasNoUnsignedWrap() && !step->isNegative();
}

// Is it what the counter becomes? Where the test asks whether it is equal to the bound, the lowest
// bits may do.
bool isReached(const ICmpInst& test, const Value* number, const Counter& counter) {
  if (auto* lowest = llvm::dyn_cast<llvm::TruncInst>(number); lowest && test.isEquality())
    number = lowest->getOperand(0);
  return number == counter.next;
}

// May lanes that begin so take the same number of turns?
bool mayEndTogether(LaneMark start, const Value* bound, const LaneShapes& shapes) {
  if (start == LaneMark::are_neighbours) return mayBeNeighbours(bound, shapes);
  return shapes.isUniform(bound) || mayBeSame(bound, shapes);
}

// Is there less between the limits of the window than in the window where it is not cut off? Then
// lanes rather have the same number than one that grows from lane to lane.
bool isWiderThanLimits(const Counter& counter, const Value* bound, const Loop& loop,
                       const LaneShapes& shapes) {
  const Value* start = startOf(*counter.number, loop);
  const auto first = clampedId(start), last = clampedId(bound);
  return first && last && last->limit - first->limit < last->offset - first->offset &&
         mayBeSame(start, shapes);
}

// Settles what the lanes' starts may be, too.
std::optional<End> endOf(const Loop& loop, Counter& counter, const LaneShapes& shapes) {
  BasicBlock* latch = loop.getLoopLatch();
  if (loop.getExitingBlock() != latch) return std::nullopt;
  auto* test = llvm::dyn_cast<ICmpInst>(
      llvm::cast<llvm::BranchInst>(latch->getTerminator())->getCondition());
  if (!test || !loop.contains(test)) return std::nullopt;
  if (llvm::any_of(test->operands(), [&](const Value* bound) {
        return isWiderThanLimits(counter, bound, loop, shapes);
      }))
    counter.start = LaneMark::are_same;
  if (!loop.isInnermost() && counter.start != LaneMark::are_same) return std::nullopt;
  for (const unsigned bound : {0, 1}) {
    Value* value = test->getOperand(bound);
    if (isReached(*test, test->getOperand(1 - bound), counter) && loop.isLoopInvariant(value) &&
        mayEndTogether(counter.start, value, shapes) && isExact(counter, *test))
      return End{test, bound};
  }
  return std::nullopt;
}

// Other extensions of what the start extends become it, so that they are seen to be the same.
void uniteExtensions(Value& start) {
  auto* extended = llvm::dyn_cast<llvm::CastInst>(&start);
  if (!extended || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extended)) return;
  Value& source = *extended->getOperand(0);
  for (llvm::User* user : llvm::make_early_inc_range(source.users())) {
    auto* other = llvm::dyn_cast<llvm::CastInst>(user);
    if (!other || other == extended || other->getParent() != extended->getParent() ||
        other->getType() != extended->getType() ||
        !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(other))
      continue;
    if (other->getOpcode() != extended->getOpcode() &&
        !llvm::isKnownNonNegative(&source, extended->getDataLayout()))
      continue;
    if (other->comesBefore(extended)) extended->moveBefore(other);
    extended->andIRFlags(other);
    other->replaceAllUsesWith(extended);
    other->eraseFromParent();
  }
}

// What was taken from a number may have been its start. Phis stay: those behind a loop keep what
// each lane left it with.
void simplifyUsers(const Value& number) {
  llvm::SmallVector<llvm::WeakTrackingVH> open;
  const auto addUsers = [&](const Value& of) {
    for (const llvm::User* user : of.users())
      if (!llvm::isa<PHINode>(user)) open.push_back(const_cast<llvm::User*>(user));
  };
  addUsers(number);
  while (!open.empty()) {
    auto* user = llvm::dyn_cast_or_null<Instruction>(open.pop_back_val());
    Value* simpler = user ? llvm::simplifyInstruction(user, user->getDataLayout()) : nullptr;
    if (!simpler) continue;
    addUsers(*user);
    user->replaceAllUsesWith(simpler);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(user);
  }
}

struct Counted : CountedSteps {
  LaneMark likely;  // of the start
};

Counted countApart(const Counter& counter, const Loop& loop) {
  PHINode& number = *counter.number;
  Value* start = startOf(number, loop);
  uniteExtensions(*start);
  llvm::IRBuilder<> builder(&number);
  PHINode* steps = builder.CreatePHI(number.getType(), 2, "steps");
  builder.SetInsertPoint(counter.next);
  auto* taken = llvm::cast<Instruction>(builder.CreateAdd(steps, counter.step));
  steps->addIncoming(llvm::ConstantInt::get(number.getType(), 0), loop.getLoopPreheader());
  steps->addIncoming(taken, loop.getLoopLatch());
  builder.SetInsertPoint(loop.getHeader(), loop.getHeader()->getFirstInsertionPt());
  const llvm::WeakVH sum(builder.CreateAdd(start, steps));
  number.replaceAllUsesWith(sum);
  number.eraseFromParent();
  simplifyUsers(*sum);
  return {{start, counter.step, sum, steps, taken}, counter.start};
}

// The form of a loop for lanes that begin as neighbours, or at the same number, and take as many
// turns.
class Together {
 public:
  Together(Loop& loop, llvm::LoopInfo& loops, llvm::DominatorTree& tree)
      : loop_(loop), loops_(loops), tree_(tree) {}

  void add(const Counted& counted, const std::optional<End>& end) {
    starts_.push_back(counted);
    if (!end || test_) return;
    test_ = llvm::dyn_cast_or_null<ICmpInst>(end->test);
    bound_ = end->bound;
    ends_ = counted;
  }

  llvm::SmallVector<CountedSteps> counted() const { return {starts_.begin(), starts_.end()}; }

  void make() {
    if (!test_ || size() > longest_doubled) return;
    BasicBlock* before = loop_.getLoopPreheader();
    llvm::IRBuilder<> builder(before->getTerminator());
    llvm::Type* const type = test_->getOperand(bound_)->getType();
    Value* turns =
        builder.CreateSub(test_->getOperand(bound_), builder.CreateTrunc(ends_.start, type));
    Value* holds = createLaneMark(builder, LaneMark::are_same, turns);
    llvm::SmallVector<Value*> known;
    for (const Counted& counted : starts_) {
      holds = builder.CreateAnd(holds, createLaneMark(builder, counted.likely, counted.start));
      known.push_back(createLaneMark(
          builder, counted.likely == LaneMark::are_same ? LaneMark::first : LaneMark::neighbour,
          counted.start));
    }
    turns = createLaneMark(builder, LaneMark::first, turns);
    if (!test_->isEquality()) {
      holds = builder.CreateAnd(holds, isSmall(builder, turns));
      holds = builder.CreateAnd(
          holds, isSmall(builder, createLaneMark(builder, LaneMark::first, ends_.start)));
    }
    llvm::ValueToValueMapTy map;
    clone(holds, map);
    for (BasicBlock* block : loop_.blocks())
      for (Instruction& instruction : *llvm::cast<BasicBlock>(map[block]))
        for (size_t i = 0; i < starts_.size(); ++i)
          instruction.replaceUsesOfWith(starts_[i].start, known[i]);
    auto* test = llvm::cast<ICmpInst>(map[test_]);
    builder.SetInsertPoint(test);
    Value* operands[2];
    operands[bound_] = turns;
    operands[1 - bound_] = builder.CreateTrunc(map[ends_.taken], type);
    test->replaceAllUsesWith(builder.CreateICmp(test->getPredicate(), operands[0], operands[1]));
    test->eraseFromParent();
  }

 private:
  size_t size() const {
    size_t sum = 0;
    for (const BasicBlock* block : loop_.blocks()) sum += block->size();
    return sum;
  }

  // So small that sums of some of them do not wrap.
  Value* isSmall(llvm::IRBuilder<>& builder, Value* number) const {
    const unsigned bits = number->getType()->getIntegerBitWidth();
    llvm::Constant* limit =
        llvm::ConstantInt::get(number->getType(), llvm::APInt::getOneBitSet(bits, bits - 3));
    if (test_->isUnsigned()) return builder.CreateICmpULT(number, limit);
    return builder.CreateAnd(builder.CreateICmpSLT(number, limit),
                             builder.CreateICmpSGT(number, builder.CreateNeg(limit)));
  }

  // Both forms end in the same block.
  void clone(Value* together, llvm::ValueToValueMapTy& map) {
    BasicBlock *const before = loop_.getLoopPreheader(), *const exit = loop_.getExitBlock();
    BasicBlock *const apart = llvm::SplitBlock(before, before->getTerminator(), &tree_, &loops_),
                      *const latch = loop_.getLoopLatch();
    llvm::SmallVector<BasicBlock*> blocks;
    Loop* copy = llvm::cloneLoopWithPreheader(apart, before, &loop_, map, ".together", &loops_,
                                              &tree_, blocks);
    llvm::remapInstructionsInBlocks(blocks, map);
    llvm::ReplaceInstWithInst(before->getTerminator(),
                              llvm::BranchInst::Create(copy->getLoopPreheader(), apart, together));
    const auto copied = [&](Value* value) {
      Value* found = map.lookup(value);
      return found ? found : value;
    };
    for (Loop* inner : loop_.getLoopsInPreorder())
      if (inner != &loop_) llvm::addStringMetadataToLoop(inner, is_rare.data(), 1);
    for (PHINode& phi : exit->phis())
      phi.addIncoming(copied(phi.getIncomingValueForBlock(latch)), copy->getLoopLatch());
    tree_.changeImmediateDominator(exit, before);
    for (Loop* loop : {&loop_, copy})
      llvm::formDedicatedExitBlocks(loop, &tree_, &loops_, nullptr, /*PreserveLCSSA=*/true);
  }

  Loop& loop_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& tree_;
  llvm::SmallVector<Counted> starts_;
  ICmpInst* test_ = nullptr;
  unsigned bound_ = 0;  // the test's operand
  Counted ends_{};      // what is compared with it
};

}  // namespace

bool countStepsApart(llvm::Function& lane, const LaneShapes& shapes) {
  llvm::DominatorTree tree(lane);
  llvm::LoopInfo loops(tree);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<std::pair<Counter, std::optional<End>>> counters;
    for (PHINode& phi : loop->getHeader()->phis())
      if (auto counter = counterOf(phi, *loop, shapes)) {
        const auto end = endOf(*loop, *counter, shapes);
        counters.emplace_back(*counter, end);
      }
    if (counters.empty()) continue;
    // What the loop ends by comes first.
    std::ranges::stable_partition(counters,
                                  [](const auto& each) { return each.second.has_value(); });
    const auto& [first, end] = counters.front();
    const auto turns = end ? nearTurns(*loop, startOf(*first.number, *loop), *first.next,
                                       *llvm::cast<ICmpInst>(static_cast<Value*>(end->test)),
                                       end->bound, first.start == LaneMark::are_neighbours, shapes)
                           : std::nullopt;
    Together together(*loop, loops, tree);
    for (const auto& [counter, end] : counters) together.add(countApart(counter, *loop), end);
    if (!llvm::getBooleanLoopAttribute(loop, is_rare)) together.make();
    if (turns) uniteTurns(*loop, *turns, together.counted());
    return true;
  }
  return false;
}

}  // namespace weft::compiler
