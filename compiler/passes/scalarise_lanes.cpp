#include "compiler/passes/scalarise_lanes.h"

#include <cmath>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace weft::compiler {
namespace {

bool onlyLanesLoop(const llvm::LoopInfo& loops) {
  bool any = false;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    if (!isOverLanes(*loop)) return false;
    any = true;
  }
  return any;
}

constexpr double call_cost = 20;  // of arithmetic

using Blocks = llvm::ArrayRef<const llvm::BasicBlock*>;

// What code computes from what it loads, which is not how it makes addresses.
class LoadedData {
 public:
  explicit LoadedData(Blocks blocks) {
    for (const llvm::BasicBlock* block : blocks)
      for (const llvm::Instruction& instruction : *block)
        if (llvm::isa<llvm::LoadInst>(instruction) ||
            llvm::any_of(instruction.operands(),
                         [&](const llvm::Use& operand) { return made_.contains(operand.get()); }))
          made_.insert(&instruction);
  }
  bool makes(const llvm::Instruction& instruction) const { return made_.contains(&instruction); }

 private:
  llvm::SmallPtrSet<const llvm::Value*, 32> made_;
};

// What takes part in it by its elements: not what names parts of vectors or makes addresses.
llvm::Type* elementwiseType(const llvm::Instruction& instruction, const LoadedData& data) {
  if (llvm::getLoadStorePointerOperand(&instruction))
    return llvm::getLoadStoreType(const_cast<llvm::Instruction*>(&instruction));
  llvm::Type* const type = instruction.getType();
  const bool takes_part = llvm::isa<llvm::UnaryOperator, llvm::BinaryOperator, llvm::CastInst,
                                    llvm::CallInst, llvm::SelectInst>(instruction) &&
                          !llvm::isa<llvm::BitCastInst>(instruction) &&
                          (type->isVectorTy() || type->isFloatingPointTy() ||
                           (type->isIntegerTy() && data.makes(instruction)));
  return takes_part ? type : nullptr;
}

// In vectors' instructions, for as many lanes as a register has room for of the largest elements:
// lane by lane in the source's vectors, and in vectors of lanes, for which those that lie in memory
// are turned, log2(n) shuffles for each of n elements, of which processors do fewer at once.
struct LanesCost {
  double lane_by_lane = 0;
  double apart = 0;

  void operator+=(const LanesCost& other) {
    lane_by_lane += other.lane_by_lane;
    apart += other.apart;
  }
};
constexpr double narrow_bits = 16, narrow_shuffle_cost = 2;
LanesCost costOf(const llvm::Instruction& instruction, llvm::Type* type, double register_bits,
                 double lanes) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const double count = vector ? vector->getNumElements() : 1;
  const double bits = std::max(type->getScalarSizeInBits(), 8u);
  const double registers_apart = std::max(1.0, lanes * bits / register_bits);
  const bool in_memory = llvm::getLoadStorePointerOperand(&instruction) != nullptr;
  const bool called =
      llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
  LanesCost cost{lanes * std::ceil(count * bits / register_bits), count * registers_apart};
  // One of the target's own, which works on the whole.
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      intrinsic && intrinsic->getCalledFunction()->isTargetIntrinsic())
    cost.apart = lanes * 2 * count;
  if (called) return {cost.lane_by_lane * call_cost, cost.apart * call_cost};
  const double shuffle_cost = bits <= narrow_bits ? narrow_shuffle_cost : 1;
  if (in_memory) cost.apart += shuffle_cost * count * std::log2(count) * registers_apart;
  return cost;
}

// What takes part, and the bits of the largest element of a vector.
struct TakingPart {
  std::vector<std::pair<const llvm::Instruction*, llvm::Type*>> instructions;
  double largest = 8;

  void add(Blocks blocks) {
    const LoadedData data(blocks);
    for (const llvm::BasicBlock* block : blocks)
      for (const llvm::Instruction& instruction : *block)
        if (llvm::Type* type = elementwiseType(instruction, data)) {
          instructions.emplace_back(&instruction, type);
          if (type->isVectorTy()) largest = std::max<double>(largest, type->getScalarSizeInBits());
        }
  }
  LanesCost cost(double register_bits, double lanes) const {
    LanesCost sum;
    for (const auto& [instruction, type] : instructions)
      sum += costOf(*instruction, type, register_bits, lanes);
    return sum;
  }
};

bool paysApart(const llvm::LoopInfo& loops, double register_bits) {
  TakingPart all;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost()) all.add(loop->getBlocks());
  const LanesCost cost = all.cost(register_bits, register_bits / all.largest);
  return cost.apart <= cost.lane_by_lane;
}

class ScalariseLanes : public llvm::PassInfoMixin<ScalariseLanes> {
 public:
  ScalariseLanes() {
    llvm::ScalarizerPassOptions options;
    options.ScalarizeLoadStore = true;
    passes_.addPass(llvm::ScalarizerPass(options));
    passes_.addPass(llvm::InstCombinePass());
    passes_.addPass(llvm::EarlyCSEPass(true));
  }

  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    const auto register_bits =
        analyses.getResult<llvm::TargetIRAnalysis>(function)
            .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
            .getFixedValue();
    return onlyLanesLoop(loops) && paysApart(loops, static_cast<double>(register_bits))
               ? passes_.run(function, analyses)
               : llvm::PreservedAnalyses::all();
  }

 private:
  llvm::FunctionPassManager passes_;
};

}  // namespace

bool vectorsFillRegisters(const llvm::Function& lane, double register_bits) {
  constexpr double bits_of_lane = 32;
  constexpr unsigned many_elements = 8;
  TakingPart all;
  llvm::SmallVector<const llvm::BasicBlock*> blocks;
  for (const llvm::BasicBlock& block : lane) blocks.push_back(&block);
  all.add(blocks);
  size_t accesses = 0, by_registers = 0;
  for (const auto& [instruction, type] : all.instructions) {
    if (!llvm::getLoadStorePointerOperand(instruction)) continue;
    ++accesses;
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    by_registers += vector && vector->getNumElements() >= many_elements &&
                    vector->getScalarSizeInBits() <= narrow_bits;
  }
  const LanesCost cost = all.cost(register_bits, register_bits / bits_of_lane);
  return 2 * by_registers > accesses && cost.lane_by_lane < cost.apart;
}

bool isOverLanes(const llvm::Loop& loop) {
  return llvm::findOptionMDForLoop(&loop, "llvm.loop.parallel_accesses") != nullptr;
}

void scalariseLanes(llvm::PassBuilder& builder) {
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(ScalariseLanes());
      });
}

}  // namespace weft::compiler
