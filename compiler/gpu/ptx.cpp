#include "compiler/gpu/ptx.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

namespace weft::compiler {
namespace {

// `{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }`
constexpr std::string_view pair_begin = "{ .reg .b32 tmp; mov.b64 {tmp, ", pair_middle = "}, ",
                           pair_end = "; }";

// The text between `from` and the next `mark`, and where that mark ends.
std::pair<std::string_view, size_t> upTo(std::string_view text, size_t from,
                                         std::string_view mark) {
  const size_t end = text.find(mark, from);
  if (end == std::string_view::npos) return {{}, end};
  return {text.substr(from, end - from), end + mark.size()};
}

// An instruction's parts: `max.s32`, `%r3`, `%r1`, `%r2`.
llvm::SmallVector<llvm::StringRef, 4> partsOf(llvm::StringRef line) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  line = line.trim();
  if (!line.consume_back(";")) return parts;
  line.split(parts, ',');
  const auto [operation, result] = parts.front().split('\t');
  parts.front() = operation.trim();
  parts.insert(parts.begin() + 1, result);
  for (llvm::StringRef& part : parts) part = part.trim();
  return parts;
}

bool isExtremum(llvm::StringRef operation) {
  return operation == "max.s32" || operation == "min.s32" || operation == "max.s16" ||
         operation == "min.s16";
}

// The registers that extrema are taken of, by way of copies, too.
llvm::StringSet<> comparedIn(llvm::ArrayRef<llvm::StringRef> lines) {
  llvm::StringSet<> compared;
  for (bool grows = true; grows;) {
    const size_t before = compared.size();
    for (const llvm::StringRef line : lines) {
      const auto parts = partsOf(line);
      if (parts.size() == 4 && isExtremum(parts[0])) {
        compared.insert(parts[2]);
        compared.insert(parts[3]);
      } else if (parts.size() == 3 && parts[0].starts_with("mov.") && compared.contains(parts[1])) {
        compared.insert(parts[2]);
      }
    }
    grows = compared.size() != before;
  }
  return compared;
}

bool isImpossible(const llvm::Value* value) {
  constexpr unsigned generic_space = 0;
  const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(value);
  return cast && cast->getSrcAddressSpace() != generic_space &&
         cast->getDestAddressSpace() != generic_space;
}

bool isCastImpossibly(const llvm::Constant& constant) {
  return llvm::any_of(constant.users(), [](const llvm::User* user) {
    const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(user);
    return expression && (isImpossible(expression) || isCastImpossibly(*expression));
  });
}

}  // namespace

void defineRegisters(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!llvm::isa<llvm::PHINode, llvm::FreezeInst>(instruction)) continue;
      for (llvm::Use& value : instruction.operands())
        if (llvm::isa<llvm::UndefValue>(value))
          value.set(llvm::Constant::getNullValue(value->getType()));
    }
}

void dropImpossibleCasts(llvm::Module& module) {
  llvm::SmallVector<llvm::Constant*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (isCastImpossibly(variable)) variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!isImpossible(&instruction)) continue;
      instruction.replaceAllUsesWith(llvm::Constant::getNullValue(instruction.getType()));
      instruction.eraseFromParent();
    }
}

void lowerPrivateAtomics(llvm::Module& module) {
  const auto isPrivate = [](const llvm::Value* pointer) {
    return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
  };
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        if (isPrivate(update->getPointerOperand())) llvm::lowerAtomicRMWInst(update);
      } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        if (isPrivate(exchange->getPointerOperand())) llvm::lowerAtomicCmpXchgInst(exchange);
      }
}

std::string shiftUpperHalves(std::string_view ptx) {
  std::string made;
  made.reserve(ptx.size());
  size_t done = 0;
  for (size_t at = ptx.find(pair_begin); at != std::string_view::npos;
       at = ptx.find(pair_begin, at + 1)) {
    const auto [half, from] = upTo(ptx, at + pair_begin.size(), pair_middle);
    if (from == std::string_view::npos) break;
    const auto [whole, end] = upTo(ptx, from, pair_end);
    if (end == std::string_view::npos) break;
    made += ptx.substr(done, at - done);
    made += "{ .reg .b64 tmp; shr.u64 tmp, ";
    made.append(whole) += ", 32; cvt.u32.u64 ";
    made.append(half) += ", tmp; }";
    done = end;
  }
  return made += ptx.substr(done);
}

std::string complementNegatives(std::string_view ptx) {
  const llvm::StringRef text(ptx.data(), ptx.size());
  if (!text.contains("neg.s")) return std::string(ptx);
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  const llvm::StringSet<> compared = comparedIn(lines);
  std::string made;
  made.reserve(ptx.size());
  for (const llvm::StringRef line : lines) {
    const auto parts = partsOf(line);
    const bool is_negative = parts.size() == 3 &&
                             (parts[0] == "neg.s32" || parts[0] == "neg.s16") &&
                             compared.contains(parts[1]);
    if (is_negative) {
      const std::string bits = parts[0].take_back(2).str(), result = parts[1].str();
      made += "\tnot.b" + bits + " \t" + result + ", " + parts[2].str() + ";\n\tadd.s" + bits +
              " \t" + result + ", " + result + ", 1;";
    } else {
      made += line;
    }
    made += '\n';
  }
  made.pop_back();
  return made;
}

}  // namespace weft::compiler
