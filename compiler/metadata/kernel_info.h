// What the runtime has to know about a program's kernels, read from its IR.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.h"

namespace llvm {
class Module;
}

namespace weft::compiler {

// Every kernel that `module` defines, in its order, with arguments and attributes.
std::vector<KernelInfo> readKernels(const llvm::Module& module);

// Sets ArgumentInfo::reads and writes to what the (inlined, attribute-annotated) IR proves.
void readAccesses(const llvm::Module& module, std::vector<KernelInfo>& kernels);

// Sets KernelInfo::uses_printf of the kernels from which a call of printf can be reached.
void markPrintf(const llvm::Module& module, std::vector<KernelInfo>& kernels);

// Sets KernelInfo::uses_device_queue. Before these calls are lowered.
void markDeviceQueues(const llvm::Module& module, std::vector<KernelInfo>& kernels);

// Bytes of the program-scope variables in global memory.
uint64_t globalVariableBytes(const llvm::Module& module);

}  // namespace weft::compiler
