#include "compiler/passes/turned_body.h"

#include <algorithm>
#include <array>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/passes/simd/vector_report.h"
#include "compiler/passes/simd/vectorise.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;

// By how much a value grows from one work-item to the next in a dimension; nothing if that is not
// known, or not always the same.
using Step = std::optional<int64_t>;
using Steps = std::array<Step, 2>;  // of dimensions 0 and 1

constexpr Steps none{0, 0};

// Of all values, as if no integer wrapped: it is an estimate.
class StepTable {
 public:
  explicit StepTable(const KernelBody& body) : body_(body) {
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(body.function))
      for (const Instruction& instruction : *block) steps_[&instruction] = transfer(instruction);
  }

  Steps of(const Value* value) const {
    if (value == body_.hidden(env::local_id)) return {1, 0};
    if (value == body_.hidden(env::local_id + 1)) return {0, 1};
    if (!llvm::isa<Instruction>(value)) return none;
    const auto found = steps_.find(value);
    return found == steps_.end() ? none : found->second;
  }

 private:
  template <class Combine>
  static Steps combine(const Steps& a, const Steps& b, Combine&& combine) {
    Steps result;
    for (size_t d = 0; d < 2; ++d)
      if (a[d] && b[d])
        result[d] = combine(static_cast<uint64_t>(*a[d]), static_cast<uint64_t>(*b[d]));
    return result;
  }
  static Steps scaled(const Steps& steps, uint64_t factor) {
    return combine(steps, none,
                   [&](uint64_t a, uint64_t) { return static_cast<int64_t>(a * factor); });
  }

  // The same in all work-items of a dimension where the operands are.
  Steps ofOperands(const Instruction& instruction) const {
    Steps result = none;
    for (const Value* operand : instruction.operands())
      for (size_t d = 0; d < 2; ++d)
        if (of(operand)[d] != 0) result[d] = std::nullopt;
    return result;
  }

  Steps meet(const Steps& a, const Steps& b) const {
    Steps result;
    for (size_t d = 0; d < 2; ++d)
      if (a[d] == b[d]) result[d] = a[d];
    return result;
  }

  // Loops start with the step that they keep.
  Steps ofPhi(const llvm::PHINode& phi) const {
    std::optional<Steps> result;
    for (const Value* value : phi.incoming_values()) {
      if (llvm::isa<Instruction>(value) && !steps_.contains(value)) continue;
      result = result ? meet(*result, of(value)) : of(value);
    }
    return result.value_or(none);
  }

  Steps ofElement(const llvm::GetElementPtrInst& element) const {
    if (!element.getType()->isPointerTy()) return ofOperands(element);
    Steps result = of(element.getPointerOperand());
    const auto& layout = element.getDataLayout();
    for (auto it = llvm::gep_type_begin(element), end = llvm::gep_type_end(element); it != end;
         ++it) {
      const uint64_t bytes =
          it.isStruct() ? 0 : it.getSequentialElementStride(layout).getFixedValue();
      result = sum(result, scaled(of(it.getOperand()), bytes));
    }
    return result;
  }

  static Steps sum(const Steps& a, const Steps& b) {
    return combine(a, b, [](uint64_t x, uint64_t y) { return static_cast<int64_t>(x + y); });
  }

  Steps ofBinary(const llvm::BinaryOperator& operation) const {
    const Value *left = operation.getOperand(0), *right = operation.getOperand(1);
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(right);
    switch (operation.getOpcode()) {
      case Instruction::Or:
        if (!llvm::cast<llvm::PossiblyDisjointInst>(operation).isDisjoint()) break;
        [[fallthrough]];
      case Instruction::Add:
        return sum(of(left), of(right));
      case Instruction::Sub:
        return combine(of(left), of(right),
                       [](uint64_t x, uint64_t y) { return static_cast<int64_t>(x - y); });
      case Instruction::Mul:
        if (!number || number->getBitWidth() > 64) break;
        return scaled(of(left), static_cast<uint64_t>(number->getSExtValue()));
      case Instruction::AShr:  // of what was shifted up as far: a truncated value with its sign
        if (const auto* up = llvm::dyn_cast<llvm::BinaryOperator>(left);
            up && up->getOpcode() == Instruction::Shl && up->getOperand(1) == right)
          return of(up->getOperand(0));
        break;
      case Instruction::Shl:
        if (!number || number->getBitWidth() > 64 || number->getZExtValue() > 62) break;
        return scaled(of(left), uint64_t{1} << number->getZExtValue());
      default:
        break;
    }
    return ofOperands(operation);
  }

  Steps transfer(const Instruction& instruction) const {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return ofPhi(*phi);
    if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
      return ofElement(*element);
    if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
        operation && operation->getType()->isIntegerTy())
      return ofBinary(*operation);
    if (llvm::isa<llvm::TruncInst, llvm::SExtInst, llvm::ZExtInst, llvm::FreezeInst,
                  llvm::AddrSpaceCastInst, llvm::PtrToIntInst, llvm::IntToPtrInst>(instruction))
      return of(instruction.getOperand(0));
    return ofOperands(instruction);
  }

  const KernelBody& body_;
  llvm::DenseMap<const Value*, Steps> steps_;
};

// What accesses take where lanes are the work-items of either dimension: those of one place and
// those side by side little, those apart a cache line each.
struct AccessCosts {
  std::array<double, 2> of{};
  bool gains = false;  // what lies apart in dimension 0 lies side by side in dimension 1
};

uint64_t magnitude(int64_t step) {
  return step < 0 ? -static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
}

double accessCost(const Step& step, uint64_t bytes) {
  constexpr double together = 1, near = 3, apart = 16;
  if (!step) return apart;
  const uint64_t distance = magnitude(*step);
  if (distance == 0 || distance == bytes) return together;
  return distance <= 4 * bytes ? near : apart;
}

AccessCosts accessCosts(const KernelBody& body) {
  constexpr double turns = 8;  // of a loop
  constexpr unsigned deepest = 3;
  const StepTable steps(body);
  const llvm::DominatorTree tree(*body.function);
  const llvm::LoopInfo loops(tree);
  AccessCosts result;
  for (const llvm::BasicBlock& block : *body.function) {
    double weight = 1;
    for (unsigned depth = std::min(loops.getLoopDepth(&block), deepest); depth > 0; --depth)
      weight *= turns;
    for (const Instruction& instruction : block) {
      const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (!pointer || pointer->getType()->getPointerAddressSpace() == 0) continue;
      auto* type = llvm::getLoadStoreType(const_cast<Instruction*>(&instruction));
      const uint64_t bytes = instruction.getDataLayout().getTypeStoreSize(type).getFixedValue();
      const Steps here = steps.of(pointer);
      for (size_t d = 0; d < 2; ++d) result.of[d] += weight * accessCost(here[d], bytes);
      result.gains |= here[1] && magnitude(*here[1]) == bytes &&
                      accessCost(here[0], bytes) > accessCost(here[1], bytes) && here[0] != 0;
    }
  }
  return result;
}

bool canTurn(const KernelBody& body) {
  if (body.folds_in_order || !body.hidden(env::lane)->use_empty() ||
      body.hidden(env::local_id + 1)->use_empty())
    return false;
  return llvm::none_of(llvm::instructions(*body.function), [](const Instruction& instruction) {
    return isBarrierCall(instruction) && isMeeting(llvm::cast<llvm::CallInst>(instruction));
  });
}

// With a subprogram of its own, which its entry gets.
llvm::Function* clone(const KernelBody& body) {
  body.function->setSubprogram(body.subprogram);
  llvm::ValueToValueMapTy map;
  llvm::Function* function = llvm::CloneFunction(body.function, map);
  body.function->setSubprogram(nullptr);
  return function;
}

}  // namespace

std::optional<KernelBody> turnedBody(const KernelBody& body, bool always) {
  constexpr double least_gain = 2;
  if (!canTurn(body)) return std::nullopt;
  const AccessCosts costs = accessCosts(body);
  if (!always && (!costs.gains || costs.of[0] < least_gain * costs.of[1])) return std::nullopt;
  reportTurned(*body.function,
               static_cast<unsigned>(100 * costs.of[1] / std::max(costs.of[0], 1.0)));
  KernelBody turned = body;
  turned.function = clone(body);
  turned.subprogram = turned.function->getSubprogram();
  turned.function->setSubprogram(nullptr);
  turned.name = body.name + turned_suffix.str();
  turned.function->setName(turned.name + ".body");
  for (const unsigned first :
       {env::global_offset, env::global_size, env::enqueued_local_size, env::group_count,
        env::group_id, env::global_base, env::local_size, env::local_id}) {
    llvm::Argument *x = turned.hidden(first), *y = turned.hidden(first + 1);
    llvm::Argument* const spare = turned.hidden(env::lane);  // not used, of the same type
    x->replaceAllUsesWith(spare);
    y->replaceAllUsesWith(x);
    spare->replaceAllUsesWith(y);
  }
  std::swap(turned.axes[0], turned.axes[1]);
  return turned;
}

}  // namespace weft::compiler
