#include "compiler/pipeline/host_code.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "compiler/builtins/builtins.h"
#include "compiler/passes/analyses.h"
#include "compiler/passes/clamped_sums.h"
#include "compiler/passes/half_comparisons.h"
#include "compiler/passes/invariant_divisions.h"
#include "compiler/passes/inverse_roots.h"
#include "compiler/passes/lane_order.h"
#include "compiler/passes/local_atomics.h"
#include "compiler/passes/loop_rotation.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/scalarise_lanes.h"
#include "compiler/passes/shift_amounts.h"
#include "compiler/passes/stack_alignment.h"
#include "compiler/passes/sum_order.h"
#include "compiler/passes/wide_products.h"
#include "compiler/pipeline/copies.h"
#include "compiler/wire.h"

namespace weft::compiler {
namespace {

// Inlines the math functions that were calls while lanes became vectors.
llvm::Error inlineLateMath(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::Expected<bool> linked = linkLateMath(module, machine);
  if (!linked) return linked.takeError();
  if (!*linked) return llvm::Error::success();
  Analyses analyses(machine);
  llvm::ModulePassManager manager;
  manager.addPass(llvm::AlwaysInlinerPass(false));
  llvm::FunctionPassManager cleaning;
  cleaning.addPass(llvm::EarlyCSEPass());
  cleaning.addPass(llvm::InstCombinePass());
  cleaning.addPass(llvm::SimplifyCFGPass());
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(cleaning)));
  manager.addPass(llvm::GlobalDCEPass());
  manager.run(module, analyses.modules);
  return llvm::Error::success();
}

llvm::Error optimise(llvm::Module& module, llvm::TargetMachine& machine, bool fully) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = fully;
  tuning.LoopInterleaving = tuning.LoopUnrolling = fully;
  Analyses analyses(machine, tuning);
  if (fully) {
    scalariseLanes(analyses.builder);
    keepLaneOrder(analyses.builder);
    clampBeforeAdding(analyses.builder);
    hoistInvariantDivisions(analyses.builder);
    rotateManyLoops(analyses.builder);
  }
  const auto level = fully ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O1;
  analyses.builder.buildPerModuleDefaultPipeline(level).run(module, analyses.modules);
  lowerLocalAtomics(module);
  if (llvm::Error error = inlineLateMath(module, machine)) return error;
  if (machine.getTargetTriple().isX86()) shareWideProducts(module);
  estimateInverseRoots(module, machine);
  boundShiftAmounts(module);
  compareHalvesAsFloats(module, machine);
  if (fully) addLateTermsLast(module);
  lowerPixelCalls(module);
  alignStacks(module, machine);
  return llvm::Error::success();
}

llvm::Expected<ObjectCode> generateObject(llvm::Module& module, llvm::TargetMachine& machine) {
  ObjectCode object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager manager;
  if (machine.addPassesToEmitFile(manager, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("the target cannot write object files");
  manager.run(module);
  return object;
}

// What LLVM has to say about a part.
struct Message {
  llvm::DiagnosticSeverity severity;
  std::string text;
};

class Messages : public llvm::DiagnosticHandler {
 public:
  explicit Messages(std::vector<Message>& list) : list_(list) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    Message& message = list_.emplace_back(Message{info.getSeverity(), {}});
    llvm::raw_string_ostream stream(message.text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

 private:
  std::vector<Message>& list_;
};

// A message said once more, here.
class Repeated : public llvm::DiagnosticInfo {
 public:
  explicit Repeated(const Message& message)
      : DiagnosticInfo(llvm::DK_FirstPluginKind, message.severity), text_(message.text) {}
  void print(llvm::DiagnosticPrinter& printer) const override { printer << text_; }

 private:
  const std::string& text_;
};

// A part's code, as it travels between processes.
struct PartCode {
  std::string error;  // empty: there is code
  std::vector<Message> messages;
  port::Bytes object;
};

port::Bytes writePart(const PartCode& code) {
  WireWriter out;
  out.put(code.error);
  out.list(code.messages, [&](const Message& message) {
    out.put(message.severity);
    out.put(message.text);
  });
  out.put(code.object);
  return out.take();
}

PartCode readPart(const port::Bytes& bytes) {
  WireReader in(bytes);
  PartCode code;
  in.get(code.error);
  in.list(code.messages, [&](Message& message) {
    in.get(message.severity);
    in.get(message.text);
  });
  in.get(code.object);
  if (!in.atEnd()) code.error = "internal error: a part of the code is damaged";
  return code;
}

PartCode makePart(llvm::Expected<std::unique_ptr<llvm::Module>> module,
                  llvm::TargetMachine& machine, const Options& options) {
  PartCode result;
  if (!module) {
    result.error = llvm::toString(module.takeError());
    return result;
  }
  llvm::LLVMContext& context = (*module)->getContext();
  auto handler = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<Messages>(result.messages));
  if (auto code = makeObject(**module, machine, options)) {
    const auto bytes = std::as_bytes(std::span(*code));
    result.object.assign(bytes.begin(), bytes.end());
  } else {
    result.error = llvm::toString(code.takeError());
  }
  context.setDiagnosticHandler(std::move(handler));
  return result;
}

}  // namespace

llvm::Expected<ObjectCode> makeObject(llvm::Module& module, llvm::TargetMachine& machine,
                                      const Options& options) {
  if (llvm::Error error = optimise(module, machine, options.optimise)) return error;
  return generateObject(module, machine);
}

llvm::Expected<std::vector<ObjectCode>> makeObjects(size_t count, MakePart part,
                                                    llvm::LLVMContext& context,
                                                    llvm::TargetMachine& machine,
                                                    const Options& options) {
  std::vector<ObjectCode> objects;
  const auto make = [&](size_t i) { return writePart(makePart(part(i), machine, options)); };
  for (const port::Bytes& bytes : runInCopies(count, options.processes, make)) {
    const PartCode code = readPart(bytes);
    for (const Message& message : code.messages) context.diagnose(Repeated(message));
    if (!code.error.empty()) return llvm::createStringError(code.error);
    const auto* data = reinterpret_cast<const char*>(code.object.data());
    objects.emplace_back(data, data + code.object.size());
  }
  return objects;
}

}  // namespace weft::compiler
