#include "compiler/passes/simd/loop_rows.h"

#include <algorithm>

#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "compiler/passes/simd/joined_loads.h"
#include "compiler/passes/simd/loop_evolution.h"
#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::LoadInst;
using llvm::Value;

constexpr const char* note = "weft.row";  // with the number of the load
constexpr uint64_t cache_line = 64;       // bytes
constexpr unsigned least_turns = 4;
constexpr uint64_t least_row = 8;  // bytes: taking apart less costs as much as loading its elements
constexpr size_t longest_body = 256;  // instructions of all turns at a time

class LoopRows {
 public:
  LoopRows(llvm::Function& lane, const LaneShapes& shapes, const ControlLevels& levels,
           llvm::TargetMachine& machine, unsigned width)
      : lane_(lane),
        shapes_(shapes),
        levels_(levels),
        width_(width),
        analyses_(lane),
        target_(machine.getTargetTransformInfo(lane)) {}

  bool run() {
    bool any = false;
    for (llvm::Loop* loop : analyses_.loops.getLoopsInPreorder())
      if (isPlain(*loop)) any |= change(*loop);
    return any;
  }

 private:
  // One block that all lanes leave together and that writes nothing, so that later turns' loads may
  // come first.
  bool isPlain(const llvm::Loop& loop) const {
    const BasicBlock* body = loop.getHeader();
    if (loop.getNumBlocks() != 1 || !loop.isLoopSimplifyForm() || shapes_.varies(body))
      return false;
    return !levels_.levelOf(body).divergent && llvm::none_of(*body, [](const auto& instruction) {
      return instruction.mayHaveSideEffects() || instruction.isVolatile();
    });
  }

  // Does each turn load the element behind that of the turn before?
  bool goesOn(const LoadInst& load, const llvm::Loop& loop) {
    auto* place = llvm::dyn_cast<llvm::SCEVAddRecExpr>(
        evolution_.getSCEV(const_cast<Value*>(load.getPointerOperand())));
    if (!place || place->getLoop() != &loop || !place->isAffine()) return false;
    auto* step = llvm::dyn_cast<llvm::SCEVConstant>(place->getStepRecurrence(evolution_));
    return step && step->getAPInt() == bytesOf(load);
  }

  static uint64_t bytesOf(const LoadInst& load) {
    return load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
  }

  llvm::SmallVector<LoadInst*> rowsOf(const llvm::Loop& loop) {
    llvm::SmallVector<LoadInst*> rows;
    for (Instruction& instruction : *loop.getHeader()) {
      auto* load = llvm::dyn_cast<LoadInst>(&instruction);
      if (load && isApart(*load, shapes_) && goesOn(*load, loop)) rows.push_back(load);
    }
    return rows;
  }

  // How many turns at a time, fewer than there are, so that a loop is left: all rows are of as many
  // elements, and squares are turned best.
  unsigned turnsFor(const llvm::Loop& loop, llvm::ArrayRef<LoadInst*> rows) {
    unsigned turns = width_;
    for (const LoadInst* row : rows) turns = std::min<unsigned>(turns, cache_line / bytesOf(*row));
    const size_t length = loop.getHeader()->size();
    const unsigned known = evolution_.getSmallConstantTripCount(&loop);
    while (turns >= least_turns && (turns * length > longest_body || (known && known <= turns)))
      turns /= 2;
    return turns < least_turns ? 0 : turns;
  }

  bool change(llvm::Loop& loop) {
    llvm::SmallVector<LoadInst*> rows = rowsOf(loop);
    const unsigned turns = rows.empty() ? 0 : turnsFor(loop, rows);
    llvm::erase_if(rows, [&](const LoadInst* row) { return turns * bytesOf(*row) < least_row; });
    if (rows.empty()) return false;
    llvm::LLVMContext& context = lane_.getContext();
    llvm::IRBuilder<> builder(context);
    for (unsigned i = 0; i < rows.size(); ++i)
      rows[i]->setMetadata(
          note, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(builder.getInt32(i))));
    BasicBlock* body = loop.getHeader();
    llvm::OptimizationRemarkEmitter remarks(&lane_);
    const llvm::LoopUnrollResult result =
        llvm::UnrollLoop(&loop,
                         {.Count = turns,
                          .Force = false,
                          .Runtime = true,
                          .AllowExpensiveTripCount = false,
                          .UnrollRemainder = false,
                          .ForgetAllSCEV = false},
                         &analyses_.loops, &evolution_, &analyses_.tree, &analyses_.assumptions,
                         &target_, &remarks, /*PreserveLCSSA=*/true);
    if (result != llvm::LoopUnrollResult::Unmodified) joinTurns(*body, rows.size(), turns);
    for (BasicBlock& block : lane_)
      for (Instruction& instruction : block) instruction.setMetadata(note, nullptr);
    return result != llvm::LoopUnrollResult::Unmodified;
  }

  // Copies of a load of `turns` turns, where all came to lie in one block, become one.
  void joinTurns(BasicBlock& body, size_t rows, unsigned turns) {
    std::vector<llvm::SmallVector<LoadInst*>> copies(rows);
    for (Instruction& instruction : body)
      if (llvm::MDNode* which = instruction.getMetadata(note))
        copies[llvm::mdconst::extract<llvm::ConstantInt>(which->getOperand(0))->getZExtValue()]
            .push_back(llvm::cast<LoadInst>(&instruction));
    for (llvm::ArrayRef<LoadInst*> row : copies)
      if (row.size() == turns) joinLoads(row, *row.front(), 0);
  }

  llvm::Function& lane_;
  const LaneShapes& shapes_;
  const ControlLevels& levels_;
  unsigned width_;
  LoopEvolution analyses_;
  llvm::ScalarEvolution& evolution_ = analyses_.evolution;
  llvm::TargetTransformInfo target_;
};

}  // namespace

bool loadLoopsByRows(llvm::Function& lane, const LaneShapes& shapes, const ControlLevels& levels,
                     llvm::TargetMachine& machine, unsigned width) {
  return LoopRows(lane, shapes, levels, machine, width).run();
}

}  // namespace weft::compiler
