// How numbers and addresses of a function grow in its loops: scalar evolution and what that needs.
#pragma once

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {

struct LoopEvolution {
  explicit LoopEvolution(llvm::Function& function)
      : assumptions(function),
        tree(function),
        loops(tree),
        names(llvm::Triple(function.getParent()->getTargetTriple())),
        library(names),
        evolution(function, library, assumptions, tree, loops) {}

  llvm::AssumptionCache assumptions;
  llvm::DominatorTree tree;
  llvm::LoopInfo loops;
  llvm::TargetLibraryInfoImpl names;
  llvm::TargetLibraryInfo library;
  llvm::ScalarEvolution evolution;
};

}  // namespace weft::compiler
