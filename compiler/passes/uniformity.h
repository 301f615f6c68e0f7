// Which values are the same for all work-items of a group that compute them together.
#pragma once

#include <memory>

#include "compiler/passes/kernel_body.h"

namespace weft::compiler {

class Uniformity {
 public:
  explicit Uniformity(const KernelBody& body);
  ~Uniformity();

  // False if nothing can be said: LLVM's analysis misses lanes that leave a loop with several
  // entries in different ways.
  bool isKnown() const;
  // Do work-items that reach the end of `block` together part there?
  bool divides(const llvm::BasicBlock& block) const;
  // Is the value the same for all of them, at its definition and wherever it is used?
  bool isUniform(const llvm::Instruction& value) const;

 private:
  struct Analyses;
  std::unique_ptr<Analyses> analyses_;
};

}  // namespace weft::compiler
