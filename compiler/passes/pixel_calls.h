// OpenCL C's image functions (6.15.15) on the CPU: kernels contain calls of functions that an
// image's descriptor brings (core/ports/pixels.h), in place of code for every format.
//
// Until code is optimised these are calls of declarations, which lanes may be made vectors of.
#pragma once

#include <optional>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

inline constexpr llvm::StringLiteral pixel_call_prefix = "__weft_pixel_";

// Defines the functions that read and write pixels of an image's first level, which are only
// declared, by calls of declarations. Opaque types are plain ones by now (opaque_types.h).
void defineImageFunctions(llvm::Module& module);

// Is it a call of such a declaration?
bool isPixelCall(const llvm::CallBase& call);

// The most lanes that one call can be of on this processor, 0 if they go one by one.
unsigned pixelLanes(const llvm::TargetMachine& machine);

// What a call for one lane is made of. `sampler` is null where a pixel is stored, `colour` where
// some are read.
struct PixelCall {
  llvm::Value *image, *shape, *sampler, *coordinate[3], *colour;
  explicit PixelCall(const llvm::CallBase& call);
};

// The same call for a vector of lanes, of the image and sampler that `all` of them have. `lanes`
// has a bit for each that runs. Those that read write four vectors to `result`, others take the
// four of the colour.
void callForLanes(llvm::IRBuilderBase& builder, const llvm::CallBase& call, const PixelCall& all,
                  llvm::Value* lanes, llvm::Value* result, llvm::ArrayRef<llvm::Value*> coordinate,
                  llvm::ArrayRef<llvm::Value*> colour);

// Makes all of them calls of the functions. To run when all else is optimised.
void lowerPixelCalls(llvm::Module& module);

}  // namespace weft::compiler
