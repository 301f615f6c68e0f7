#include "compiler/passes/loop_calls.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/passes/prepare.h"

namespace weft::compiler {
namespace {

using llvm::CallInst;
using llvm::Function;
using llvm::Value;

// The loop is to stay within a core's caches of instructions, of some 5 bytes each.
constexpr size_t most_growth = 6000;
constexpr size_t few_constants = 4;

bool isStraight(const Function& function) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>> back;
  llvm::FindFunctionBackedges(function, back);
  return back.empty();
}

// What the program's functions without loops have, with all that they call.
class StraightFunctions {
 public:
  // To be asked of callees first.
  void add(const Function& function) {
    if (!isOfProgram(function) || function.hasFnAttribute(llvm::Attribute::NoInline) ||
        function.hasFnAttribute(llvm::Attribute::OptimizeNone) || !isStraight(function))
      return;
    size_t size = function.getInstructionCount();
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<CallInst>(&instruction))
        if (const Function* callee = call->getCalledFunction()) size += sizes_.lookup(callee);
    if (size <= most_growth) sizes_[&function] = size;
  }
  // 0 of all others.
  size_t sizeOf(const CallInst& call) const {
    const Function* callee = call.getCalledFunction();
    if (!callee || call.isNoInline() || callee->getFunctionType() != call.getFunctionType())
      return 0;
    return sizes_.lookup(callee);
  }

 private:
  llvm::DenseMap<const Function*, size_t> sizes_;
};

// Constants written into what `pointer` points to, in `loop`.
size_t constantsIn(const Value& pointer, const llvm::Loop& loop) {
  size_t count = 0;
  for (const llvm::User* user : pointer.users()) {
    const auto* instruction = llvm::cast<llvm::Instruction>(user);
    if (llvm::isa<llvm::GetElementPtrInst>(instruction)) {
      count += constantsIn(*instruction, loop);
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
      count += loop.contains(store) && llvm::isa<llvm::Constant>(store->getValueOperand());
    } else if (llvm::isa<llvm::MemSetInst>(instruction) && loop.contains(instruction)) {
      count += few_constants;
    }
  }
  return count;
}

// Has the caller written constants that the function then reads?
bool passesConstants(const CallInst& call, const llvm::Loop& loop) {
  llvm::SmallPtrSet<const Value*, 8> objects;
  for (const Value* argument : call.args())
    if (argument->getType()->isPointerTy())
      if (const Value* object = llvm::getUnderlyingObject(argument);
          llvm::isa<llvm::AllocaInst>(object))
        objects.insert(object);
  size_t count = 0;
  for (const Value* object : objects) count += constantsIn(*object, loop);
  return count >= few_constants;
}

// Innermost loops first.
std::vector<CallInst*> callsInLoops(Function& function, const StraightFunctions& straight) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::vector<std::pair<unsigned, CallInst*>> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<CallInst>(&instruction); call && straight.sizeOf(*call))
      if (const llvm::Loop* loop = loops.getLoopFor(call->getParent());
          loop && passesConstants(*call, *loop))
        found.emplace_back(loop->getLoopDepth(), call);
  llvm::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<CallInst*> calls;
  for (const auto& [depth, call] : found) calls.push_back(call);
  return calls;
}

// The call and those that come in its place.
void inlineAll(CallInst& call, const StraightFunctions& straight) {
  llvm::SmallVector<CallInst*> work{&call};
  while (!work.empty()) {
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*work.pop_back_val(), info).isSuccess()) continue;
    for (llvm::CallBase* inner : info.InlinedCallSites)
      if (auto* next = llvm::dyn_cast<CallInst>(inner); next && straight.sizeOf(*next))
        work.push_back(next);
  }
}

}  // namespace

void inlineCallsInLoops(llvm::Module& module) {
  std::vector<Function*> callees_first;
  llvm::CallGraph graph(module);
  for (auto it = llvm::scc_begin(&graph); !it.isAtEnd(); ++it)
    if (Function* function = it->front()->getFunction();
        function && !function->isDeclaration() && !it.hasCycle())
      callees_first.push_back(function);
  StraightFunctions straight;
  for (Function* function : callees_first) straight.add(*function);
  for (Function* function : callees_first) {
    if (!isOfProgram(*function) || function->hasFnAttribute(llvm::Attribute::OptimizeNone))
      continue;
    size_t room = most_growth;
    for (CallInst* call : callsInLoops(*function, straight))
      if (const size_t size = straight.sizeOf(*call); size <= room) {
        room -= size;
        inlineAll(*call, straight);
      }
  }
}

}  // namespace weft::compiler
