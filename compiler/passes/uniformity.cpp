#include "compiler/passes/uniformity.h"

#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>

#include "compiler/passes/simd/exchanges.h"
#include "compiler/passes/work_group_functions.h"

namespace weft::compiler {
namespace {

constexpr unsigned constant_address_space = 2;

bool isUniformLoad(const llvm::LoadInst& load) {
  return load.isSimple() &&
         (load.hasMetadata(llvm::LLVMContext::MD_invariant_load) ||
          load.getPointerAddressSpace() == constant_address_space || readsGroupResult(load));
}

// Tells LLVM's divergence analysis where work-items begin to differ.
class LaneInfo : public llvm::TargetTransformInfoImplCRTPBase<LaneInfo> {
 public:
  LaneInfo(const llvm::DataLayout& layout, unsigned first_hidden)
      : TargetTransformInfoImplCRTPBase(layout), first_hidden_(first_hidden) {}

  bool hasBranchDivergence(const llvm::Function* = nullptr) const { return true; }

  bool isSourceOfDivergence(const llvm::Value* value) const {
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(value)) {
      if (argument->getArgNo() < first_hidden_) return false;
      unsigned parameter = argument->getArgNo() - first_hidden_;
      return parameter == env::lane ||
             (parameter >= env::local_id && parameter < env::local_id + 3);
    }
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) return !isUniformLoad(*load);
    // LLVM takes it for uniform where the others agree. But a lane that has no value may not put
    // what it has in the place of those that have one.
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value))
      return llvm::any_of(phi->incoming_values(), [](const llvm::Use& incoming) {
        return llvm::isa<llvm::UndefValue>(incoming);
      });
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(value))
      return !call->doesNotAccessMemory() || call->isConvergent() || exchangeOf(*call);
    return llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst,
                     llvm::FreezeInst, llvm::VAArgInst>(value);
  }

 private:
  unsigned first_hidden_;
};

}  // namespace

struct Uniformity::Analyses {
  llvm::FunctionAnalysisManager manager;
  llvm::UniformityInfo* uniformity;
  llvm::CycleInfo* cycles;

  explicit Analyses(const KernelBody& body) {
    LaneInfo lanes(body.function->getDataLayout(), body.firstHidden());
    manager.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    manager.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    manager.registerPass([] { return llvm::CycleAnalysis(); });
    manager.registerPass([] { return llvm::UniformityInfoAnalysis(); });
    manager.registerPass([&] {
      return llvm::TargetIRAnalysis(
          [lanes](const llvm::Function&) { return llvm::TargetTransformInfo(lanes); });
    });
    uniformity = &manager.getResult<llvm::UniformityInfoAnalysis>(*body.function);
    cycles = &manager.getResult<llvm::CycleAnalysis>(*body.function);
  }
};

Uniformity::Uniformity(const KernelBody& body) : analyses_(std::make_unique<Analyses>(body)) {}

Uniformity::~Uniformity() = default;

bool Uniformity::divides(const llvm::BasicBlock& block) const {
  return analyses_->uniformity->hasDivergentTerminator(block);
}

bool Uniformity::isKnown() const {
  auto reducible = [](auto& self, const llvm::Cycle* cycle) -> bool {
    return cycle->isReducible() &&
           llvm::all_of(cycle->children(), [&](const llvm::Cycle* c) { return self(self, c); });
  };
  return llvm::all_of(analyses_->cycles->toplevel_cycles(),
                      [&](const llvm::Cycle* cycle) { return reducible(reducible, cycle); });
}

bool Uniformity::isUniform(const llvm::Instruction& value) const {
  return !analyses_->uniformity->isDivergent(&value) &&
         llvm::none_of(value.uses(), [&](const llvm::Use& use) {
           return analyses_->uniformity->isDivergentUse(use);
         });
}

}  // namespace weft::compiler
