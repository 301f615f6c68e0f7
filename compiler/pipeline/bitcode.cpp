#include "compiler/pipeline/bitcode.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace weft::compiler {

port::Bytes writeBitcode(const llvm::Module& module) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::WriteBitcodeToFile(module, stream);
  const auto bytes = std::as_bytes(std::span(buffer));
  return {bytes.begin(), bytes.end()};
}

llvm::Expected<std::unique_ptr<llvm::Module>> readBitcode(const port::Bytes& bytes,
                                                          llvm::LLVMContext& context) {
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return llvm::parseBitcodeFile(llvm::MemoryBufferRef(text, "object"), context);
}

}  // namespace weft::compiler
