#include "compiler/frontend/frontend.h"

#include <clang/Basic/TargetInfo.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>

#include "compiler/frontend/annotations.h"
#include "compiler/frontend/destructors.h"
#include "compiler/frontend/language.h"
#include "compiler/frontend/recording_file_system.h"
#include "compiler/frontend/resources.h"
#include "compiler/frontend/single_constants.h"

namespace weft::compiler {
namespace {

// Names that no real file has.
constexpr const char* main_file = "<source>";
constexpr const char* base_header = "/weft-resources/opencl-c-base.h";
constexpr const char* header_directory = "/weft-headers";

class EmitModule : public clang::ASTFrontendAction {
 public:
  explicit EmitModule(llvm::LLVMContext& context) : context_(context) {}
  std::unique_ptr<llvm::Module> takeModule() { return std::move(module_); }

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    generator_ =
        clang::CreateLLVMCodeGen(instance.getDiagnostics(), file, &instance.getVirtualFileSystem(),
                                 instance.getHeaderSearchOpts(), instance.getPreprocessorOpts(),
                                 instance.getCodeGenOpts(), context_);
    std::unique_ptr<clang::ASTConsumer> generator(generator_);
    if (!instance.getLangOpts().SinglePrecisionConstants) return generator;
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(roundConstantsToSingle());
    consumers.push_back(std::move(generator));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }
  void EndSourceFileAction() override {
    if (llvm::Module* module = generator_->GetModule()) {
      listDestructors(*module, *generator_, getCompilerInstance().getASTContext());
      dropAnnotations(*module);
    }
    module_.reset(generator_->ReleaseModule());
  }

 private:
  llvm::LLVMContext& context_;
  clang::CodeGenerator* generator_ = nullptr;  // owned by the instance
  std::unique_ptr<llvm::Module> module_;
};

std::vector<std::string> clangArguments(const Job& job, const Options& options) {
  std::vector<std::string> arguments = {
      "-triple",
      "spir64-unknown-unknown",
      "-O2",
      "-disable-llvm-passes",
      "-relaxed-aliasing",  // programs read bytes as what they were not written as
      "-ffp-contract=on",
      "-fdeclare-opencl-builtins",
      "-nostdsysteminc",
      "-nobuiltininc",
      "-cl-kernel-arg-info",
      "-ferror-limit",
      "20",
      "-U",
      "__SPIR__",
      "-U",
      "__SPIR64__",
      "-D",
      "__OPENCL_VERSION__=" + std::to_string(job.features.version),
      "-include",
      base_header,
      "-I",
      header_directory};
  const auto language = languageArguments(options, job.features);
  arguments.insert(arguments.end(), language.begin(), language.end());
  // AMD's names for where a program runs, which programs ask about that were written for them.
  const bool on_host = job.target.kind == port::TargetKind::host_cpu;
  for (const char* name : {on_host ? "__CPU__" : "__GPU__", on_host ? "__X86_64__" : nullptr})
    if (name) arguments.insert(arguments.end(), {"-D", std::string(name) + "=1"});
  if (options.debug)
    arguments.insert(arguments.end(), {"-debug-info-kind=standalone", "-dwarf-version=5"});
  else if (options.remarks)
    arguments.insert(arguments.end(), {"-debug-info-kind=line-tables-only", "-dwarf-version=5"});
  arguments.insert(arguments.end(), options.frontend.begin(), options.frontend.end());
  // A quoted include is looked for in the working directory after the request's own headers.
  arguments.insert(arguments.end(), {"-iquote", ".", "-x", "cl", main_file});
  return arguments;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> requestFiles(
    const Job& job, const llvm::IntrusiveRefCntPtr<RecordingFileSystem>& real) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  memory->addFile(base_header, 0,
                  llvm::MemoryBuffer::getMemBuffer(openclBaseHeader(), base_header));
  // "If multiple entries in header_include_names refer to the same header name, the last one
  // encountered will be used."
  for (auto header = job.headers.rbegin(); header != job.headers.rend(); ++header) {
    const std::string path = std::string(header_directory) + "/" + header->name;
    if (!memory->exists(path))
      memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(header->text, path));
  }
  auto all = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(real);
  all->pushOverlay(memory);
  return all;
}

// Sources may hold a terminating NUL, which Clang would warn of.
llvm::StringRef withoutTrailingNul(const std::string& source) {
  return llvm::StringRef(source).rtrim('\0');
}

}  // namespace

FrontendResult runFrontend(const Job& job, const Options& options, llvm::LLVMContext& context) {
  FrontendResult result;
  result.log = languageError(options, job.features);
  if (!result.log.empty()) return result;
  llvm::raw_string_ostream log(result.log);
  const std::vector<std::string> arguments = clangArguments(job, options);
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());

  clang::CompilerInstance instance;
  instance.setVerboseOutputStream(log);
  auto printing = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  clang::TextDiagnosticPrinter printer(log, printing.get());
  const auto early = clang::CompilerInstance::createDiagnostics(printing.get(), &printer,
                                                                /*ShouldOwnClient=*/false);
  if (!clang::CompilerInvocation::CreateFromArgs(instance.getInvocation(), argv, *early))
    return result;
  const std::string source = withoutTrailingNul(job.source).str();
  const llvm::MemoryBufferRef buffer(source, main_file);
  auto& inputs = instance.getFrontendOpts().Inputs;
  const clang::InputKind kind = inputs.front().getKind();
  inputs.clear();
  inputs.emplace_back(buffer, kind);

  instance.createDiagnostics(new clang::TextDiagnosticPrinter(log, &instance.getDiagnosticOpts()));
  auto real = llvm::makeIntrusiveRefCnt<RecordingFileSystem>(llvm::vfs::getRealFileSystem());
  instance.createFileManager(requestFiles(job, real));

  EmitModule action(context);
  const bool ok = instance.ExecuteAction(action);
  if (ok) result.module = action.takeModule();
  result.files = real->files();
  return result;
}

}  // namespace weft::compiler
