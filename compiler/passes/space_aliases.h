// What the address spaces of two pointers say of them.
#pragma once

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/PassManager.h>

namespace weft::compiler {

// Local memory is no global memory. LLVM's targets say so of their own spaces, x86 of none. The
// numbers are SPIR's, NVIDIA's and AMD's. Private memory is left out: generated code has what
// belongs to the host in that space, too.
class SpaceAliases : public llvm::AnalysisInfoMixin<SpaceAliases> {
 public:
  class Result : public llvm::AAResultBase {
   public:
    llvm::AliasResult alias(const llvm::MemoryLocation& one, const llvm::MemoryLocation& other,
                            llvm::AAQueryInfo& query, const llvm::Instruction* context) {
      constexpr unsigned global_space = 1, local_space = 3;
      const unsigned a = one.Ptr->getType()->getPointerAddressSpace();
      const unsigned b = other.Ptr->getType()->getPointerAddressSpace();
      if ((a == global_space && b == local_space) || (a == local_space && b == global_space))
        return llvm::AliasResult::NoAlias;
      return AAResultBase::alias(one, other, query, context);
    }
    bool invalidate(llvm::Function&, const llvm::PreservedAnalyses&,
                    llvm::FunctionAnalysisManager::Invalidator&) {
      return false;
    }
  };
  Result run(llvm::Function&, llvm::FunctionAnalysisManager&) { return Result(); }

 private:
  friend llvm::AnalysisInfoMixin<SpaceAliases>;
  static inline llvm::AnalysisKey Key;
};

}  // namespace weft::compiler
