#include "compiler/metadata/store_sizes.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>

namespace weft::compiler {
namespace {

// SPIR's address spaces.
constexpr unsigned space_private = 0, space_local = 3;

constexpr uint64_t most_bytes = 8;

// What is written in one piece: no more than the address is aligned to.
uint8_t unitOf(uint64_t bytes, llvm::Align align) {
  const uint64_t whole = bytes == 0 ? most_bytes : uint64_t{1} << llvm::countr_zero(bytes);
  return static_cast<uint8_t>(std::min({whole, align.value(), most_bytes}));
}

// Looks at a kernel and everything that it may call.
class StoreSearch {
 public:
  explicit StoreSearch(const llvm::Function& kernel)
      : kernel_(kernel), layout_(kernel.getDataLayout()), units_(kernel.arg_size(), 0) {
    waiting_.push_back(&kernel);
    while (!waiting_.empty()) {
      const llvm::Function* function = waiting_.pop_back_val();
      if (!seen_.insert(function).second) continue;
      for (const llvm::Instruction& instruction : llvm::instructions(*function)) look(instruction);
    }
  }

  uint8_t of(size_t argument) const { return units_[argument]; }

 private:
  void look(const llvm::Instruction& instruction) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      const llvm::Type* type = store->getValueOperand()->getType();
      const uint8_t unit = type->isAggregateType()
                               ? stores_differ
                               : unitOf(sizeOf(*type->getScalarType()), store->getAlign());
      return note(*store->getPointerOperand(), unit);
    }
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call) return;
    if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(call))
      return note(*memory->getRawDest(), unitOf(lengthOf(*memory), alignOf(*memory)));
    const llvm::Function* callee = call->getCalledFunction();
    if (callee && !callee->isDeclaration()) waiting_.push_back(callee);
    if (!callee || !callee->isIntrinsic() || call->onlyReadsMemory()) return;
    for (const llvm::Value* argument : call->args())
      if (argument->getType()->isPointerTy()) note(*argument, stores_differ);
  }
  uint64_t sizeOf(llvm::Type& type) const { return layout_.getTypeStoreSize(&type); }
  static uint64_t lengthOf(const llvm::MemIntrinsic& memory) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(memory.getLength());
    return length ? length->getZExtValue() : 1;
  }
  static llvm::Align alignOf(const llvm::MemIntrinsic& memory) {
    return memory.getDestAlign().valueOrOne();
  }

  // A store of such units goes to where the pointer leads.
  void note(const llvm::Value& pointer, uint8_t unit) {
    constexpr unsigned no_limit = 0;
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(&pointer, objects, nullptr, no_limit);
    for (const llvm::Value* object : objects) {
      const unsigned space = object->getType()->getPointerAddressSpace();
      if (space == space_private || space == space_local) continue;
      const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
      if (argument && argument->getParent() == &kernel_)
        add(units_[argument->getArgNo()], unit);
      else
        for (uint8_t& each : units_) add(each, unit);
    }
  }
  static void add(uint8_t& units, uint8_t unit) {
    units = units == 0 || units == unit ? unit : stores_differ;
  }

  const llvm::Function& kernel_;
  const llvm::DataLayout& layout_;
  std::vector<uint8_t> units_;  // of each argument
  llvm::SmallVector<const llvm::Function*> waiting_;
  llvm::SmallPtrSet<const llvm::Function*, 16> seen_;
};

}  // namespace

void markStoreSizes(const llvm::Module& module, std::vector<KernelInfo>& kernels) {
  for (KernelInfo& kernel : kernels) {
    const llvm::Function* function = module.getFunction(kernel.name);
    if (!function || function->isDeclaration()) continue;  // as unknown as it was
    const StoreSearch search(*function);
    for (size_t i = 0; i < kernel.arguments.size() && i < function->arg_size(); ++i)
      kernel.arguments[i].store_bytes = search.of(i);
  }
}

}  // namespace weft::compiler
