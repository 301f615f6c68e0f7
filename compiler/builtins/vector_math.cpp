// Math symbols of the builtin library (cl/sleef.def) become symbols of libsleef, or the library's
// own code where it has some that the target runs fast (cl/inline_math.cl).
//
// SLEEF's deterministic families return the same bits in every vector width, so that a result does
// not depend on whether a lane fell into the vector body of a loop or into its remainder: `finz`
// where fused multiply-add is there, `cinz` where not.
#include "compiler/builtins/vector_math.h"

#include <numeric>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/VFABIDemangler.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"
#include "compiler/builtins/math_names.h"
#include "compiler/builtins/number_parts.h"
#include "compiler/builtins/own_math.h"
#include "compiler/passes/simd/vector_forms.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::StringRef;
using llvm::Value;

struct Isa {
  const char* features;  // all must be there
  unsigned bits;         // of its vectors; 0 for the scalar form
  const char* family;
  const char* suffix;
};

// For each width the first row whose features the target has.
constexpr Isa isas[] = {
    {"+avx2,+fma", 0, "finz_", "purecfma"}, {"+avx2,+fma", 128, "finz_", "avx2128"},
    {"+avx2,+fma", 256, "finz_", "avx2"},   {"+avx512f,+avx2,+fma", 512, "finz_", "avx512f"},
    {"+sse2", 0, "cinz_", "purec"},         {"+sse4.1", 128, "cinz_", "sse4"},
    {"+sse2", 128, "cinz_", "sse2"},        {"+avx", 256, "cinz_", "avx"},
};

llvm::SmallVector<const Isa*, 4> selectIsas(const llvm::TargetMachine& machine) {
  llvm::SmallVector<const Isa*, 4> chosen;
  if (!machine.getTargetTriple().isX86()) return chosen;
  for (const Isa& isa : isas) {
    if (!machine.getMCSubtargetInfo()->checkFeatures(isa.features)) continue;
    const bool taken = llvm::any_of(chosen, [&](const Isa* c) { return c->bits == isa.bits; });
    const bool other_family = !chosen.empty() && StringRef(chosen.front()->family) != isa.family;
    if (!taken && !other_family) chosen.push_back(&isa);
  }
  return chosen;
}

bool fusesAll(const Isa& isa) { return StringRef(isa.family) == "finz_"; }

std::string symbolOf(const MathName& name, const Isa* isa, unsigned width) {
  const char* precision = name.is_double ? "d" : "f";
  // Only the fixed names exist everywhere: Sleef_sinf_u10, Sleef_sin_u10.
  if (!isa) return ("Sleef_" + name.function + (name.is_double ? "_" : "f_") + name.accuracy).str();
  return ("Sleef_" + llvm::Twine(isa->family) + name.function + precision + llvm::Twine(width) +
          "_" + name.accuracy + isa->suffix)
      .str();
}

// By which prefix the library has code for it that is linked late, or else null.
const llvm::StringLiteral* latePrefix(const MathName& name, bool has_parts) {
  if (findBuiltinModule(mathSymbol(late_math_prefix, name, name.width))) return &late_math_prefix;
  return hasFasterForm(name, has_parts) ? &own_math_prefix : nullptr;
}

class MathLowering {
 public:
  // Without `own_code`, SLEEF's symbols only.
  MathLowering(llvm::Module& module, const llvm::TargetMachine& machine, bool own_code)
      : module_(module),
        isas_(selectIsas(machine)),
        own_code_(own_code && fuses()),
        has_parts_(hasNumberParts(machine, 512)) {}

  void lower(Function& marker, MathName name) {
    late_ = own_code_ ? latePrefix(name, has_parts_) : nullptr;
    if (const std::string own = mathSymbol("__weft_inline_", name, name.width);
        own_code_ && findBuiltinModule(own)) {
      marker.replaceAllUsesWith(
          module_.getOrInsertFunction(own, marker.getFunctionType()).getCallee());
      marker.eraseFromParent();
      return;
    }
    if (late_) {
      marker.replaceAllUsesWith(lateForm(marker, name));
      marker.eraseFromParent();
      return;
    }
    // The one function that is not the same in every width: SLEEF's fast cosine without fused
    // multiply-add.
    if (!isas_.empty() && !fuses() && name.function == "cos") name.accuracy = "u10";
    Function* scalar = scalarForm(marker, name);
    if (name.width == 1) {
      marker.replaceAllUsesWith(scalar);
    } else {
      for (llvm::User* user : llvm::make_early_inc_range(marker.users()))
        lowerCall(*llvm::cast<llvm::CallInst>(user), name, scalar);
    }
    marker.eraseFromParent();
  }

  // For calls of a late form: that of another name.
  Function* otherForm(const Function& form, const MathName& name) {
    late_ = &late_math_prefix;
    return lateForm(form, name);
  }

  // A function of the library's own that is called by its name.
  void describe(Function& scalar, const MathName& name) {
    late_ = &own_math_prefix;
    declare(scalar.getName().str(), scalar.getFunctionType());
    describeVariants(scalar, name);
  }

 private:
  bool fuses() const { return !isas_.empty() && fusesAll(*isas_.front()); }

  std::string symbol(const MathName& name, const Isa* isa, unsigned width) const {
    return late_ ? mathSymbol(*late_, name, width) : symbolOf(name, isa, width);
  }

  Function* declare(const std::string& symbol, llvm::FunctionType* type) {
    auto* function = llvm::cast<Function>(module_.getOrInsertFunction(symbol, type).getCallee());
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setNoSync();
    function->setDoesNotFreeMemory();
    return function;
  }

  Function* vectorForm(const MathName& name, const Isa& isa, const llvm::FunctionType& scalar) {
    const unsigned width = isa.bits / scalar.getReturnType()->getScalarSizeInBits();
    llvm::SmallVector<llvm::Type*> parameters;
    for (llvm::Type* parameter : scalar.params())
      parameters.push_back(llvm::FixedVectorType::get(parameter, width));
    auto* vector = llvm::FixedVectorType::get(scalar.getReturnType(), width);
    return declare(symbol(name, &isa, width), llvm::FunctionType::get(vector, parameters, false));
  }

  Function* scalarForm(const Function& marker, const MathName& name) {
    llvm::Type* element = marker.getReturnType()->getScalarType();
    const llvm::SmallVector<llvm::Type*> parameters(marker.arg_size(), element);
    const Isa* isa = isas_.empty() ? nullptr : isas_.front();
    Function* scalar =
        declare(symbol(name, isa, 1), llvm::FunctionType::get(element, parameters, false));
    if (!scalar->hasFnAttribute(llvm::VFABI::MappingsAttrName)) describeVariants(*scalar, name);
    return scalar;
  }

  Function* lateForm(const Function& marker, const MathName& name) {
    Function* scalar = scalarForm(marker, name);
    if (name.width == 1) return scalar;
    Function* form = declare(mathSymbol(*late_, name, name.width), marker.getFunctionType());
    form->addFnAttr(element_form_attribute, scalar->getName());
    return form;
  }

  // The vectoriser looks variants up by this attribute and needs their declarations to be there.
  void describeVariants(Function& scalar, const MathName& name) {
    std::string mappings;
    llvm::SmallVector<llvm::GlobalValue*> kept{&scalar};
    for (const Isa* isa : isas_) {
      if (isa->bits == 0) continue;
      Function* vector = vectorForm(name, *isa, *scalar.getFunctionType());
      const unsigned width = isa->bits / scalar.getReturnType()->getScalarSizeInBits();
      mappings += (mappings.empty() ? "" : ",") + ("_ZGV_LLVM_N" + std::to_string(width)) +
                  std::string(scalar.arg_size(), 'v') + "_" + scalar.getName().str() + "(" +
                  vector->getName().str() + ")";
      vector->addFnAttr(element_form_attribute, scalar.getName());
      kept.push_back(vector);
    }
    if (mappings.empty()) return;
    scalar.addFnAttr(llvm::VFABI::MappingsAttrName, mappings);
    llvm::appendToCompilerUsed(module_, kept);
  }

  // The narrowest vectors that hold `width` elements, or else the widest there are.
  const Isa* fitting(unsigned bits) const {
    const Isa* best = nullptr;
    for (const Isa* isa : isas_) {
      if (isa->bits == 0) continue;
      if (!best || (best->bits < bits ? isa->bits > best->bits
                                      : isa->bits >= bits && isa->bits < best->bits))
        best = isa;
    }
    return best;
  }

  void lowerCall(llvm::CallInst& call, const MathName& name, Function* scalar) {
    llvm::IRBuilder<> builder(&call);
    llvm::Type* element = call.getType()->getScalarType();
    const Isa* isa = fitting(name.width * element->getScalarSizeInBits());
    Value* result = isa ? callInPieces(builder, call, name, *isa) : callEach(builder, call, scalar);
    call.replaceAllUsesWith(result);
    call.eraseFromParent();
  }

  Value* callInPieces(llvm::IRBuilder<>& builder, llvm::CallInst& call, const MathName& name,
                      const Isa& isa) {
    llvm::Type* element = call.getType()->getScalarType();
    const unsigned piece = isa.bits / element->getScalarSizeInBits();
    const llvm::SmallVector<llvm::Type*> parameters(call.arg_size(), element);
    Function* function =
        vectorForm(name, isa, *llvm::FunctionType::get(element, parameters, false));
    llvm::SmallVector<Value*> results;
    for (unsigned begin = 0; begin < name.width; begin += piece) {
      // Missing elements repeat the last one: what is there stays on the common path.
      llvm::SmallVector<int> mask;
      for (unsigned i = 0; i < piece; ++i)
        mask.push_back(static_cast<int>(std::min(begin + i, name.width - 1)));
      llvm::SmallVector<Value*> arguments;
      for (Value* argument : call.args())
        arguments.push_back(builder.CreateShuffleVector(argument, mask));
      results.push_back(builder.CreateCall(function, arguments));
    }
    Value* all = llvm::concatenateVectors(builder, results);
    llvm::SmallVector<int> wanted(name.width);
    std::iota(wanted.begin(), wanted.end(), 0);
    return results.size() * piece == name.width ? all : builder.CreateShuffleVector(all, wanted);
  }

  Value* callEach(llvm::IRBuilder<>& builder, llvm::CallInst& call, Function* scalar) {
    Value* result = llvm::PoisonValue::get(call.getType());
    const unsigned width = llvm::cast<llvm::FixedVectorType>(call.getType())->getNumElements();
    for (unsigned i = 0; i < width; ++i) {
      llvm::SmallVector<Value*> arguments;
      for (Value* argument : call.args())
        arguments.push_back(builder.CreateExtractElement(argument, i));
      result = builder.CreateInsertElement(result, builder.CreateCall(scalar, arguments), i);
    }
    return result;
  }

  llvm::Module& module_;
  llvm::SmallVector<const Isa*, 4> isas_;
  bool own_code_, has_parts_;
  const llvm::StringLiteral* late_ = nullptr;  // its prefix, if the function in hand is such
};

void lowerMath(llvm::Module& module, const llvm::TargetMachine& machine, bool own_code) {
  llvm::SmallVector<Function*> markers, own;
  for (Function& function : module) {
    if (!function.isDeclaration()) continue;
    if (parseMathName(function.getName())) markers.push_back(&function);
    if (parseOwnMathName(function.getName())) own.push_back(&function);
  }
  if (markers.empty() && own.empty()) return;
  MathLowering lowering(module, machine, own_code);
  for (Function* function : own)
    lowering.describe(*function, *parseOwnMathName(function->getName()));
  for (Function* marker : markers) lowering.lower(*marker, *parseMathName(marker->getName()));
}

// Of one number, in one block.
struct SineAndCosine {
  llvm::SmallVector<llvm::CallInst*, 1> sines, cosines;
};

// The late form that is called, also through functions that do nothing else.
Function* calledForm(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  Function* callee = call && call->arg_size() == 1 ? call->getCalledFunction() : nullptr;
  while (callee && !callee->isDeclaration()) {
    auto* inner = llvm::dyn_cast<llvm::CallInst>(&callee->getEntryBlock().front());
    const auto* end = inner ? llvm::dyn_cast<llvm::ReturnInst>(inner->getNextNode()) : nullptr;
    const bool passes_on = end && end->getReturnValue() == inner && inner->arg_size() == 1 &&
                           inner->getArgOperand(0) == callee->getArg(0) &&
                           inner->getFunctionType() == callee->getFunctionType();
    callee = passes_on ? inner->getCalledFunction() : nullptr;
  }
  return callee && callee->getName().starts_with(late_math_prefix) ? callee : nullptr;
}

}  // namespace

void pairSinesAndCosines(llvm::Module& module, const llvm::TargetMachine& machine) {
  llvm::MapVector<std::pair<Value*, llvm::BasicBlock*>, SineAndCosine> found;
  for (Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const Function* form = calledForm(instruction);
      const StringRef name = form ? form->getName().drop_front(late_math_prefix.size()) : "";
      const bool is_sine = name.starts_with("sin_");
      if (!is_sine && !name.starts_with("cos_")) continue;
      SineAndCosine& both = found[{instruction.getOperand(0), instruction.getParent()}];
      (is_sine ? both.sines : both.cosines).push_back(llvm::cast<llvm::CallInst>(&instruction));
    }
  found.remove_if(
      [](const auto& entry) { return entry.second.sines.empty() || entry.second.cosines.empty(); });
  if (found.empty()) return;
  MathLowering lowering(module, machine, true);
  for (auto& [of, both] : found)
    for (llvm::CallInst* call : llvm::concat<llvm::CallInst*>(both.sines, both.cosines)) {
      const Function& form = *calledForm(*call);
      const std::string paired =
          ("paired_" + form.getName().drop_front(late_math_prefix.size())).str();
      call->setCalledFunction(lowering.otherForm(form, *parseFunctionAndType(paired)));
      call->setCallingConv(llvm::CallingConv::C);
    }
}

bool hasFasterMath(const llvm::TargetMachine& machine) {
  const auto isas = selectIsas(machine);
  return !isas.empty() && fusesAll(*isas.front());
}

llvm::Error addVectorVariants(llvm::Module& module, const llvm::TargetMachine& machine) {
  lowerMath(module, machine, true);
  if (llvm::Error error = linkBuiltins(module)) return error;
  keepNumberParts(module, machine);
  return llvm::Error::success();
}

void useSleefAlone(llvm::Module& module, const llvm::TargetMachine& machine) {
  lowerMath(module, machine, false);
}

}  // namespace weft::compiler
