// A device program on the host: bitcode of an OpenCL C test file, linked with the builtin library
// and compiled in this process. Its functions are called like C functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
namespace orc {
class LLJIT;
}
}  // namespace llvm

namespace weft::test {

// A module of a file under tests/compiler/builtins/cl, for the host, before any of the library's
// passes.
std::unique_ptr<llvm::Module> loadModule(const std::string& name, llvm::LLVMContext& context);

// `features` as LLVM writes them; "" is the machine's own.
std::unique_ptr<llvm::TargetMachine> makeMachine(const std::string& features = "");

// Where the math functions come from: SLEEF; on CPUs with fused multiply-add the library's own code
// where that is faster; elsewhere the library's own.
enum class MathSource : unsigned char { sleef, faster, own };

class Program {
 public:
  explicit Program(const std::string& name, const std::string& features = "",
                   MathSource math = MathSource::sleef);
  ~Program();

  // Names left undefined; nothing can be called then.
  const std::vector<std::string>& unresolved() const { return unresolved_; }
  // The module after the library's passes, as text.
  const std::string& text() const { return text_; }

  template <class Function>
  Function* get(const std::string& name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const std::string& name) const;

  std::vector<std::string> unresolved_;
  std::string text_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace weft::test
