// LLVM's own messages in the build log: its linker's, for one, and with -Rweft the remarks of what
// makes vectors of lanes.
#pragma once

#include <string>

#include <llvm/IR/DiagnosticHandler.h>

namespace weft::compiler {

class LogDiagnostics : public llvm::DiagnosticHandler {
 public:
  LogDiagnostics(std::string& log, bool remarks) : log_(log), remarks_(remarks) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override;
  bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override { return reports(pass); }
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return reports(pass); }
  bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override { return reports(pass); }
  bool isAnyRemarkEnabled() const override { return remarks_; }

 private:
  bool reports(llvm::StringRef pass) const;

  std::string& log_;
  bool remarks_;
};

}  // namespace weft::compiler
