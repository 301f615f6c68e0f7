#include "compiler/pipeline/elf_link.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/pipeline/stub_library.h"
#include "compiler/pipeline/temporary_file.h"

LLD_HAS_DRIVER(elf)

namespace weft::compiler {
namespace {

struct Provider {
  std::string_view prefix;
  bool whole;  // `prefix` is the whole name
  const char* library;
};

// Which library has the functions that generated code calls.
constexpr Provider providers[] = {
    {"Sleef_", false, "libsleef.so.3"},
    {"_ZGV", false, "libsleefgnuabi.so.3"},
    {"weft_simt_", false, ""},  // of the process that loads it
    {"memcpy", true, "libc.so.6"},
    {"memmove", true, "libc.so.6"},
    {"memset", true, "libc.so.6"},
    {"memcmp", true, "libc.so.6"},
    {"bcmp", true, "libc.so.6"},
    {"__stack_chk_fail", true, "libc.so.6"},
    // Half: from double, and all of it where the processor has no F16C.
    {"__truncdfhf2", true, "libgcc_s.so.1"},
    {"__truncsfhf2", true, "libgcc_s.so.1"},
    {"__extendhfsf2", true, "libgcc_s.so.1"},
};

// The functions of libm that LLVM may make calls to from its intrinsics and by recognising idioms;
// each also with the suffix f.
constexpr std::string_view math_functions[] = {
    "acos",  "acosh",     "asin",   "asinh",    "atan",   "atan2",     "atanh",     "cbrt",
    "ceil",  "cos",       "cosh",   "copysign", "erf",    "erfc",      "exp",       "exp10",
    "exp2",  "expm1",     "fabs",   "fdim",     "floor",  "fma",       "fmax",      "fmin",
    "fmod",  "frexp",     "hypot",  "ilogb",    "ldexp",  "lgamma",    "lgamma_r",  "log",
    "log10", "log1p",     "log2",   "logb",     "modf",   "nan",       "nearbyint", "nextafter",
    "pow",   "remainder", "remquo", "rint",     "round",  "roundeven", "sin",       "sincos",
    "sinh",  "sqrt",      "tan",    "tanh",     "tgamma", "trunc"};

const char* providerOf(std::string_view symbol) {
  for (const Provider& provider : providers)
    if (provider.whole ? symbol == provider.prefix : symbol.starts_with(provider.prefix))
      return provider.library;
  std::string_view base = symbol;
  const auto isMath = [&] {
    return std::find(std::begin(math_functions), std::end(math_functions), base) !=
           std::end(math_functions);
  };
  if (isMath()) return "libm.so.6";
  if (base.ends_with('f')) base.remove_suffix(1);
  return isMath() ? "libm.so.6" : nullptr;
}

struct Needs {
  std::set<std::string> libraries;
  std::set<std::string> unknown;
};

llvm::Error addUndefinedSymbols(std::span<const char> object, Needs& needs) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "kernels");
  auto file = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!file) return file.takeError();
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) return flags.takeError();
    auto name = symbol.getName();
    if (!name) return name.takeError();
    // The table's first entry is the nameless null symbol.
    if (!(*flags & llvm::object::BasicSymbolRef::SF_Undefined) || name->empty() ||
        *name == "_GLOBAL_OFFSET_TABLE_")
      continue;
    const char* library = providerOf(*name);
    if (!library)
      needs.unknown.insert(name->str());
    else if (*library)
      needs.libraries.insert(library);
  }
  return llvm::Error::success();
}

using Stubs = std::vector<std::unique_ptr<InputFile>>;

constexpr const char* common_arguments[] = {"ld.lld", "-shared", "--threads=1",
                                            "--no-mmap-output-file", "--build-id=none"};
constexpr const char* host_arguments[] = {
    "-Bsymbolic", "--no-rosegment", "--hash-style=gnu", "-z", "noseparate-code", "-z", "norelro",
    "-z",         "undefs"};
constexpr const char* amd_arguments[] = {"--no-undefined"};

llvm::Expected<port::Bytes> link(std::span<const ObjectCode> objects,
                                 std::span<const char* const> own_arguments, const Stubs& stubs) {
  std::vector<std::unique_ptr<InputFile>> inputs;
  for (const ObjectCode& object : objects)
    inputs.push_back(std::make_unique<InputFile>(std::as_bytes(std::span(object))));
  OutputFile output;
  std::vector<const char*> arguments(std::begin(common_arguments), std::end(common_arguments));
  arguments.insert(arguments.end(), own_arguments.begin(), own_arguments.end());
  arguments.insert(arguments.end(), {"-o", output.path().c_str()});
  for (const auto& input : inputs) arguments.push_back(input->path().c_str());
  for (const auto& stub : stubs) arguments.push_back(stub->path().c_str());
  std::string log;
  llvm::raw_string_ostream stream(log);
  const bool ok = lld::elf::link(arguments, stream, stream, false, false);
  lld::CommonLinkerContext::destroy();
  port::Bytes result = output.take();
  if (!ok) return llvm::createStringError("linking failed: " + log);
  if (result.empty()) return llvm::createStringError("linking gave no file");
  return result;
}

}  // namespace

llvm::Expected<port::Bytes> linkSharedObject(std::span<const ObjectCode> objects) {
  Needs needs;
  for (const ObjectCode& object : objects)
    if (llvm::Error error = addUndefinedSymbols(object, needs)) return error;
  if (!needs.unknown.empty())
    return llvm::createStringError("undefined: " + llvm::join(needs.unknown, ", "));
  Stubs stubs;
  for (const std::string& library : needs.libraries)
    stubs.push_back(std::make_unique<InputFile>(emptyLibrary(library)));
  return link(objects, host_arguments, stubs);
}

llvm::Expected<port::Bytes> linkCodeObject(const ObjectCode& object) {
  return link({&object, 1}, amd_arguments, {});
}

}  // namespace weft::compiler
