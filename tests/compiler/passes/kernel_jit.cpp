#include "tests/compiler/passes/kernel_jit.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include "compiler/passes/analyses.h"
#include "compiler/passes/lane_order.h"
#include "compiler/passes/loop_rotation.h"
#include "compiler/passes/scalarise_lanes.h"

namespace weft::test {
namespace {

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "kernel_jit: %s\n", message.c_str());
  std::abort();
}

std::string temporaryPath(const char* suffix) {
  static int count = 0;
  return ::testing::TempDir() + "weft_passes_" + std::to_string(getpid()) + "_" +
         std::to_string(count++) + suffix;
}

}  // namespace

port::LaunchRecord recordOf(const NdRange& range) {
  port::LaunchRecord record;
  record.work_dim = range.work_dim;
  for (int d = 0; d < 3; ++d) {
    record.global_size[d] = range.global[d];
    record.local_size[d] = range.local[d];
    record.global_offset[d] = range.offset[d];
    record.group_count[d] = (range.global[d] + range.local[d] - 1) / range.local[d];
  }
  return record;
}

llvm::TargetMachine& hostMachine() {
  static llvm::TargetMachine* machine = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    std::string error;
    std::string triple = llvm::sys::getDefaultTargetTriple();
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target) fail(error);
    const char* const widest = std::getenv("WEFT_CPU_VECTORS");
    if (widest && std::string_view(widest) != "512") {
      const bool has_avx2 = std::string_view(widest) == "256";
      return target->createTargetMachine(triple, has_avx2 ? "x86-64-v3" : "x86-64-v2",
                                         has_avx2 ? "+avx2" : "-avx", {}, llvm::Reloc::PIC_);
    }
    std::string features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      features += (feature.second ? ",+" : ",-") + feature.first().str();
    return target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features.substr(1), {},
                                       llvm::Reloc::PIC_);
  }();
  return *machine;
}

std::unique_ptr<llvm::Module> compileOpenCl(llvm::LLVMContext& context, const std::string& source,
                                            const std::string& options) {
  std::string input = temporaryPath(".cl"), output = temporaryPath(".bc");
  std::ofstream(input) << source;
  std::string command = std::string(WEFT_CLANG) +
                        " -target spir64 -cl-std=CL3.0 -Xclang -fdeclare-opencl-builtins "
                        "-Xclang -finclude-default-header -Wno-everything -emit-llvm -O2 "
                        "-Xclang -disable-llvm-passes -c " +
                        options + " -o " + output + " " + input;
  if (std::system(command.c_str()) != 0) fail("clang failed on:\n" + source);
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseIRFile(output, diagnostic, context);
  unlink(input.c_str());
  unlink(output.c_str());
  if (!module) fail(diagnostic.getMessage().str());
  module->setTargetTriple(hostMachine().getTargetTriple().str());
  module->setDataLayout(hostMachine().createDataLayout());
  return module;
}

std::vector<KernelInfo> describeKernels(const llvm::Module& module) {
  std::vector<KernelInfo> kernels;
  for (const llvm::Function& function : module) {
    if (function.getCallingConv() != llvm::CallingConv::SPIR_KERNEL) continue;
    kernels.emplace_back();
    kernels.back().name = function.getName().str();
    if (const llvm::MDNode* required = function.getMetadata("reqd_work_group_size"))
      for (unsigned d = 0; d < 3; ++d)
        kernels.back().required_local_size[d] =
            llvm::mdconst::extract<llvm::ConstantInt>(required->getOperand(d))->getZExtValue();
    kernels.back().uniform_groups =
        function.getFnAttribute("uniform-work-group-size").getValueAsBool();
    for (const llvm::Argument& argument : function.args()) {
      llvm::Type* by_value = argument.getParamByValType();
      llvm::Type* type = by_value ? by_value : argument.getType();
      ArgumentInfo& info = kernels.back().arguments.emplace_back();
      info.size = static_cast<uint32_t>(module.getDataLayout().getTypeAllocSize(type));
    }
  }
  return kernels;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  compiler::Analyses analyses(machine);
  compiler::scalariseLanes(analyses.builder);
  compiler::keepLaneOrder(analyses.builder);
  compiler::rotateManyLoops(analyses.builder);
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses.modules);
}

std::string optimisedText(const std::string& source, const std::string& kernel,
                          compiler::Vectorising vectorise) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  std::vector<KernelInfo> kernels = describeKernels(*module);
  if (llvm::Error error =
          compiler::lowerKernels(*module, hostMachine(), kernels, {true, vectorise}))
    fail(llvm::toString(std::move(error)));
  optimise(*module, hostMachine());
  std::string text;
  llvm::raw_string_ostream(text) << *module->getFunction("weft_kernel_" + kernel);
  return text;
}

std::vector<KernelInfo> loweredKernels(const std::string& source, bool optimize) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  std::vector<KernelInfo> kernels = describeKernels(*module);
  if (llvm::Error error =
          compiler::lowerKernels(*module, hostMachine(), kernels, {.optimize = optimize}))
    fail(llvm::toString(std::move(error)));
  return kernels;
}

Program::Program(const std::string& source, const compiler::LoweringOptions& options) {
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = compileOpenCl(*context, source);
  kernels_ = describeKernels(*module);
  if (llvm::Error error = compiler::lowerKernels(*module, hostMachine(), kernels_, options))
    fail(llvm::toString(std::move(error)));
  if (std::getenv("WEFT_TEST_PRINT")) module->print(llvm::errs(), nullptr);
  if (options.optimize) test::optimise(*module, hostMachine());
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) fail(llvm::toString(builder.takeError()));
  if (!options.optimize) builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!jit) fail(llvm::toString(jit.takeError()));
  jit_ = std::move(*jit);
  if (llvm::Error error =
          jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    fail(llvm::toString(std::move(error)));
}

Program::~Program() = default;

const KernelInfo& Program::info(const std::string& kernel) const {
  for (const KernelInfo& info : kernels_)
    if (info.name == kernel) return info;
  fail("no kernel " + kernel);
}

void Program::run(const std::string& kernel, const NdRange& range, std::vector<Argument> arguments,
                  const port::GroupBox* part) const {
  const KernelInfo& description = info(kernel);
  uint64_t local_bytes = llvm::alignTo(description.local_bytes, 128);
  for (Argument& argument : arguments)
    if (argument.local_bytes) {
      std::memcpy(argument.bytes.data(), &local_bytes, sizeof local_bytes);
      local_bytes += llvm::alignTo(argument.local_bytes, 128);
    }
  std::vector<const void*> pointers;
  for (Argument& argument : arguments) pointers.push_back(argument.bytes.data());
  uint64_t lanes = llvm::alignTo(range.local[0] * range.local[1] * range.local[2], 64);
  uint64_t context_bytes = description.lane_context_bytes * lanes;
  // Both are exactly as large as promised (up to alignment), and start as garbage.
  auto allocate = [](uint64_t bytes) {
    auto* memory = static_cast<char*>(std::aligned_alloc(128, llvm::alignTo(bytes + 1, 128)));
    std::memset(memory, 0xa5, llvm::alignTo(bytes + 1, 128));
    return std::unique_ptr<char, decltype(&std::free)>(memory, &std::free);
  };
  auto local = allocate(local_bytes), context = allocate(context_bytes);
  auto symbol = jit_->lookup(description.symbol);
  if (!symbol) fail(llvm::toString(symbol.takeError()));
  port::LaunchRecord record = recordOf(range);
  port::GroupBox box;
  for (int d = 0; d < 3; ++d) box.end[d] = record.group_count[d];
  if (part) box = *part;
  symbol->toPtr<port::CpuKernelEntry>()(pointers.data(), &record, &box, local.get(),
                                        context_bytes ? context.get() : nullptr);
  for (uint64_t i = local_bytes; i < llvm::alignTo(local_bytes + 1, 128); ++i)
    ASSERT_EQ(static_cast<unsigned char>(local.get()[i]), 0xa5) << "write behind local memory";
  for (uint64_t i = context_bytes; i < llvm::alignTo(context_bytes + 1, 128); ++i)
    ASSERT_EQ(static_cast<unsigned char>(context.get()[i]), 0xa5) << "write behind the context";
}

}  // namespace weft::test
