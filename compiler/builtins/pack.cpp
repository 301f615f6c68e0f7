// weft-builtins-pack OUTPUT INPUT.bc...: splits the builtin library into one small bitcode module
// for each function name (all its overloads), so that a program pays only for what it calls, and
// writes them with an index of their symbols (blob.h).
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/builtins/blob.h"
#include "compiler/builtins/opaque_types.h"

namespace {

using llvm::StringRef;
using namespace weft::compiler;

[[noreturn]] void fail(const std::string& message) {
  llvm::errs() << "weft-builtins-pack: " << message << "\n";
  std::exit(1);
}

// "_Z17convert_int4_sat_rteDv4_f" -> "convert_int4": what shares a module.
std::string groupOf(StringRef symbol) {
  StringRef name = symbol;
  if (name.consume_front("_Z")) {
    size_t length = 0;
    name.consumeInteger(10, length);
    name = name.take_front(length);
  }
  for (StringRef mode : {"_rte", "_rtz", "_rtp", "_rtn"})
    if (name.consume_back(mode)) break;
  name.consume_back("_sat");
  return name.str();
}

struct Input {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::map<std::string, std::vector<std::string>> groups;  // symbols by group
};

std::unique_ptr<llvm::Module> load(const llvm::MemoryBuffer& buffer, llvm::LLVMContext& context) {
  auto module = llvm::getLazyBitcodeModule(buffer.getMemBufferRef(), context);
  if (!module) fail(llvm::toString(module.takeError()));
  return std::move(*module);
}

Input open(const char* path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) fail(std::string("cannot read ") + path);
  Input input{std::move(*file), {}};
  llvm::LLVMContext context;
  const auto module = load(*input.buffer, context);
  for (const llvm::Function& function : *module)
    if (!function.isDeclaration() && function.hasExternalLinkage())
      input.groups[groupOf(function.getName())].push_back(function.getName().str());
  return input;
}

// Nothing writes constant memory while a kernel runs: an image's descriptor need not be read again
// after a write to the image.
void markConstant(llvm::Instruction& instruction) {
  constexpr unsigned constant_address_space = 2;
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (load && load->getPointerAddressSpace() == constant_address_space)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(load->getContext(), {}));
}

// OpenCL C takes every call for one that lanes must make together; of an intrinsic's LLVM keeps
// that, and then unrolls no loop with it.
void forgetConvergence(llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee && callee->isIntrinsic() && !callee->isConvergent()) call.setNotConvergent();
}

// Bounds are kept with divisions and roots that are off by as much as OpenCL C allows (7.4), by the
// library's own functions (cl/own_*.cl); those of others were shown with exact ones.
bool mayErr(llvm::StringRef symbol) {
  return symbol.contains("__weft_own_") || symbol.contains("smoothstep");
}

// What the front end says about its own target means nothing on the host.
void cleanUp(llvm::Module& module) {
  while (!module.named_metadata_empty()) module.eraseNamedMetadata(&*module.named_metadata_begin());
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    function.setDSOLocal(false);
    // "no-builtins" would keep the inliner from mixing these with a program's functions.
    for (const char* attribute : {"frame-pointer", "stack-protector-buffer-size", "no-builtins",
                                  "no-trapping-math", "uniform-work-group-size"})
      function.removeFnAttr(attribute);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instruction.getType()->isVoidTy()) instruction.setName("");
      instruction.setMetadata(llvm::LLVMContext::MD_tbaa, nullptr);
      if (!mayErr(function.getName()))
        instruction.setMetadata(llvm::LLVMContext::MD_fpmath, nullptr);
      markConstant(instruction);
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        call->setCallingConv(llvm::CallingConv::C);
        call->removeFnAttr(llvm::Attribute::NoBuiltin);
        call->removeFnAttr("no-builtins");
        forgetConvergence(*call);
      }
    }
  }
}

llvm::SmallVector<char, 0> makeModule(const Input& input, const std::vector<std::string>& symbols) {
  llvm::LLVMContext context;
  auto source = load(*input.buffer, context);
  llvm::Module module("builtins", context);
  module.setTargetTriple(source->getTargetTriple());
  module.setDataLayout(source->getDataLayout());
  for (const std::string& symbol : symbols)
    llvm::Function::Create(source->getFunction(symbol)->getFunctionType(),
                           llvm::GlobalValue::ExternalLinkage, symbol, module);
  if (llvm::Linker(module).linkInModule(std::move(source), llvm::Linker::LinkOnlyNeeded))
    fail("cannot extract " + symbols.front());
  lowerOpaqueTypes(module);
  cleanUp(module);
  if (llvm::verifyModule(module, &llvm::errs())) fail("invalid module of " + symbols.front());
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return bitcode;
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string assemble(const std::vector<llvm::SmallVector<char, 0>>& modules,
                     const std::map<std::string, uint32_t>& symbols) {
  std::string names, entries, code;
  for (const auto& [name, module] : symbols) {
    append(entries, blob::SymbolEntry{static_cast<uint32_t>(names.size()), module});
    names += name + '\0';
  }
  names.resize((names.size() + 7) / 8 * 8);
  const size_t start = sizeof(blob::Header) + modules.size() * sizeof(blob::ModuleEntry) +
                       entries.size() + names.size();
  std::string table;
  for (const auto& module : modules) {
    append(table, blob::ModuleEntry{static_cast<uint32_t>(start + code.size()),
                                    static_cast<uint32_t>(module.size())});
    code.append(module.begin(), module.end());
    code.resize((code.size() + 7) / 8 * 8);
  }
  std::string out;
  append(out,
         blob::Header{blob::magic, static_cast<uint32_t>(modules.size()),
                      static_cast<uint32_t>(symbols.size()), static_cast<uint32_t>(names.size())});
  return out + table + entries + names + code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: weft-builtins-pack OUTPUT INPUT.bc...");
  std::vector<llvm::SmallVector<char, 0>> modules;
  std::map<std::string, uint32_t> symbols;
  for (int i = 2; i < argc; ++i) {
    const Input input = open(argv[i]);
    for (const auto& [group, names] : input.groups) {
      for (const std::string& name : names)
        if (!symbols.emplace(name, modules.size()).second) fail(name + " is defined twice");
      modules.push_back(makeModule(input, names));
    }
  }
  const std::string blob = assemble(modules, symbols);
  std::FILE* file = std::fopen(argv[1], "wb");
  if (!file || std::fwrite(blob.data(), 1, blob.size(), file) != blob.size() || std::fclose(file))
    fail(std::string("cannot write ") + argv[1]);
  return 0;
}
