#include "compiler/gpu/spirv/prepare.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/ExpandReductions.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerMemIntrinsics.h>

#include "compiler/gpu/float_atomics.h"
#include "compiler/gpu/private_variables.h"
#include "compiler/gpu/spirv/types.h"
#include "compiler/passes/analyses.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Value;
using Builder = llvm::IRBuilder<>;
using emit::generic_space, emit::global_space, emit::private_space;

// Constants, too, are reached through generic pointers, which only global memory is.
void moveGlobals(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalVariable*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == generic_space) variables.push_back(&variable);
  llvm::SmallVector<llvm::Constant*> moved_ones;
  for (llvm::GlobalVariable* variable : variables) {
    auto* moved = new llvm::GlobalVariable(
        module, variable->getValueType(), variable->isConstant(), variable->getLinkage(),
        variable->hasInitializer() ? variable->getInitializer() : nullptr, "", nullptr,
        llvm::GlobalValue::NotThreadLocal, global_space);
    moved->copyAttributesFrom(variable);
    moved->takeName(variable);
    variable->replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(moved, variable->getType()));
    variable->eraseFromParent();
    moved_ones.push_back(moved);
  }
  llvm::convertUsersOfConstantsToInstructions(moved_ones);
}

// The kernel with parameters that SPIR-V has.
class KernelMove {
 public:
  explicit KernelMove(Function& kernel) : kernel_(kernel) {}

  Function* run() {
    llvm::SmallVector<llvm::Type*> types;
    for (const llvm::Argument& argument : kernel_.args()) types.push_back(typeOf(argument));
    auto* type = llvm::FunctionType::get(kernel_.getReturnType(), types, false);
    made_ = Function::Create(type, Function::ExternalLinkage, "", kernel_.getParent());
    made_->addFnAttrs(
        llvm::AttrBuilder(kernel_.getContext(), kernel_.getAttributes().getFnAttrs()));
    made_->setCallingConv(llvm::CallingConv::SPIR_KERNEL);
    made_->splice(made_->begin(), &kernel_);
    Builder builder(&*made_->getEntryBlock().getFirstInsertionPt());
    for (llvm::Argument& argument : kernel_.args()) move(builder, argument);
    made_->takeName(&kernel_);
    kernel_.replaceAllUsesWith(llvm::PoisonValue::get(kernel_.getType()));
    kernel_.eraseFromParent();
    return made_;
  }

 private:
  static llvm::Type* typeOf(const llvm::Argument& argument) {
    llvm::Type* type = argument.getType();
    if (!type->isPointerTy() || type->getPointerAddressSpace() != generic_space) return type;
    return llvm::PointerType::get(type->getContext(),
                                  argument.hasByValAttr() ? private_space : global_space);
  }

  void move(Builder& builder, llvm::Argument& from) {
    llvm::Argument& to = *made_->getArg(from.getArgNo());
    to.takeName(&from);
    if (from.hasByValAttr()) {
      // Intel's compiler takes structures by value, but no arrays.
      auto* type = llvm::StructType::get(from.getParamByValType());
      to.addAttr(llvm::Attribute::getWithByValType(kernel_.getContext(), type));
      to.addAttr(llvm::Attribute::getWithAlignment(kernel_.getContext(),
                                                   from.getParamAlign().valueOrOne()));
    }
    Value* value = &to;
    if (to.getType() != from.getType()) value = builder.CreateAddrSpaceCast(&to, from.getType());
    from.replaceAllUsesWith(value);
  }

  Function& kernel_;
  Function* made_ = nullptr;
};

// "Is the number one of these kinds?", by its bits.
class KindOfNumber {
 public:
  explicit KindOfNumber(llvm::IntrinsicInst& question)
      : builder_(&question), value_(question.getArgOperand(0)) {
    const llvm::fltSemantics& format = value_->getType()->getFltSemantics();
    const unsigned bits = value_->getType()->getPrimitiveSizeInBits();
    type_ = builder_.getIntNTy(bits);
    infinity_ = number(llvm::APFloat::getInf(format).bitcastToAPInt());
    least_normal_ = number(llvm::APFloat::getSmallestNormalized(format).bitcastToAPInt());
    quiet_ = number(llvm::APInt::getOneBitSet(bits, llvm::APFloat::semanticsPrecision(format) - 2));
    bits_ = builder_.CreateBitCast(value_, type_);
    magnitude_ = builder_.CreateAnd(bits_, number(llvm::APInt::getSignedMaxValue(bits)));
    negative_ = builder_.CreateICmpSLT(bits_, number(llvm::APInt::getZero(bits)));
  }

  Value* isOneOf(unsigned kinds) {
    Value* nan = builder_.CreateICmpUGT(magnitude_, infinity_);
    Value* quiet = builder_.CreateIsNotNull(builder_.CreateAnd(bits_, quiet_));
    pair(kinds, llvm::fcQNan, llvm::fcSNan, nan, quiet);
    Value* positive = builder_.CreateNot(negative_);
    pair(kinds, llvm::fcPosInf, llvm::fcNegInf, builder_.CreateICmpEQ(magnitude_, infinity_),
         positive);
    pair(kinds, llvm::fcPosZero, llvm::fcNegZero, builder_.CreateIsNull(magnitude_), positive);
    auto* one = llvm::ConstantInt::get(type_, 1);
    Value* subnormal = builder_.CreateICmpULT(builder_.CreateSub(magnitude_, one),
                                              builder_.CreateSub(least_normal_, one));
    pair(kinds, llvm::fcPosSubnormal, llvm::fcNegSubnormal, subnormal, positive);
    Value* normal = builder_.CreateICmpULT(builder_.CreateSub(magnitude_, least_normal_),
                                           builder_.CreateSub(infinity_, least_normal_));
    pair(kinds, llvm::fcPosNormal, llvm::fcNegNormal, normal, positive);
    return answer_;
  }

 private:
  llvm::Constant* number(const llvm::APInt& value) { return llvm::ConstantInt::get(type_, value); }

  // Of what `is` holds for, `first` where `which` does, `second` where not.
  void pair(unsigned kinds, unsigned first, unsigned second, Value* is, Value* which) {
    const bool has_first = (kinds & first) != 0, has_second = (kinds & second) != 0;
    if (!has_first && !has_second) return;
    if (!has_second) is = builder_.CreateAnd(is, which);
    if (!has_first) is = builder_.CreateAnd(is, builder_.CreateNot(which));
    answer_ = builder_.CreateOr(answer_, is);
  }

  Builder builder_;
  Value* value_;
  llvm::Type* type_;
  llvm::Constant *infinity_, *least_normal_, *quiet_;
  Value *bits_, *magnitude_, *negative_;
  Value* answer_ = builder_.getFalse();
};

void expandKinds(Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* question = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!question || question->getIntrinsicID() != llvm::Intrinsic::is_fpclass ||
        question->getType()->isVectorTy())
      continue;
    const auto* kinds = llvm::cast<llvm::ConstantInt>(question->getArgOperand(1));
    Value* answer = KindOfNumber(*question).isOneOf(static_cast<unsigned>(kinds->getZExtValue()));
    question->replaceAllUsesWith(answer);
    question->eraseFromParent();
  }
}

// Two numbers side by side, shifted: SPIR-V only rotates one.
void expandFunnelShifts(Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* shift = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!shift || (shift->getIntrinsicID() != llvm::Intrinsic::fshl &&
                   shift->getIntrinsicID() != llvm::Intrinsic::fshr))
      continue;
    Builder builder(shift);
    Value *high = shift->getArgOperand(0), *low = shift->getArgOperand(1);
    llvm::Type* type = shift->getType();
    auto* last = llvm::ConstantInt::get(type, type->getScalarSizeInBits() - 1);
    auto* one = llvm::ConstantInt::get(type, 1);
    Value* distance = builder.CreateAnd(shift->getArgOperand(2), last);
    Value* rest = builder.CreateSub(last, distance);
    if (shift->getIntrinsicID() == llvm::Intrinsic::fshl) {
      high = builder.CreateShl(high, distance);
      low = builder.CreateLShr(builder.CreateLShr(low, one), rest);
    } else {
      high = builder.CreateShl(builder.CreateShl(high, one), rest);
      low = builder.CreateLShr(low, distance);
    }
    shift->replaceAllUsesWith(builder.CreateOr(high, low));
    shift->eraseFromParent();
  }
}

// Halves change places, then quarters, and so on, down to bits or bytes.
void expandReversals(Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* reversal = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    const auto kind = reversal ? reversal->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
    if (kind != llvm::Intrinsic::bitreverse && kind != llvm::Intrinsic::bswap) continue;
    const unsigned least = kind == llvm::Intrinsic::bswap ? 8 : 1;
    Builder builder(reversal);
    Value* value = reversal->getArgOperand(0);
    const unsigned bits = value->getType()->getScalarSizeInBits();
    for (unsigned part = bits / 2; part >= least; part /= 2) {
      const auto mask = llvm::APInt::getSplat(bits, llvm::APInt::getLowBitsSet(2 * part, part));
      auto* low = llvm::ConstantInt::get(value->getType(), mask);
      auto* distance = llvm::ConstantInt::get(value->getType(), part);
      Value* down = builder.CreateAnd(builder.CreateLShr(value, distance), low);
      value = builder.CreateOr(builder.CreateShl(builder.CreateAnd(value, low), distance), down);
    }
    reversal->replaceAllUsesWith(value);
    reversal->eraseFromParent();
  }
}

Value* upperHalf(Builder& builder, bool is_signed, Value* left, Value* right) {
  llvm::Type* type = left->getType();
  std::string name = is_signed ? "weft.mul_hi.s" : "weft.mul_hi.u";
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    name += "." + std::to_string(vector->getNumElements());
  name += "." + std::to_string(type->getScalarSizeInBits());
  llvm::Module* module = builder.GetInsertBlock()->getModule();
  return builder.CreateCall(module->getOrInsertFunction(name, type, type, type), {left, right});
}

// What LLVM makes of a program's own test whether a number is too large.
void expandOverflows(Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* operation = llvm::dyn_cast<llvm::WithOverflowInst>(&instruction);
    if (!operation) continue;
    Builder builder(operation);
    Value *left = operation->getLHS(), *right = operation->getRHS();
    const bool is_signed = operation->isSigned();
    Value* made = builder.CreateBinOp(operation->getBinaryOp(), left, right);
    Value* zero = llvm::Constant::getNullValue(made->getType());
    const auto changed = [&](Value* from) { return builder.CreateXor(from, made); };
    Value* over = nullptr;
    if (operation->getBinaryOp() == llvm::Instruction::Mul) {
      const unsigned bits = made->getType()->getScalarSizeInBits();
      Value* fits = is_signed ? builder.CreateAShr(made, bits - 1) : zero;
      over = builder.CreateICmpNE(upperHalf(builder, is_signed, left, right), fits);
    } else if (operation->getBinaryOp() == llvm::Instruction::Add) {
      over = is_signed
                 ? builder.CreateICmpSLT(builder.CreateAnd(changed(left), changed(right)), zero)
                 : builder.CreateICmpULT(made, left);
    } else {
      Value* differ = builder.CreateXor(left, right);
      over = is_signed ? builder.CreateICmpSLT(builder.CreateAnd(differ, changed(left)), zero)
                       : builder.CreateICmpULT(left, right);
    }
    Value* pair = builder.CreateInsertValue(llvm::PoisonValue::get(operation->getType()), made, 0);
    operation->replaceAllUsesWith(builder.CreateInsertValue(pair, over, 1));
    operation->eraseFromParent();
  }
}

// The upper half of a product of 128 bits.
void nameUpperHalves(Function& function) {
  using namespace llvm::PatternMatch;
  constexpr uint64_t half = 64;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    Value *left = nullptr, *right = nullptr;
    if (!instruction.getType()->isIntegerTy(half)) continue;
    const bool is_signed = match(
        &instruction,
        m_Trunc(m_LShr(m_Mul(m_SExt(m_Value(left)), m_SExt(m_Value(right))), m_SpecificInt(half))));
    if (!is_signed &&
        !match(&instruction, m_Trunc(m_LShr(m_Mul(m_ZExt(m_Value(left)), m_ZExt(m_Value(right))),
                                            m_SpecificInt(half)))))
      continue;
    llvm::Type* type = instruction.getType();
    if (left->getType() != type || right->getType() != type) continue;
    Builder builder(&instruction);
    instruction.replaceAllUsesWith(upperHalf(builder, is_signed, left, right));
  }
}

// SPIR-V has switches of numbers only, which truth values are not.
void branchOnTruth(Function& function) {
  for (llvm::BasicBlock& block : function) {
    auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
    if (!choice || !choice->getCondition()->getType()->isIntegerTy(1)) continue;
    const auto target = [&](bool value) {
      auto* constant = llvm::ConstantInt::getBool(function.getContext(), value);
      return choice->findCaseValue(constant)->getCaseSuccessor();
    };
    llvm::BasicBlock *const yes = target(true), *const no = target(false);
    llvm::SmallVector<llvm::BasicBlock*> left(llvm::successors(&block));
    left.erase(llvm::find(left, yes));
    if (yes != no) left.erase(llvm::find(left, no));
    for (llvm::BasicBlock* dropped : left) dropped->removePredecessor(&block);
    if (yes == no)
      llvm::BranchInst::Create(yes, choice->getIterator());
    else
      llvm::BranchInst::Create(yes, no, choice->getCondition(), choice->getIterator());
    choice->eraseFromParent();
  }
}

// In SPIR-V a block says once what it brings to another's values. Where several edges of a switch
// lead there, Intel's compiler counts as many, and crashes: all but one get a block in between.
void splitRepeatedEdges(Function& function) {
  llvm::SmallVector<llvm::Instruction*> ends;
  for (llvm::BasicBlock& block : function) ends.push_back(block.getTerminator());
  for (llvm::Instruction* end : ends) {
    llvm::SmallDenseMap<llvm::BasicBlock*, llvm::BasicBlock*> between;  // null: met once
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      llvm::BasicBlock* const to = end->getSuccessor(i);
      const auto [known, first] = between.try_emplace(to, nullptr);
      if (first || to->phis().empty()) continue;
      const bool made = known->second != nullptr;
      if (!made) {
        known->second = llvm::BasicBlock::Create(function.getContext(), "", &function, to);
        llvm::BranchInst::Create(to, known->second);
      }
      end->setSuccessor(i, known->second);
      for (llvm::PHINode& phi : to->phis()) {
        const int edge = phi.getBasicBlockIndex(end->getParent());
        if (made)
          phi.removeIncomingValue(static_cast<unsigned>(edge), false);
        else
          phi.setIncomingBlock(static_cast<unsigned>(edge), known->second);
      }
    }
  }
}

void dropDead(Function& function) {
  llvm::SmallVector<llvm::Instruction*> all;
  for (llvm::Instruction& instruction : llvm::instructions(function)) all.push_back(&instruction);
  for (llvm::Instruction* instruction : llvm::reverse(all))
    if (llvm::isInstructionTriviallyDead(instruction)) instruction->eraseFromParent();
}

// Nobody copies for a call what it passes by value.
void inlineByValue(llvm::Module& module) {
  for (Function& function : module) {
    if (function.isDeclaration() || function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL ||
        llvm::none_of(function.args(),
                      [](const auto& argument) { return argument.hasByValAttr(); }))
      continue;
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

void expandGlobals(llvm::Module& module) {
  llvm::SmallVector<llvm::Constant*> variables;
  for (llvm::GlobalVariable& variable : module.globals()) variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables);
}

// Splits blocks, so what is to be replaced is looked up before.
void expandMemory(Function& function, const llvm::TargetTransformInfo& info) {
  llvm::SmallVector<llvm::MemIntrinsic*> operations;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* operation = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
      operations.push_back(operation);
  for (llvm::MemIntrinsic* operation : operations) {
    if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(operation)) {
      llvm::expandMemCpyAsLoop(copy, info);
    } else if (auto* move = llvm::dyn_cast<llvm::MemMoveInst>(operation)) {
      if (!llvm::expandMemMoveAsLoop(move, info)) continue;
    } else {
      llvm::expandMemSetAsLoop(llvm::cast<llvm::MemSetInst>(operation));
    }
    operation->eraseFromParent();
  }
}

}  // namespace

void makeSpirvModule(GpuModule& gpu) {
  llvm::Module& module = *gpu.module;
  module.setDataLayout(module.getDataLayoutStr() + "-A" + std::to_string(private_space));
  if (llvm::NamedMDNode* notes = module.getNamedMetadata("nvvm.annotations"))
    notes->eraseFromParent();
  moveGlobals(module);
  for (GpuKernel& kernel : gpu.kernels) {
    kernel.function = KernelMove(*kernel.function).run();
    kernel.launch = nullptr;
  }
  for (Function& function : module) moveVariables(function, private_space);
}

void simplifyForSpirv(llvm::Module& module, llvm::TargetMachine& machine,
                      const port::Target& target) {
  inlineByValue(module);
  Analyses analyses(machine, {});
  llvm::FunctionPassManager first;
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::EarlyCSEPass());
  first.addPass(llvm::InferAddressSpacesPass(generic_space));
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::InstCombinePass());
  first.addPass(llvm::SimplifyCFGPass());
  first.addPass(llvm::InferAddressSpacesPass(generic_space));
  first.addPass(llvm::EarlyCSEPass(true));
  first.addPass(llvm::ExpandReductionsPass());
  llvm::ScalarizerPassOptions by_elements;
  by_elements.ScalarizeLoadStore = true;
  first.addPass(llvm::ScalarizerPass(by_elements));
  first.addPass(llvm::ADCEPass());
  first.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager inlining;
  inlining.addPass(llvm::AlwaysInlinerPass());
  inlining.run(module, analyses.modules);
  // The copies of what was passed by value are where the pointers to it were to point.
  for (Function& function : module) moveVariables(function, private_space);
  analyses.modules.invalidate(module, llvm::PreservedAnalyses::none());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(first)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
  exchangeFloats(module, target);
  for (Function& function : module) {
    if (function.isDeclaration()) continue;
    nameUpperHalves(function);
    dropDead(function);
    expandKinds(function);
    expandFunnelShifts(function);
    expandReversals(function);
    expandOverflows(function);
    branchOnTruth(function);
    splitRepeatedEdges(function);
  }
  for (Function& function : module)
    if (!function.isDeclaration()) expandMemory(function, machine.getTargetTransformInfo(function));
  expandGlobals(module);
}

}  // namespace weft::compiler
