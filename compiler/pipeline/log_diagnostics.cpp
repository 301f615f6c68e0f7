#include "compiler/pipeline/log_diagnostics.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Function.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/passes/blocks.h"
#include "compiler/passes/simd/vector_report.h"

namespace weft::compiler {
namespace {

// The loop vectoriser's remarks are of the loops over lanes, the register allocator's of spills.
constexpr llvm::StringRef reporting_passes[] = {vector_remarks, "loop-vectorize", "regalloc"};

// Not worth a line: what only says that another line has the reason, and parts of a sum.
bool isNoise(const llvm::DiagnosticInfoOptimizationBase& remark, const std::string& text) {
  if (remark.getPassName() == "loop-vectorize")
    return text == "loop not vectorized" || text.starts_with("the cost-model");
  if (remark.getPassName() == "regalloc")
    return text.find("spills") == std::string::npos || !text.ends_with("in function");
  return false;
}

// What a function is made of. Entries are called weft_kernel_NAME, those of turned bodies
// weft_turned.NAME, those of joint ones weft_joint.NAME, and what is made of a kernel's parts
// NAME.something.
struct Origin {
  llvm::StringRef kernel;
  const char* form = "";

  explicit Origin(const llvm::Function& function) {
    llvm::StringRef name = function.getName();
    if (name.consume_front(turned_prefix) || name.contains(turned_suffix)) form = "turned: ";
    if (name.consume_front(joint_prefix) || name.contains(joint_suffix)) form = "joint: ";
    if (name.consume_front(sub_groups_prefix) || name.contains(sub_groups_suffix))
      form = "sub-groups as vectors: ";
    name.consume_front(entry_prefix);
    kernel = name.split('.').first;
  }
};

}  // namespace

bool LogDiagnostics::reports(llvm::StringRef pass) const {
  return remarks_ && llvm::is_contained(reporting_passes, pass);
}

bool LogDiagnostics::handleDiagnostics(const llvm::DiagnosticInfo& info) {
  llvm::raw_string_ostream stream(log_);
  if (auto* remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info)) {
    std::string text = remark->getMsg();
    if (!reports(remark->getPassName()) || isNoise(*remark, text)) return true;
    if (remark->getPassName() == "regalloc")
      text = text.substr(0, text.find(' ')) + " values of registers are spilled to memory";
    llvm::StringRef path;
    unsigned line = 0, column = 0;
    if (remark->isLocationAvailable()) remark->getLocation(path, line, column);
    std::string entry;
    llvm::raw_string_ostream words(entry);
    if (line) words << path << ":" << line << ":" << column << ": ";
    const Origin origin(remark->getFunction());
    words << "remark: " << origin.kernel << ": " << origin.form << text << " [-Rweft]\n";
    if (log_.find(entry) == std::string::npos) stream << entry;
    return true;
  }
  if (info.getSeverity() != llvm::DS_Error && info.getSeverity() != llvm::DS_Warning) return true;
  llvm::DiagnosticPrinterRawOStream printer(stream);
  stream << (info.getSeverity() == llvm::DS_Error ? "error: " : "warning: ");
  info.print(printer);
  stream << "\n";
  return true;
}

}  // namespace weft::compiler
