#include "compiler/pipeline/later_code.h"

#include <llvm/ADT/StringMap.h>

#include "compiler/pipeline/bitcode.h"
#include "compiler/pipeline/elf_link.h"
#include "compiler/pipeline/gpu_executable.h"
#include "compiler/pipeline/host_code.h"
#include "compiler/pipeline/target.h"

namespace weft::compiler {
namespace {

// Instructions of a program's kernels that take one processor a second or so. Code of fewer is made
// at once, and no kernel's first launch waits for it.
constexpr size_t enough_instructions = 16'000;

llvm::Error linkPayload(llvm::Expected<std::vector<ObjectCode>> code, Image& image) {
  if (!code) return code.takeError();
  auto payload = linkSharedObject(*code);
  if (!payload) return payload.takeError();
  image.payload = std::move(*payload);
  return llvm::Error::success();
}

}  // namespace

bool isForLater(const llvm::Module& module, const std::vector<Part>& parts,
                const Options& options) {
  if (options.deferring == "never" || parts.size() < 2) return false;
  return options.deferring == "always" || module.getInstructionCount() >= enough_instructions;
}

port::Bytes deferCode(const llvm::Module& module, const std::vector<Part>& parts,
                      const std::vector<KernelInfo>& kernels, const Options& options) {
  llvm::StringMap<uint32_t> part_of;
  for (uint32_t i = 0; i < parts.size(); ++i)
    for (const llvm::Function* kernel : parts[i]) part_of[kernel->getName()] = i;
  DeferredCode code;
  code.linked = options.linking;
  for (const KernelInfo& kernel : kernels) code.part_of.push_back(part_of.lookup(kernel.symbol));
  for (const Part& part : parts) code.parts.push_back(writeBitcode(*copyPart(module, part)));
  return writeDeferred(code);
}

llvm::Error makePayload(llvm::Module& module, const std::vector<Part>& parts,
                        llvm::TargetMachine& machine, const Options& options, Image& image) {
  const auto part = [&](size_t i) -> llvm::Expected<std::unique_ptr<llvm::Module>> {
    return copyPart(module, parts[i]);
  };
  if (parts.size() > 1)
    return linkPayload(makeObjects(parts.size(), part, module.getContext(), machine, options),
                       image);
  auto object = makeObject(module, machine, options);
  if (!object) return object.takeError();
  std::vector<ObjectCode> objects;
  objects.push_back(std::move(*object));
  return linkPayload(std::move(objects), image);
}

llvm::Error makeDeferred(const DeferredCode& code, llvm::LLVMContext& context,
                         const Options& options, Image& image) {
  auto machine = createMachine(machineTarget(image), options);
  if (!machine) return machine.takeError();
  const auto part = [&](size_t i) { return readBitcode(code.parts[i], context); };
  return linkPayload(makeObjects(code.parts.size(), part, context, **machine, options), image);
}

}  // namespace weft::compiler
