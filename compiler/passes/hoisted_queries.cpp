#include "compiler/passes/hoisted_queries.h"

#include <algorithm>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::CallInst;
using llvm::Function;
using llvm::Value;

// Instructions that inlining would make of one function.
constexpr size_t very_much_code = 10'000;

// A question, and the calls that ask it.
using Question = std::pair<Function*, llvm::SmallVector<Value*, 1>>;
struct Asked {
  Question question;
  llvm::SmallVector<CallInst*> calls;
};

std::optional<Question> questionOf(const CallInst& call) {
  Function* callee = call.getCalledFunction();
  if (!callee || !asksAboutWorkItem(*callee)) return std::nullopt;
  Question question{callee, {}};
  for (Value* argument : call.args()) {
    if (!llvm::isa<llvm::Constant>(argument)) return std::nullopt;
    question.second.push_back(argument);
  }
  return question;
}

// nullopt: something else ties it to the kernel, or nothing does.
std::optional<std::vector<Asked>> questionsOf(Function& function) {
  std::vector<Asked> all;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<CallInst>(&instruction);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || (!isWorkItemQuery(*callee) && !isBarrier(*callee))) continue;
    std::optional<Question> question = questionOf(*call);
    if (!question) return std::nullopt;
    auto known = llvm::find_if(all, [&](const Asked& a) { return a.question == *question; });
    if (known == all.end()) known = all.insert(known, Asked{std::move(*question), {}});
    known->calls.push_back(call);
  }
  if (all.empty()) return std::nullopt;
  return all;
}

bool isOnlyCalled(const Function& function) {
  return llvm::all_of(function.uses(), [&](const llvm::Use& use) {
    auto* call = llvm::dyn_cast<CallInst>(use.getUser());
    return call && call->isCallee(&use) && call->getFunctionType() == function.getFunctionType() &&
           !call->isMustTailCall();
  });
}

bool mayStay(const Function& function) {
  return !function.isDeclaration() && !function.isVarArg() &&
         function.hasFnAttribute(llvm::Attribute::NoInline) &&
         !function.hasFnAttribute(llvm::Attribute::OptimizeNone) &&
         function.getCallingConv() != llvm::CallingConv::SPIR_KERNEL && isOnlyCalled(function);
}

// The function with parameters for what it asked. Its old shell is left without a body.
Function* withParameters(Function& old, llvm::ArrayRef<Asked> asked) {
  llvm::SmallVector<llvm::Type*> types(old.getFunctionType()->params());
  for (const Asked& a : asked) types.push_back(a.calls.front()->getType());
  auto* type = llvm::FunctionType::get(old.getReturnType(), types, false);
  Function* function =
      Function::Create(type, old.getLinkage(), old.getAddressSpace(), "", old.getParent());
  function->takeName(&old);
  function->copyAttributesFrom(&old);
  function->copyMetadata(&old, 0);
  function->splice(function->begin(), &old);
  for (llvm::Argument& argument : old.args()) {
    argument.replaceAllUsesWith(function->getArg(argument.getArgNo()));
    function->getArg(argument.getArgNo())->takeName(&argument);
  }
  for (size_t i = 0; i < asked.size(); ++i)
    for (CallInst* call : asked[i].calls) {
      call->replaceAllUsesWith(function->getArg(old.arg_size() + i));
      call->eraseFromParent();
    }
  return function;
}

// The answers in a caller. It asks once, however often it calls.
using Answers = llvm::SmallVector<Value*>;

Answers askIn(Function& caller, llvm::ArrayRef<Asked> asked) {
  llvm::IRBuilder<> builder(&*caller.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Answers answers;
  for (const auto& [question, calls] : asked)
    answers.push_back(builder.CreateCall(question.first, question.second));
  return answers;
}

void tell(CallInst& call, Function& function, const Answers& answers) {
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<Value*> arguments(call.args());
  arguments.append(answers);
  CallInst* with = builder.CreateCall(&function, arguments);
  with->setCallingConv(call.getCallingConv());
  with->setAttributes(call.getAttributes());
  with->copyMetadata(call);
  with->takeName(&call);
  call.replaceAllUsesWith(with);
  call.eraseFromParent();
}

void hoist(Function& old, llvm::ArrayRef<Asked> asked) {
  Function* function = withParameters(old, asked);
  llvm::DenseMap<Function*, Answers> answers;
  for (llvm::User* user : llvm::make_early_inc_range(old.users())) {
    auto& call = *llvm::cast<CallInst>(user);
    const auto [of_caller, is_first] = answers.try_emplace(call.getFunction());
    if (is_first) of_caller->second = askIn(*call.getFunction(), asked);
    tell(call, *function, of_caller->second);
  }
  old.eraseFromParent();
}

// Callees come first. Those that call themselves are left out.
std::vector<Function*> calleesFirst(llvm::Module& module) {
  std::vector<Function*> functions;
  llvm::CallGraph graph(module);
  for (auto it = llvm::scc_begin(&graph); !it.isAtEnd(); ++it)
    if (Function* function = it->front()->getFunction(); function && !it.hasCycle())
      functions.push_back(function);
  return functions;
}

// How many copies of each function there are once it and its callers are part of the kernels.
llvm::DenseMap<const Function*, size_t> copiesOf(llvm::ArrayRef<Function*> callees_first,
                                                 const LaneFunctions& inlined) {
  constexpr size_t most = 1'000'000;
  llvm::DenseMap<const Function*, size_t> copies;
  for (const Function* function : llvm::reverse(callees_first)) {
    size_t& sum = copies[function];
    for (const llvm::User* user : function->users())
      if (auto* call = llvm::dyn_cast<CallInst>(user)) {
        const Function* caller = call->getFunction();
        sum += inlined.contains(caller) ? std::max<size_t>(copies.lookup(caller), 1) : 1;
      }
    sum = std::min(sum, most);
  }
  return copies;
}

// Instructions of the function, and of those that become part of it.
class Sizes {
 public:
  explicit Sizes(const LaneFunctions& inlined) : inlined_(inlined) {}

  // To be asked of callees first.
  size_t add(const Function& function) {
    size_t size = function.getInstructionCount();
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<CallInst>(&instruction))
        if (const Function* callee = call->getCalledFunction(); callee && inlined_.contains(callee))
          size += sizes_.lookup(callee);
    return sizes_[&function] = size;
  }
  void forget(const Function& function) { sizes_.erase(&function); }

 private:
  const LaneFunctions& inlined_;
  llvm::DenseMap<const Function*, size_t> sizes_;
};

}  // namespace

void hoistQueries(llvm::Module& module, const LaneFunctions& lane_functions) {
  const std::vector<Function*> functions = calleesFirst(module);
  const auto copies = copiesOf(functions, lane_functions);
  Sizes sizes(lane_functions);
  for (Function* function : functions) {
    if (!lane_functions.contains(function)) continue;
    if (sizes.add(*function) * copies.lookup(function) < very_much_code || !mayStay(*function))
      continue;
    const auto asked = questionsOf(*function);
    if (!asked) continue;
    sizes.forget(*function);
    hoist(*function, *asked);
  }
}

}  // namespace weft::compiler
