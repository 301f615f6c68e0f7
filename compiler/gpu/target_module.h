// A copy of a program's module in the address spaces of a GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "core/image.h"

namespace weft::compiler {

// A kernel of the copy and what it was made from.
struct GpuKernel {
  llvm::Function* function = nullptr;
  std::string name;
  // The hidden last argument: the address of a port::GpuLaunch.
  llvm::Argument* launch = nullptr;
};

// What a kernel gets for a local pointer: its offset from the start of the launch's dynamic shared
// memory, or the pointer.
enum class LocalArguments : uint8_t { offsets, pointers };

// What a kernel's parameters take where local pointers are offsets, GpuLaunch included. More than
// the usual bytes not every GPU takes.
uint64_t parameterBytes(const KernelInfo& kernel);
inline constexpr uint64_t usual_parameter_bytes = 4096;

struct GpuModule {
  std::unique_ptr<llvm::Module> module;
  std::vector<GpuKernel> kernels;
};

// Copies `source`, spir64-style IR with triple and data layout of the target, whose kernels have
// the calling convention SPIR_KERNEL. In the copy private, constant and generic pointers are plain
// ones (address space 0), global and local ones keep 1 and 3, which is what NVPTX means by them.
// Each kernel becomes an externally visible function of the ABI of GPU images
// (core/ports/launch.h). Named symbols: KernelInfo::symbol of the `kernels` that have the same name
// is filled.
GpuModule makeGpuModule(llvm::Module& source, std::vector<KernelInfo>& kernels,
                        LocalArguments local = LocalArguments::offsets);

}  // namespace weft::compiler
