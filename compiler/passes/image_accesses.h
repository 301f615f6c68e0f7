// What calls of OpenCL C's image functions (6.15.15) do to images, as access analysis understands
// it.
#pragma once

#include <optional>

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

namespace weft::compiler {

struct ImageFunction {
  bool writes;          // a pixel; else it reads some
  bool sampled;         // its second argument is a sampler
  bool integers;        // of colours
  unsigned dimensions;  // of coordinates, which comes next,
  bool layered;         // and perhaps a layer behind them
};

// nullopt: it is none of those that read or write pixels, or it names a level of a mip-mapped
// image. One touches nothing but the image that is its first argument.
std::optional<ImageFunction> imageFunction(const llvm::Function& function);

// In functions that nobody runs: notes, which are calls that say what bytes of an image are
// touched, in place of those that touch them. The functions are gone before this is.
class PixelNotes {
 public:
  explicit PixelNotes(llvm::Module& module);
  ~PixelNotes();
  PixelNotes(const PixelNotes&) = delete;
  PixelNotes& operator=(const PixelNotes&) = delete;

  // Replaces calls whose coordinates are integers and whose image is an argument of the function.
  void addTo(llvm::Function& function);

  // A call that touches `bytes` bytes of an image from `offset` on, if it is one.
  struct Note {
    llvm::Value *image, *offset, *bytes;
    bool writes;
  };
  std::optional<Note> noteOf(const llvm::CallBase& call) const;

 private:
  llvm::FunctionCallee valueFunction(llvm::Type* result, llvm::ArrayRef<llvm::Type*> of);
  void replaceValue(llvm::CallInst& call, bool writes);

  llvm::Module& module_;
  llvm::Function *read_, *written_;
  llvm::SmallVector<llvm::Function*> values_;  // that make and use those of pixels
};

}  // namespace weft::compiler
