#include "tests/compiler/builtins/program.h"

#include <dlfcn.h>

#include <stdexcept>

#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/saturated_conversions.h"

namespace weft::test {
namespace {

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

template <class T>
T check(llvm::Expected<T> value) {
  if (!value) fail(llvm::toString(value.takeError()));
  return std::move(*value);
}

// What the compiler's pipeline does to spir64 code: host layout, C calling convention.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setCallingConv(llvm::CallingConv::C);
  }
}

}  // namespace

std::unique_ptr<llvm::Module> loadModule(const std::string& name, llvm::LLVMContext& context) {
  llvm::SMDiagnostic diagnostic;
  auto module =
      llvm::parseIRFile(std::string(WEFT_TEST_BITCODE) + "/" + name + ".bc", diagnostic, context);
  if (!module) fail(diagnostic.getMessage().str());
  retarget(*module, *makeMachine());
  return module;
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const std::string& features) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string own, error;
  if (features.empty())
    for (const auto& [feature, present] : llvm::sys::getHostCPUFeatures())
      own += (present ? "+" : "-") + feature.str() + ",";
  const std::string triple = llvm::sys::getProcessTriple();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) fail(error);
  const std::string cpu = features.empty() ? llvm::sys::getHostCPUName().str() : "x86-64";
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features.empty() ? own : features, {}, llvm::Reloc::PIC_));
}

Program::Program(const std::string& name, const std::string& features, MathSource math) {
  if (!dlopen("libsleef.so.3", RTLD_NOW | RTLD_GLOBAL)) fail(dlerror());
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = loadModule(name, *context);
  const auto machine = makeMachine(features);
  const bool is_faster = math == MathSource::faster && compiler::hasFasterMath(*machine);
  const auto which = is_faster ? compiler::OwnMath::faster : compiler::OwnMath::all;
  const bool is_own = math == MathSource::own;
  if (is_faster || is_own) compiler::useOwnMath(*module, which);
  const auto late = is_own ? compiler::LateMath::linked : compiler::LateMath::left;
  if (llvm::Error error = compiler::linkBuiltins(*module, late))
    fail(llvm::toString(std::move(error)));
  if (is_own)
    if (llvm::Error error = compiler::defineOwnMath(*module))
      fail(llvm::toString(std::move(error)));
  compiler::lowerPrintf(*module);
  if (machine->getTargetTriple().isX86()) compiler::lowerSaturatedConversions(*module);
  if (llvm::Error error = compiler::addVectorVariants(*module, *machine))
    fail(llvm::toString(std::move(error)));
  if (auto linked = compiler::linkLateMath(*module, *machine); !linked)
    fail(llvm::toString(linked.takeError()));
  llvm::raw_string_ostream(text_) << *module;
  llvm::raw_string_ostream problems(text_);
  if (llvm::verifyModule(*module, &problems)) fail(problems.str());
  unresolved_ = compiler::unresolvedFunctions(*module);
  if (!unresolved_.empty()) return;

  llvm::orc::JITTargetMachineBuilder builder(machine->getTargetTriple());
  builder.setCPU(machine->getTargetCPU().str());
  builder.getFeatures() = llvm::SubtargetFeatures(machine->getTargetFeatureString());
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  jit_ = check(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create());
  jit_->getMainJITDylib().addGenerator(
      check(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit_->getDataLayout().getGlobalPrefix())));
  if (llvm::Error error =
          jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    fail(llvm::toString(std::move(error)));
}

Program::~Program() = default;

void* Program::address(const std::string& name) const {
  return check(jit_->lookup(name)).toPtr<void*>();
}

}  // namespace weft::test
