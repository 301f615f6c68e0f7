#include "compiler/passes/simd/narrowing.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

namespace weft::compiler {
namespace {

using llvm::Value;
using namespace llvm::PatternMatch;

// The value before it was extended, if it had `type` then.
Value* extendedFrom(Value* value, llvm::Type* type) {
  if (!llvm::isa<llvm::SExtInst, llvm::ZExtInst>(value)) return nullptr;
  Value* source = llvm::cast<llvm::CastInst>(value)->getOperand(0);
  return source->getType() == type ? source : nullptr;
}

void narrow(llvm::TruncInst& cast) {
  auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(cast.getOperand(0));
  if (!sum || !cast.getType()->isIntegerTy()) return;
  const auto opcode = sum->getOpcode();
  if (opcode != llvm::Instruction::Add && opcode != llvm::Instruction::Sub) return;
  if (!extendedFrom(sum->getOperand(0), cast.getType()) &&
      !extendedFrom(sum->getOperand(1), cast.getType()))
    return;
  llvm::IRBuilder<> builder(&cast);
  Value* operands[2];
  for (unsigned i = 0; i < 2; ++i) {
    operands[i] = extendedFrom(sum->getOperand(i), cast.getType());
    if (!operands[i]) operands[i] = builder.CreateTrunc(sum->getOperand(i), cast.getType());
  }
  cast.replaceAllUsesWith(builder.CreateBinOp(opcode, operands[0], operands[1]));
  cast.eraseFromParent();
  llvm::RecursivelyDeleteTriviallyDeadInstructions(sum);
}

// Of a 64-bit phi only the lower 32 bits are used: truncated, or extended by shifts.
bool isHalfUsed(const llvm::PHINode& phi) {
  return phi.getType()->isIntegerTy(64) && llvm::all_of(phi.users(), [&](const llvm::User* user) {
           return match(user, m_Shl(m_Specific(&phi), m_SpecificInt(32))) ||
                  (llvm::isa<llvm::TruncInst>(user) && user->getType()->isIntegerTy(32));
         });
}

// x << 32 >> n, of which x's lower half is `half`, as half's extension.
void extendFrom(llvm::Instruction& shifted, Value* half) {
  for (llvm::User* user : llvm::make_early_inc_range(shifted.users())) {
    uint64_t back = 0;
    if (!match(user, m_AShr(m_Specific(&shifted), m_ConstantInt(back))) || back > 32) continue;
    llvm::IRBuilder<> builder(llvm::cast<llvm::Instruction>(user));
    Value* extended = builder.CreateSExt(half, shifted.getType());
    if (back < 32) extended = builder.CreateShl(extended, 32 - back, "", false, true);
    user->replaceAllUsesWith(extended);
  }
  // What was known of the upper half does not hold of zeros.
  shifted.dropPoisonGeneratingFlags();
  llvm::IRBuilder<> builder(&shifted);
  shifted.setOperand(0, builder.CreateZExt(half, shifted.getType()));
}

void narrow(llvm::PHINode& phi) {
  llvm::IRBuilder<> builder(&phi);
  llvm::Type* type = builder.getInt32Ty();
  llvm::PHINode* half = builder.CreatePHI(type, phi.getNumIncomingValues(), phi.getName());
  for (llvm::User* user : llvm::make_early_inc_range(phi.users())) {
    if (!llvm::isa<llvm::TruncInst>(user)) {
      extendFrom(*llvm::cast<llvm::Instruction>(user), half);
      continue;
    }
    user->replaceAllUsesWith(half);
  }
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    llvm::BasicBlock* from = phi.getIncomingBlock(i);
    const int known = half->getBasicBlockIndex(from);
    builder.SetInsertPoint(from->getTerminator());
    half->addIncoming(known >= 0 ? half->getIncomingValue(known)
                                 : builder.CreateTrunc(phi.getIncomingValue(i), type),
                      from);
  }
}

// The number whose lower half it is the extension of.
Value* extendedOf(Value* value) {
  Value* whole = nullptr;
  const bool is_extension =
      match(value, m_SExt(m_Trunc(m_Value(whole)))) ||
      match(value, m_AShr(m_Shl(m_Value(whole), m_SpecificInt(32)), m_SpecificInt(32)));
  return is_extension ? whole : nullptr;
}

bool isExtendedHalf(Value* value) {
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(value))
    return number->getValue().isSignedIntN(32);
  auto* extended = llvm::dyn_cast<llvm::SExtInst>(value);
  return extended ? extended->getSrcTy()->isIntegerTy(32) : extendedOf(value) != nullptr;
}

// A counter of 32 bits that is kept as its extension, which hides that it is one.
bool countsExtended(llvm::PHINode& phi) {
  return phi.getType()->isIntegerTy(64) && llvm::all_of(phi.incoming_values(), isExtendedHalf) &&
         llvm::any_of(phi.incoming_values(), [&](Value* value) {
           Value* whole = extendedOf(value);
           return whole && match(whole, m_c_Add(m_Specific(&phi), m_Value()));
         });
}

void countHalf(llvm::PHINode& phi) {
  llvm::IRBuilder<> builder(&phi);
  llvm::Type* type = builder.getInt32Ty();
  llvm::PHINode* half = builder.CreatePHI(type, phi.getNumIncomingValues(), phi.getName());
  builder.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
  phi.replaceAllUsesWith(builder.CreateSExt(half, phi.getType()));
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    llvm::BasicBlock* from = phi.getIncomingBlock(i);
    Value* value = phi.getIncomingValue(i);
    Value* source = extendedFrom(value, type);
    if (const int known = half->getBasicBlockIndex(from); known >= 0)
      source = half->getIncomingValue(known);
    builder.SetInsertPoint(from->getTerminator());
    if (!source) source = builder.CreateTrunc(extendedOf(value) ? extendedOf(value) : value, type);
    half->addIncoming(source, from);
  }
  phi.eraseFromParent();
}

// The number times a power of two, which stands for `product`: in addresses as the index of
// elements of so many bytes.
Value* scaled(llvm::Instruction& product, Value* number, uint64_t power) {
  for (llvm::User* user : llvm::make_early_inc_range(product.users())) {
    auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    if (!element || !element->getSourceElementType()->isIntegerTy(8) ||
        element->getNumIndices() != 1 || element->getType()->isVectorTy())
      continue;
    element->setSourceElementType(
        llvm::ArrayType::get(element->getSourceElementType(), uint64_t{1} << power));
    element->setOperand(1, number);
  }
  llvm::IRBuilder<> builder(&product);
  return builder.CreateShl(number, power, "", /*HasNUW=*/false, /*HasNSW=*/true);
}

}  // namespace

void narrowTruncated(llvm::Function& lane) {
  llvm::SmallVector<llvm::PHINode*> phis;
  for (llvm::BasicBlock& block : lane)
    for (llvm::PHINode& phi : block.phis())
      if (isHalfUsed(phi)) phis.push_back(&phi);
  for (llvm::PHINode* phi : phis) narrow(*phi);
  for (llvm::PHINode* phi : phis) llvm::RecursivelyDeleteDeadPHINode(phi);
  for (llvm::BasicBlock& block : lane)
    for (llvm::PHINode& phi : llvm::make_early_inc_range(block.phis()))
      if (countsExtended(phi)) countHalf(phi);
  llvm::SmallVector<llvm::WeakTrackingVH> casts;
  for (llvm::Instruction& instruction : llvm::instructions(lane))
    if (llvm::isa<llvm::TruncInst>(instruction)) casts.push_back(&instruction);
  for (llvm::WeakTrackingVH& cast : casts)
    if (auto* found = llvm::dyn_cast_or_null<llvm::TruncInst>(cast)) narrow(*found);
  llvm::SmallVector<llvm::WeakTrackingVH> dead;
  for (llvm::Instruction& instruction : llvm::instructions(lane))
    if (llvm::isInstructionTriviallyDead(&instruction)) dead.push_back(&instruction);
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
}

namespace {

// The product of a half and a constant, extended: shifted up as one product with what it is times
// 2^32, and down again.
Value* extendedProduct(llvm::Instruction& shifted) {
  Value* whole = nullptr;
  const llvm::APInt* by = nullptr;
  if (!match(&shifted, m_AShr(m_Mul(m_Value(whole), m_APInt(by)), m_SpecificInt(32))) ||
      by->countr_zero() < 32)
    return nullptr;
  llvm::IRBuilder<> builder(&shifted);
  llvm::Type* const half = builder.getInt32Ty();
  Value* const product = builder.CreateMul(builder.CreateTrunc(whole, half),
                                           llvm::ConstantInt::get(half, by->lshr(32).trunc(32)));
  return builder.CreateSExt(product, shifted.getType());
}

}  // namespace

bool restoreExtensions(llvm::Function& lane, const LaneShapes& shapes) {
  llvm::SmallVector<llvm::Instruction*> found, products;
  uint64_t back = 0;
  const auto extension = [&](Value*& whole) {
    return m_AShr(m_Shl(m_Value(whole), m_SpecificInt(32)), m_ConstantInt(back));
  };
  Value* whole = nullptr;
  for (llvm::Instruction& instruction : llvm::instructions(lane)) {
    if (!instruction.getType()->isIntegerTy(64) || !shapes.isVarying(&instruction)) continue;
    if (match(&instruction, extension(whole)) && back <= 32 && back >= 24)
      found.push_back(&instruction);
    else
      products.push_back(&instruction);
  }
  bool changed = !found.empty();
  for (llvm::Instruction* shifted : products)
    if (Value* number = extendedProduct(*shifted)) {
      shifted->replaceAllUsesWith(number);
      changed = true;
    }
  for (llvm::Instruction* shifted : found) {
    match(shifted, extension(whole));
    llvm::IRBuilder<> builder(shifted);
    Value* number =
        builder.CreateSExt(builder.CreateTrunc(whole, builder.getInt32Ty()), shifted->getType());
    if (back < 32) number = scaled(*shifted, number, 32 - back);
    shifted->replaceAllUsesWith(number);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(shifted);
  }
  return changed;
}

void narrowSums(llvm::Function& lane) {
  for (llvm::BasicBlock& block : llvm::reverse(lane))
    for (llvm::Instruction& sum : llvm::make_early_inc_range(llvm::reverse(block))) {
      const bool is_sum =
          sum.getOpcode() == llvm::Instruction::Add || sum.getOpcode() == llvm::Instruction::Sub;
      if (!is_sum || !sum.getType()->isIntegerTy(64) || sum.use_empty()) continue;
      llvm::IRBuilder<> builder(&sum);
      llvm::Type* type = builder.getInt32Ty();
      if (!llvm::all_of(sum.users(), [&](const llvm::User* user) {
            return llvm::isa<llvm::TruncInst>(user) && user->getType() == type;
          }))
        continue;
      Value* half = builder.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(sum.getOpcode()),
                                        builder.CreateTrunc(sum.getOperand(0), type),
                                        builder.CreateTrunc(sum.getOperand(1), type));
      for (llvm::User* user : llvm::make_early_inc_range(sum.users())) {
        user->replaceAllUsesWith(half);
        llvm::cast<llvm::Instruction>(user)->eraseFromParent();
      }
      sum.eraseFromParent();
    }
}

}  // namespace weft::compiler
