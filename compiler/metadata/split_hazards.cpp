#include "compiler/metadata/split_hazards.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "compiler/metadata/atomic_hazards.h"
#include "compiler/passes/image_accesses.h"

namespace weft::compiler {
namespace {

// SPIR's address spaces.
enum Space : unsigned { space_private, space_global, space_constant, space_local, space_generic };

constexpr uint32_t bit(SplitHazard hazard) { return static_cast<uint32_t>(hazard); }

using Atomic = llvm::AtomicRMWInst;

constexpr std::pair<Atomic::BinOp, Combination> combinations[] = {
    {Atomic::Add, Combination::add},
    {Atomic::Sub, Combination::add},
    {Atomic::And, Combination::bit_and},
    {Atomic::Or, Combination::bit_or},
    {Atomic::Xor, Combination::bit_xor},
    {Atomic::UMin, Combination::minimum},
    {Atomic::UMax, Combination::maximum},
    {Atomic::Min, Combination::minimum_signed},
    {Atomic::Max, Combination::maximum_signed},
};

// What all that is done through a pointer argument comes to, and the instructions that do it.
class CombinedArgument {
 public:
  explicit CombinedArgument(const llvm::Argument& argument) {
    if (follow(argument)) return;
    kind = Combination::none;
    users.clear();
  }

  Combination kind = Combination::none;
  uint8_t bytes = 0;
  llvm::SmallPtrSet<const llvm::Instruction*, 8> users;  // atomics, and calls of functions of such

 private:
  static constexpr unsigned most_calls = 4;

  // False when there is anything else to the argument.
  bool follow(const llvm::Argument& argument) {
    llvm::SmallVector<const llvm::Value*> waiting = {&argument};
    while (!waiting.empty())
      for (const llvm::Use& use : waiting.pop_back_val()->uses()) {
        const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
        if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst>(user))
          waiting.push_back(user);
        else if (!isUnused(*user) || !does(*user, use, 0))
          return false;
        else
          users.insert(user);
      }
    return true;
  }
  // Does the instruction do nothing but such an atomic with what `use` is a pointer to?
  bool does(const llvm::Instruction& user, const llvm::Use& use, unsigned calls) {
    if (const auto* atomic = llvm::dyn_cast<Atomic>(&user))
      return use.getOperandNo() == Atomic::getPointerOperandIndex() && isUnused(*atomic) &&
             add(*atomic);
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&user);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isDeclaration() || calls == most_calls || !call->isArgOperand(&use))
      return false;
    const llvm::Argument& pointer = *callee->getArg(call->getArgOperandNo(&use));
    return llvm::all_of(llvm::instructions(*callee), [&](const llvm::Instruction& inner) {
      // Fences order nothing where nobody learns what the atomic found.
      if (!inner.mayReadOrWriteMemory() || llvm::isa<llvm::FenceInst>(inner)) return true;
      const auto* address = llvm::find_if(inner.operands(), [&](const llvm::Use& operand) {
        return operand->getType()->isPointerTy() && operand->stripPointerCasts() == &pointer;
      });
      return address != inner.op_end() && isUnused(inner) && does(inner, *address, calls + 1);
    });
  }
  // What a function returns nobody uses, or the call of it would not have come here.
  static bool isUnused(const llvm::Instruction& result) {
    llvm::SmallPtrSet<const llvm::User*, 8> seen;
    llvm::SmallVector<const llvm::User*> waiting(result.users());
    while (!waiting.empty()) {
      const llvm::User* user = waiting.pop_back_val();
      if (llvm::isa<llvm::ReturnInst>(user) || !seen.insert(user).second) continue;
      if (!llvm::isa<llvm::PHINode>(user)) return false;
      waiting.append(user->user_begin(), user->user_end());
    }
    return true;
  }
  bool add(const Atomic& atomic) {
    const auto* known = llvm::find_if(
        combinations, [&](const auto& entry) { return entry.first == atomic.getOperation(); });
    if (known == std::end(combinations)) return false;
    const auto size = static_cast<uint8_t>(atomic.getType()->getPrimitiveSizeInBits() / 8);
    if (size != sizeof(uint32_t) && size != sizeof(uint64_t)) return false;
    if (bytes != 0 && (kind != known->second || bytes != size)) return false;
    kind = known->second;
    bytes = size;
    return true;
  }
};

// Looks at a kernel and everything that it may call.
class HazardSearch {
 public:
  // These do not count.
  void allow(const CombinedArgument& argument) {
    allowed_.insert(argument.users.begin(), argument.users.end());
  }
  uint32_t of(const llvm::Function& kernel) {
    waiting_.push_back(&kernel);
    while (!waiting_.empty()) {
      const llvm::Function* function = waiting_.pop_back_val();
      if (!seen_.insert(function).second) continue;
      for (const llvm::Instruction& instruction : llvm::instructions(*function)) look(instruction);
    }
    return found_;
  }

 private:
  void note(SplitHazard hazard) { found_ |= bit(hazard); }
  void look(const llvm::Instruction& instruction);
  void lookAtOperand(const llvm::Value* operand);
  void lookAtAccess(const llvm::Value* pointer, llvm::AtomicOrdering order, bool is_volatile);
  void lookAtCall(const llvm::CallBase& call);
  bool makesPointer(const llvm::Instruction& instruction) const;

  uint32_t found_ = no_split_hazard;
  llvm::SmallVector<const llvm::Function*> waiting_;
  llvm::SmallPtrSet<const llvm::Function*, 16> seen_;
  llvm::SmallPtrSet<const llvm::Constant*, 16> constants_;
  llvm::SmallPtrSet<const llvm::Instruction*, 16> allowed_;
};

bool isSharedPointer(const llvm::Type* type) {
  const auto* scalar = type->getScalarType();
  if (!scalar->isPointerTy()) return false;
  const unsigned space = scalar->getPointerAddressSpace();
  return space == space_global || space == space_generic || space == space_constant;
}

// Does it make a pointer out of something else than a pointer that was there?
bool HazardSearch::makesPointer(const llvm::Instruction& instruction) const {
  if (!isSharedPointer(instruction.getType())) return false;
  if (llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::FreezeInst,
                llvm::BitCastInst>(instruction))
    return false;
  if (llvm::isa<llvm::AddrSpaceCastInst>(instruction)) return false;
  // What a function of ours returns comes from what is looked at there.
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    return !call->getCalledFunction() || call->getCalledFunction()->isDeclaration();
  return true;
}

void HazardSearch::look(const llvm::Instruction& instruction) {
  if (makesPointer(instruction)) note(SplitHazard::unnamed_memory);
  if (allowed_.contains(&instruction)) return;
  for (const llvm::Value* operand : instruction.operands()) lookAtOperand(operand);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    lookAtAccess(load->getPointerOperand(), load->getOrdering(), load->isVolatile());
  else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    lookAtAccess(store->getPointerOperand(), store->getOrdering(), store->isVolatile());
  else if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    lookAtAccess(atomic->getPointerOperand(), atomic->getOrdering(), false);
  else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    lookAtAccess(exchange->getPointerOperand(), exchange->getMergedOrdering(), false);
  else if (llvm::isa<llvm::FenceInst>(instruction))
    note(SplitHazard::fences);
  else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    lookAtCall(*call);
}

void HazardSearch::lookAtAccess(const llvm::Value* pointer, llvm::AtomicOrdering order,
                                bool is_volatile) {
  const bool atomic = order != llvm::AtomicOrdering::NotAtomic;
  if ((!atomic && !is_volatile) || !mayBeGlobal(pointer)) return;
  note(atomic ? SplitHazard::global_atomics : SplitHazard::volatile_accesses);
  if (llvm::isStrongerThanMonotonic(order)) note(SplitHazard::ordered_atomics);
}

// Variables hide in constant expressions and in other variables' initial values.
void HazardSearch::lookAtOperand(const llvm::Value* operand) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(operand);
  if (!constant || !constants_.insert(constant).second) return;
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant)) {
    const unsigned space = variable->getAddressSpace();
    if (!variable->isConstant() && space != space_local && space != space_constant)
      note(SplitHazard::program_variables);
    if (variable->hasInitializer()) lookAtOperand(variable->getInitializer());
    return;
  }
  if (const auto* function = llvm::dyn_cast<llvm::Function>(constant)) {
    // Image functions make addresses of pixels out of integers, but only their image's.
    if (!function->isDeclaration() && !imageFunction(*function)) waiting_.push_back(function);
    return;
  }
  if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant);
      expression && expression->getOpcode() == llvm::Instruction::IntToPtr)
    note(SplitHazard::unnamed_memory);
  for (const llvm::Value* inner : constant->operands()) lookAtOperand(inner);
}

void HazardSearch::lookAtCall(const llvm::CallBase& call) {
  if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
    if (!memory->isVolatile()) return;
    lookAtAccess(memory->getRawDest(), llvm::AtomicOrdering::NotAtomic, true);
    if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call))
      lookAtAccess(copy->getRawSource(), llvm::AtomicOrdering::NotAtomic, true);
    return;
  }
  if (llvm::isa<llvm::IntrinsicInst>(call)) return;
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || call.isInlineAsm()) return note(SplitHazard::unknown_calls);
  if (!callee->isDeclaration()) return;  // an operand, so it is looked at
  for (const llvm::Value* argument : call.args())
    if (argument->getType()->isPtrOrPtrVectorTy() && isSharedPointer(argument->getType()) &&
        (argument->getType()->isVectorTy() || mayBeGlobal(argument)))
      note(SplitHazard::unknown_calls);
}

}  // namespace

void markSplitHazards(llvm::Module& module, std::vector<KernelInfo>& kernels) {
  for (KernelInfo& kernel : kernels) {
    llvm::Function* function = module.getFunction(kernel.name);
    if (!function || function->isDeclaration()) continue;  // as unknown as it was
    HazardSearch search;
    for (size_t i = 0; i < kernel.arguments.size() && i < function->arg_size(); ++i) {
      if (kernel.arguments[i].kind != ArgumentKind::global_pointer) continue;
      const CombinedArgument combined(*function->getArg(static_cast<unsigned>(i)));
      kernel.arguments[i].combination = combined.kind;
      kernel.arguments[i].combined_bytes = combined.bytes;
      search.allow(combined);
    }
    kernel.split_hazards = search.of(*function);
    if (kernel.split_hazards & bit(SplitHazard::global_atomics))
      kernel.split_hazards |= atomicHazards(*function, kernel);
    if (kernel.uses_printf) kernel.split_hazards |= bit(SplitHazard::prints);
    if (kernel.uses_device_queue) kernel.split_hazards |= bit(SplitHazard::device_queues);
    for (const ArgumentInfo& argument : kernel.arguments)
      if (argument.kind == ArgumentKind::queue || argument.kind == ArgumentKind::pipe)
        kernel.split_hazards |= bit(SplitHazard::device_queues);
  }
}

}  // namespace weft::compiler
