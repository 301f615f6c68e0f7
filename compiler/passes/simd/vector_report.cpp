#include "compiler/passes/simd/vector_report.h"

#include <set>
#include <tuple>

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/builtins/number_parts.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;

bool isWanted(const llvm::Function& function) {
  return function.getContext().getDiagHandlerPtr()->isAnyRemarkEnabled(vector_remarks);
}

template <class Remark>
void say(const llvm::Function& function, const llvm::DebugLoc& where, const char* name,
         const std::string& text) {
  Remark remark(vector_remarks, name, where, &function.getEntryBlock());
  remark << text;
  function.getContext().diagnose(remark);
}

// The first place of a loop that the source knows.
llvm::DebugLoc placeOf(const llvm::Loop& loop) {
  if (llvm::DebugLoc start = loop.getStartLoc()) return start;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block)
      if (instruction.getDebugLoc()) return instruction.getDebugLoc();
  return {};
}

std::string count(uint64_t number, const char* noun) { return std::to_string(number) + " " + noun; }

// Counts what lanes do, and says where that is slow.
class Survey {
 public:
  Survey(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes)
      : lane_(lane) {
    for (Instruction& instruction : llvm::instructions(lane)) {
      if (!instruction.getType()->isVoidTy()) ++values_[shapes.of(&instruction).kind];
      const bool masked = levels.isMasked(instruction.getParent());
      if (llvm::getLoadStorePointerOperand(&instruction))
        access(instruction, accessForm(instruction, shapes, masked));
      else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        this->call(*call, shapes);
      else if (instruction.isAtomic() && !unitesLanes(instruction, shapes))
        once(instruction, "one lane after the other: atomic");
    }
  }
  std::string text() const {
    const auto forms = [&](AccessForm form) { return accesses_[static_cast<size_t>(form)]; };
    return "values: " + count(values_[LaneShape::uniform], "uniform, ") +
           count(values_[LaneShape::linear], "linear, ") +
           count(values_[LaneShape::varying], "varying; accesses: ") +
           count(forms(AccessForm::once), "for all lanes at once, ") +
           count(forms(AccessForm::vector), "whole vectors, ") +
           count(forms(AccessForm::strided), "strided, ") +
           count(forms(AccessForm::tested), "whole vectors or gathers, ") +
           count(forms(AccessForm::scattered), "gathers or scatters");
  }

 private:
  void access(const Instruction& instruction, AccessForm form) {
    ++accesses_[static_cast<size_t>(form)];
    const bool loads = llvm::isa<llvm::LoadInst>(instruction);
    if (form == AccessForm::scattered)
      once(instruction, loads ? "gather: the address is not linear in the lane"
                              : "scatter: the address is not linear in the lane");
    else if (form == AccessForm::strided)
      once(instruction, "strided: lanes are some elements apart");
    else if (form == AccessForm::serial)
      once(instruction, "one lane after the other: atomic or volatile");
  }
  void call(const llvm::CallInst& call, const LaneShapes& shapes) {
    if (llvm::isa<llvm::IntrinsicInst>(call) || calledNumberPart(call) || exchangeOf(call) ||
        !shapes.isVarying(&call))
      return;
    if (isPixelCall(call) && shapes.isUniform(call.getArgOperand(0))) return;
    if (!hasVectorForm(call)) once(call, "one lane after the other: a call without a vector form");
  }
  void once(const Instruction& instruction, const char* text) {
    const llvm::DebugLoc& where = instruction.getDebugLoc();
    if (!said_.emplace(where ? where.getLine() : 0, where ? where.getCol() : 0, text).second)
      return;
    say<llvm::OptimizationRemarkMissed>(lane_, where, "Slow", text);
  }

  llvm::Function& lane_;
  std::array<uint64_t, 4> values_{};
  std::array<uint64_t, 6> accesses_{};
  std::set<std::tuple<unsigned, unsigned, std::string>> said_;
};

}  // namespace

AccessForm accessForm(const Instruction& access, const LaneShapes& shapes, bool masked) {
  if (access.isAtomic() || access.isVolatile()) return AccessForm::serial;
  const LaneShape shape = shapes.of(llvm::getLoadStorePointerOperand(&access));
  if (shape.kind == LaneShape::uniform) return AccessForm::once;
  llvm::Type* type = llvm::getLoadStoreType(const_cast<Instruction*>(&access));
  const unsigned parts = partCount(type);
  if (parts == 0) return AccessForm::scattered;
  const auto bytes = static_cast<int64_t>(
      access.getDataLayout().getTypeStoreSize(partType(type, 0)).getFixedValue());
  const bool is_load = llvm::isa<llvm::LoadInst>(access);
  const bool in_steps = is_load && (!masked || static_cast<uint64_t>(bytes) >= least_masked);
  if (shape.kind != LaneShape::linear) {
    auto* pointer = const_cast<llvm::Value*>(llvm::getLoadStorePointerOperand(&access));
    const auto size = static_cast<uint64_t>(bytes);
    const bool may_be_vector =
        neighbourIndex(pointer, size * parts, shapes).index ||
        (is_load && parts == 1 && sameIndex(pointer, size, shapes).index) ||
        (in_steps && parts == 1 && reversedIndex(pointer, size, shapes).index) ||
        (in_steps && stridedIndex(pointer, size, parts, widest_stride, shapes).index) ||
        (!is_load && parts > 1 && (!masked || size >= least_masked) &&
         recordIndex(pointer, size, parts, shapes).index);
    return may_be_vector ? AccessForm::tested : AccessForm::scattered;
  }
  if (shape.stride == bytes * parts || (parts == 1 && shape.stride == -bytes))
    return AccessForm::vector;
  const bool near = shape.stride > bytes * parts && shape.stride % bytes == 0 &&
                    shape.stride / bytes <= widest_stride;
  return near && in_steps ? AccessForm::strided : AccessForm::scattered;
}

void reportRefusal(const llvm::Function& region, const Instruction* where, const llvm::Twine& why) {
  if (!isWanted(region)) return;
  say<llvm::OptimizationRemarkMissed>(region, where ? where->getDebugLoc() : llvm::DebugLoc(),
                                      "Scalar", "left to the loop vectoriser: " + why.str());
}

void reportVectors(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                   unsigned width, VectorCost cost) {
  if (!isWanted(lane)) return;
  const auto percent = static_cast<unsigned>(100 * cost.vectors / std::max(cost.lanes, 1.0));
  say<llvm::OptimizationRemark>(lane, llvm::DebugLoc(), "Vectors",
                                count(width, "lanes at once, at an estimated ") +
                                    count(percent, "% of what they take one by one; ") +
                                    Survey(lane, levels, shapes).text());
  for (const Level* level : levels.levels())
    if (level->loop)
      say<llvm::OptimizationRemark>(
          lane, placeOf(*level->loop), "Loop",
          level->divergent ? "lanes leave this loop in different turns: it runs until none is left"
                           : "all lanes take the same turns of this loop");
}

void reportTurned(const llvm::Function& body, unsigned percent) {
  if (!isWanted(body)) return;
  say<llvm::OptimizationRemark>(body, llvm::DebugLoc(), "Turned",
                                "turned, its lanes along dimension 1, where groups are long there: "
                                "accesses take an estimated " +
                                    count(percent, "% of what they take along dimension 0"));
}

void reportJoint(const llvm::Function& body) {
  if (!isWanted(body)) return;
  say<llvm::OptimizationRemark>(body, llvm::DebugLoc(), "Groups",
                                "two work-groups of dimension 0 at once, where their rows are one "
                                "vector long");
}

void reportRows(const llvm::Function& lane, const RowCost& cost,
                llvm::ArrayRef<VectorRows> blocks) {
  if (blocks.empty() || !isWanted(lane)) return;
  std::string text;
  for (const VectorRows& block : blocks)
    text += (text.empty() ? "" : " or ") + std::to_string(block.rows);
  const auto percent = static_cast<unsigned>(100 * cost.shared / std::max(cost.total, 1.0));
  say<llvm::OptimizationRemark>(
      lane, llvm::DebugLoc(), "Rows",
      text + " rows of work-items at once, which share " + count(percent, "% of what a row takes"));
}

}  // namespace weft::compiler
