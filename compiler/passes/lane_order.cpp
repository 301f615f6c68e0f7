#include "compiler/passes/lane_order.h"

#include <optional>
#include <vector>

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "compiler/passes/scalarise_lanes.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;

// SPIR's address spaces that overlap no other one.
constexpr unsigned global_space = 1, constant_space = 2, local_space = 3;
// How many elements apart accesses are taken as one at most.
constexpr uint64_t most_apart = 8;
// Beyond that nobody looks at each pair.
constexpr size_t most_accesses = 256;

// Where a place is if no number of it wraps before it is extended, which the loop vectoriser tests
// at run time where it has to.
class WithoutWrap : public llvm::SCEVRewriteVisitor<WithoutWrap> {
 public:
  explicit WithoutWrap(llvm::ScalarEvolution& evolution) : SCEVRewriteVisitor(evolution) {}

  const llvm::SCEV* visitZeroExtendExpr(const llvm::SCEVZeroExtendExpr* extended) {
    return extend(visit(extended->getOperand()), extended->getType(), false);
  }
  const llvm::SCEV* visitSignExtendExpr(const llvm::SCEVSignExtendExpr* extended) {
    return extend(visit(extended->getOperand()), extended->getType(), true);
  }

 private:
  const llvm::SCEV* extend(const llvm::SCEV* number, llvm::Type* type, bool is_signed) {
    if (auto* growing = llvm::dyn_cast<llvm::SCEVAddRecExpr>(number);
        growing && growing->isAffine())
      return SE.getAddRecExpr(extend(growing->getStart(), type, is_signed),
                              extend(growing->getStepRecurrence(SE), type, is_signed),
                              growing->getLoop(), llvm::SCEV::FlagAnyWrap);
    if (auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(number)) {
      llvm::SmallVector<const llvm::SCEV*> parts;
      for (const llvm::SCEV* part : sum->operands()) parts.push_back(extend(part, type, is_signed));
      return SE.getAddExpr(parts);
    }
    const bool is_number = llvm::isa<llvm::SCEVConstant>(number);
    return is_signed || is_number ? SE.getSignExtendExpr(number, type)
                                  : SE.getZeroExtendExpr(number, type);
  }
};

struct Access {
  Value* pointer;
  const llvm::SCEV* without_wrap;
  uint64_t bytes;
  bool is_store;
};

class OrderSearch {
 public:
  explicit OrderSearch(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}

  // What comes later in the order of the turn comes later in the order of calls.
  void add(llvm::BasicBlock& block) {
    const llvm::DataLayout& layout = block.getModule()->getDataLayout();
    for (Instruction& instruction : block) {
      Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (!pointer) continue;
      const uint64_t bytes =
          layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue();
      const llvm::SCEV* place = WithoutWrap(evolution_).visit(evolution_.getSCEV(pointer));
      accesses_.push_back({pointer, place, bytes, llvm::isa<llvm::StoreInst>(instruction)});
    }
  }

  bool find() {
    if (accesses_.size() > most_accesses) return true;
    for (size_t first = 0; first < accesses_.size(); ++first)
      for (size_t last = first + 2; last < accesses_.size(); ++last)
        if (mayBeOne(accesses_[first], accesses_[last]) && isOrdered(first, last)) return true;
    return false;
  }

 private:
  // Of the second from the first, where that is a number.
  std::optional<int64_t> distance(const Access& a, const Access& b) {
    if (a.pointer->getType() != b.pointer->getType()) return std::nullopt;
    return numberOf(
        evolution_.getMinusSCEV(evolution_.getSCEV(b.pointer), evolution_.getSCEV(a.pointer)));
  }
  static std::optional<int64_t> numberOf(const llvm::SCEV* difference) {
    auto* number = llvm::dyn_cast<llvm::SCEVConstant>(difference);
    if (!number) return std::nullopt;
    return number->getAPInt().trySExtValue();
  }

  bool mayBeOne(const Access& a, const Access& b) {
    if (a.is_store != b.is_store || a.bytes != b.bytes ||
        a.pointer->getType() != b.pointer->getType())
      return false;
    const std::optional<int64_t> apart =
        numberOf(evolution_.getMinusSCEV(b.without_wrap, a.without_wrap));
    return apart && *apart != 0 && static_cast<uint64_t>(std::abs(*apart)) < most_apart * a.bytes;
  }

  bool mayOverlap(const Access& a, const Access& b) {
    if (const std::optional<int64_t> apart = distance(a, b))
      return *apart < static_cast<int64_t>(a.bytes) && -*apart < static_cast<int64_t>(b.bytes);
    const unsigned one = a.pointer->getType()->getPointerAddressSpace();
    const unsigned other = b.pointer->getType()->getPointerAddressSpace();
    const auto stands_alone = [](unsigned space) {
      return space >= global_space && space <= local_space;
    };
    if (one == constant_space || other == constant_space) return false;
    if (one != other && stands_alone(one) && stands_alone(other)) return false;
    const Value *place = llvm::getUnderlyingObject(a.pointer),
                *other_place = llvm::getUnderlyingObject(b.pointer);
    return place == other_place || !llvm::isIdentifiedObject(place) ||
           !llvm::isIdentifiedObject(other_place);
  }

  // Stores move behind what follows them, and loads ahead of what is before them.
  bool isOrdered(size_t first, size_t last) {
    const bool stores = accesses_[first].is_store;
    for (size_t i = first + 1; i < last; ++i)
      if ((stores || accesses_[i].is_store) &&
          mayOverlap(accesses_[i], accesses_[stores ? first : last]))
        return true;
    return false;
  }

  llvm::ScalarEvolution& evolution_;
  std::vector<Access> accesses_;
};

// The loop vectoriser's own start is where it is known what it gets: loops that are unrolled and
// source vectors that are taken apart show accesses that were not there before.
class KeepLaneOrder : public llvm::PassInfoMixin<KeepLaneOrder> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
      if (!loop->isInnermost() || !isOverLanes(*loop)) continue;
      OrderSearch search(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function));
      for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function))
        if (loop->contains(block)) search.add(*block);
      if (search.find()) llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    }
    return llvm::PreservedAnalyses::all();
  }
};

}  // namespace

bool mayLoseOrder(llvm::Function& region) {
  llvm::DominatorTree tree(region);
  llvm::LoopInfo loops(tree);
  if (!loops.empty()) return false;  // only an innermost loop is vectorised
  llvm::AssumptionCache assumptions(region);
  llvm::TargetLibraryInfoImpl names(llvm::Triple(region.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo library(names);
  llvm::ScalarEvolution evolution(region, library, assumptions, tree, loops);
  OrderSearch search(evolution);
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&region))
    search.add(*block);
  return search.find();
}

void keepLaneOrder(llvm::PassBuilder& builder) {
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(KeepLaneOrder());
      });
}

}  // namespace weft::compiler
