#include "compiler/pipeline/gpu_payload.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/gpu/amd_module.h"
#include "compiler/gpu/host_module.h"
#include "compiler/gpu/ptx.h"
#include "compiler/gpu/spirv/module_writer.h"
#include "compiler/gpu/spirv/prepare.h"
#include "compiler/gpu/textures.h"
#include "compiler/pipeline/elf_link.h"

namespace weft::compiler {
namespace {

llvm::Expected<llvm::SmallVector<char, 0>> emit(llvm::Module& module, llvm::TargetMachine& machine,
                                                llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager manager;
  if (machine.addPassesToEmitFile(manager, stream, nullptr, type))
    return llvm::createStringError("the target cannot write such a file");
  manager.run(module);
  return text;
}

}  // namespace

void finishLowering(GpuModule& gpu, const llvm::TargetMachine& machine,
                    const port::Target& target) {
  if (isSoftwareGpu(target)) {
    defineTextureReads(*gpu.module, TextureUnit::software);
    makeHostModule(gpu);
  } else if (target.kind == port::TargetKind::nvptx) {
    defineTextureReads(*gpu.module, TextureUnit::nvidia);
  } else if (target.kind == port::TargetKind::spirv) {
    makeSpirvModule(gpu);
  } else if (target.kind == port::TargetKind::amdgcn) {
    makeAmdModule(gpu, machine.createDataLayout());
  }
}

llvm::Expected<port::Bytes> emitPayload(llvm::Module& module, llvm::TargetMachine& machine,
                                        const port::Target& target) {
  if (target.kind == port::TargetKind::spirv) return writeSpirv(module, target);
  const bool text = target.kind == port::TargetKind::nvptx;
  auto code = emit(module, machine,
                   text ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile);
  if (!code) return code.takeError();
  if (!text)
    return isSoftwareGpu(target) ? linkSharedObject(std::span(&*code, 1)) : linkCodeObject(*code);
  const std::string ptx = complementNegatives(shiftUpperHalves({code->data(), code->size()}));
  const auto* bytes = reinterpret_cast<const std::byte*>(ptx.data());
  return port::Bytes(bytes, bytes + ptx.size());
}

}  // namespace weft::compiler
