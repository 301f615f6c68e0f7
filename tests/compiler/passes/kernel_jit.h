// Test support: compiles OpenCL C with clang, lowers it, and runs the entry functions through a
// JIT.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "compiler/passes/lower_kernels.h"
#include "core/ports/launch.h"

namespace llvm {
class TargetMachine;
namespace orc {
class LLJIT;
}
}  // namespace llvm

namespace weft::test {

struct NdRange {
  uint32_t work_dim = 1;
  std::array<uint64_t, 3> global{1, 1, 1};
  std::array<uint64_t, 3> local{1, 1, 1};
  std::array<uint64_t, 3> offset{0, 0, 0};
};

port::LaunchRecord recordOf(const NdRange& range);

// OpenCL C to a module for this machine, as lowerKernels wants it. Aborts the test on errors.
// `options` are Clang's.
std::unique_ptr<llvm::Module> compileOpenCl(llvm::LLVMContext& context, const std::string& source,
                                            const std::string& options = "");
// This one, or what WEFT_CPU_VECTORS leaves of it.
llvm::TargetMachine& hostMachine();
// A description with the argument list of each kernel in the module.
std::vector<KernelInfo> describeKernels(const llvm::Module& module);
void optimise(llvm::Module& module, llvm::TargetMachine& machine);
// What lowering finds out about each kernel.
std::vector<KernelInfo> loweredKernels(const std::string& source, bool optimize = true);
// The lowered and optimised code of one kernel, as text.
std::string optimisedText(const std::string& source, const std::string& kernel,
                          compiler::Vectorising vectorise = compiler::Vectorising::automatic);

class Program {
 public:
  explicit Program(const std::string& source, bool optimize = true,
                   compiler::Vectorising vectorise = compiler::Vectorising::automatic)
      : Program(source, {optimize, vectorise}) {}
  Program(const std::string& source, const compiler::LoweringOptions& options);
  ~Program();

  // An argument: the bytes behind arguments[i].
  struct Argument {
    std::vector<std::byte> bytes;
    uint64_t local_bytes = 0;
  };
  template <class T>
  static Argument value(const T& v) {
    Argument a;
    a.bytes.resize(sizeof(T));
    std::memcpy(a.bytes.data(), &v, sizeof(T));
    return a;
  }
  static Argument buffer(const void* pointer) { return value(pointer); }
  static Argument local(uint64_t bytes) {
    Argument a = value(uint64_t{0});
    a.local_bytes = bytes;
    return a;
  }

  // All groups, or those of `part`.
  void run(const std::string& kernel, const NdRange& range, std::vector<Argument> arguments,
           const port::GroupBox* part = nullptr) const;
  const KernelInfo& info(const std::string& kernel) const;

 private:
  std::vector<KernelInfo> kernels_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace weft::test
