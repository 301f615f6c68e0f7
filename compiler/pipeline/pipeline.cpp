#include "compiler/pipeline/pipeline.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include "compiler/frontend/frontend.h"
#include "compiler/metadata/kernel_info.h"
#include "compiler/options.h"
#include "compiler/passes/blocks.h"
#include "compiler/pipeline/bitcode.h"
#include "compiler/pipeline/constructors.h"
#include "compiler/pipeline/divisions.h"
#include "compiler/pipeline/executable.h"
#include "compiler/pipeline/later_code.h"
#include "compiler/pipeline/log_diagnostics.h"
#include "compiler/spirv/frontend.h"
#include "core/deferred_code.h"
#include "core/image.h"

namespace weft::compiler {
namespace {

constexpr port::OptionUse uses[] = {port::OptionUse::compile, port::OptionUse::link,
                                    port::OptionUse::build, port::OptionUse::build,
                                    port::OptionUse::build};

class Run {
 public:
  Run(const Job& job, unsigned processes)
      : job_(job),
        processes_(processes),
        options_(parseOptions(job.options, uses[static_cast<size_t>(job.kind)])) {
    setOwnOptions();
    context_.setDiagnosticHandler(
        std::make_unique<LogDiagnostics>(answer_.result.log, options_.remarks));
  }

  Answer go() {
    if (job_.kind == JobKind::part || job_.kind == JobKind::all_parts) {
      makeLater();  // from options that were taken once
    } else if (!options_.error.empty()) {
      fail(options_.error);
    } else if (job_.kind == JobKind::link) {
      link();
    } else if (auto module = compileSource()) {
      if (job_.kind == JobKind::compile)
        finishBitcode(*module, ImageKind::object);
      else
        finishExecutable(*module);
    }
    return std::move(answer_);
  }

 private:
  void setOwnOptions() {
    options_.vectorising = job_.vectorising;
    options_.deferring = job_.deferring;
    options_.linking = job_.kind == JobKind::link;
    options_.processes = processes_;
  }

  void fail(const std::string& message) { answer_.result.log += "error: " + message + "\n"; }

  std::unique_ptr<llvm::Module> compileSource() {
    FrontendResult result = job_.intermediate ? spirv::runFrontend(job_, options_, context_)
                                              : runFrontend(job_, options_, context_);
    answer_.files = std::move(result.files);
    answer_.result.log += result.log;
    if (result.module) {
      keepInlineFunctions(*result.module);
      keepConstructors(*result.module);
      allowRaggedGroups(*result.module);
      markBlocks(*result.module);
      defineDivisions(*result.module);
    }
    return std::move(result.module);
  }

  // Clang takes C++ for OpenCL for a version before 2.0, whose groups must divide the range.
  void allowRaggedGroups(llvm::Module& module) const {
    if (!module.getNamedMetadata("opencl.cxx.version") ||
        llvm::is_contained(options_.frontend, "-cl-uniform-work-group-size"))
      return;
    for (llvm::Function& function : module) function.removeFnAttr("uniform-work-group-size");
  }

  // C's `inline` alone promises an external definition that OpenCL programs never write.
  static void keepInlineFunctions(llvm::Module& module) {
    for (llvm::Function& function : module)
      if (function.hasAvailableExternallyLinkage())
        function.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
  }

  void link() {
    auto merged = std::make_unique<llvm::Module>("linked", context_);
    llvm::Linker linker(*merged);
    bool first = true;
    for (const port::Bytes& object : job_.objects) {
      auto module = readObject(object);
      if (!module) return;
      // The empty module has no triple of its own to be compared with.
      if (std::exchange(first, false)) {
        merged->setTargetTriple(module->getTargetTriple());
        merged->setDataLayout(module->getDataLayout());
      }
      if (linker.linkInModule(std::move(module))) return fail("linking failed");
    }
    if (job_.make_library || options_.create_library)
      finishBitcode(*merged, ImageKind::library);
    else
      finishExecutable(*merged);
  }

  // The code that an executable left for later.
  void makeLater() {
    Image image;
    DeferredCode code;
    if (job_.kind == JobKind::part) {
      image.target = job_.target;
      image.options = job_.options;
      code.parts = job_.objects;
      code.linked = job_.linked;
    } else if (!readLater(image, code)) {
      return fail("internal error: no code was left for later");
    }
    if (code.linked) {
      options_ = parseOptions(job_.options, port::OptionUse::link);
      setOwnOptions();
    }
    if (llvm::Error error = makeDeferred(code, context_, options_, image))
      return fail(llvm::toString(std::move(error)));
    if (!context_.getDiagHandlerPtr()->HasErrors) succeed(image);
  }

  bool readLater(Image& image, DeferredCode& code) const {
    auto given = job_.objects.size() == 1 ? readImage(job_.objects.front()) : std::nullopt;
    auto left = given ? readDeferred(given->payload) : std::nullopt;
    if (!left) return false;
    image = std::move(*given);
    code = std::move(*left);
    return true;
  }

  std::unique_ptr<llvm::Module> readObject(const port::Bytes& bytes) {
    const auto image = readImage(bytes);
    if (!image || image->kind == ImageKind::executable) {
      fail("an input of the link is not a compiled object or library");
      return nullptr;
    }
    auto module = readBitcode(image->payload, context_);
    if (!module) {
      fail(llvm::toString(module.takeError()));
      return nullptr;
    }
    return std::move(*module);
  }

  // Source names every argument, other languages may not.
  static bool hasNames(const KernelInfo& kernel) {
    return std::none_of(
        kernel.arguments.begin(), kernel.arguments.end(),
        [&](const ArgumentInfo& argument) { return argument.name.empty() && !kernel.is_block; });
  }

  Image newImage(const llvm::Module& module, ImageKind kind) const {
    Image image;
    image.kind = kind;
    image.target = job_.target;
    image.options = job_.options;
    image.kernels = readKernels(module);
    image.global_variable_bytes = globalVariableBytes(module);
    image.argument_names = std::all_of(image.kernels.begin(), image.kernels.end(), hasNames);
    return image;
  }

  void finishBitcode(const llvm::Module& module, ImageKind kind) {
    Image image = newImage(module, kind);
    image.payload = writeBitcode(module);
    succeed(image);
  }

  // Without the kernels that the wanted one has no use for.
  void keepWanted(llvm::Module& module) const {
    const auto isUseless = [&](const llvm::Function& function) {
      return function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL && function.use_empty() &&
             function.getName() != job_.kernel;
    };
    for (bool any = true; any;) {
      any = false;
      for (llvm::Function& function : llvm::make_early_inc_range(module)) {
        if (!isUseless(function)) continue;
        function.eraseFromParent();
        any = true;
      }
    }
  }

  void finishExecutable(llvm::Module& module) {
    if (!job_.kernel.empty()) keepWanted(module);
    Image image = newImage(module, ImageKind::executable);
    if (llvm::Error error = makeExecutable(module, options_, image))
      return fail(llvm::toString(std::move(error)));
    // LLVM goes on after what it cannot select, and says so in the log alone.
    if (context_.getDiagHandlerPtr()->HasErrors) return;
    succeed(image);
  }

  void succeed(const Image& image) {
    answer_.result.image = writeImage(image);
    answer_.result.ok = true;
  }

  const Job& job_;
  const unsigned processes_;
  Options options_;
  Answer answer_;
  llvm::LLVMContext context_;
};

}  // namespace

Answer runJob(const Job& job, unsigned processes) { return Run(job, processes).go(); }

}  // namespace weft::compiler
