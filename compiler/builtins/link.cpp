#include <optional>

#include <llvm/ADT/StringSet.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/library.h"
#include "compiler/builtins/math_names.h"
#include "compiler/builtins/opaque_types.h"
#include "compiler/builtins/own_functions.h"

namespace weft::compiler {
namespace {

// The library's modules that define what `module` only declares.
llvm::SmallVector<uint32_t> findMissing(const llvm::Module& module, LateMath late) {
  llvm::SmallVector<uint32_t> found;
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty()) continue;
    if (late == LateMath::left && isLateMath(function.getName())) continue;
    if (const auto index = findBuiltinModule(function.getName())) found.push_back(*index);
  }
  llvm::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

struct TargetAttributes {
  llvm::Attribute cpu, features;
};

TargetAttributes targetAttributes(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.hasFnAttribute("target-cpu"))
      return {function.getFnAttribute("target-cpu"), function.getFnAttribute("target-features")};
  return {};
}

void adopt(llvm::Function& function, const TargetAttributes& target) {
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setCallingConv(llvm::CallingConv::C);
  for (llvm::User* user : function.users())
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
      call->setCallingConv(llvm::CallingConv::C);
  // Equal attributes, or the inliner would not mix the two.
  if (target.cpu.isValid()) function.addFnAttr(target.cpu);
  if (target.features.isValid()) function.addFnAttr(target.features);
}

}  // namespace

llvm::Error linkBuiltins(llvm::Module& module, LateMath late, GroupFunctions groups) {
  lowerOpaqueTypes(module);  // the library's modules are lowered already
  llvm::StringSet<> own;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration()) own.insert(function.getName());
  const TargetAttributes target = targetAttributes(module);

  std::optional<llvm::Linker> linker;
  const auto find = [&] {
    if (groups == GroupFunctions::own) useOwnGroupFunctions(module);
    if (groups == GroupFunctions::either) offerOwnSubGroupFunctions(module);
    return findMissing(module, late);
  };
  for (auto missing = find(); !missing.empty(); missing = find()) {
    if (!linker) linker.emplace(module);
    for (const uint32_t index : missing) {
      const std::string_view bitcode = builtinBitcode(index);
      auto source = llvm::getLazyBitcodeModule(
          llvm::MemoryBufferRef({bitcode.data(), bitcode.size()}, "builtins"), module.getContext(),
          /*ShouldLazyLoadMetadata=*/true);
      if (!source) return source.takeError();
      (*source)->setTargetTriple(module.getTargetTriple());
      (*source)->setDataLayout(module.getDataLayout());
      if (linker->linkInModule(std::move(*source), llvm::Linker::LinkOnlyNeeded))
        return llvm::createStringError("cannot link the builtin library");
    }
  }
  if (linker)
    for (llvm::Function& function : module)
      if (!function.isDeclaration() && !own.contains(function.getName())) adopt(function, target);
  return llvm::Error::success();
}

}  // namespace weft::compiler
