// The compiler as the rest of Weft sees it. Implemented by compiler/client; no LLVM here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ports/capabilities.h"

namespace weft::port {

using Bytes = std::vector<std::byte>;

// What the program is told about the device: part of the cache key.
struct LanguageFeatures {
  std::vector<std::string> extensions;      // "cl_khr_fp64", ...
  std::vector<std::string> feature_macros;  // "__opencl_c_generic_address_space", ...
  bool fp64 = true;
  bool fp16 = false;
  bool images = false;
  uint32_t version = 300;  // of the device's OpenCL: __OPENCL_VERSION__
  bool operator==(const LanguageFeatures&) const = default;
};

struct Header {
  std::string name;  // as written in #include
  std::string text;
};

// A value for a constant of SPIR-V that was left open, by the number that its author gave it.
struct SpecializationConstant {
  uint32_t id = 0;
  std::string value;  // its bytes, as the host has them
};

struct CompileRequest {
  std::string source;   // OpenCL C or, as its bytes, SPIR-V
  std::string options;  // as given by the application, already checked with Compiler::checkOptions
  std::vector<Header> headers;
  Target target;
  LanguageFeatures features;
  bool intermediate = false;  // the source is SPIR-V
  std::vector<SpecializationConstant> specialization;
};

struct LinkRequest {
  std::vector<Bytes> objects;  // object or library images (core/image.h)
  std::string options;
  bool make_library = false;  // -create-library
  Target target;
  LanguageFeatures features;
};

// How the work-items of a group run on a CPU, where an estimate has decided that.
enum class CodeForm : uint8_t {
  lanes = 1,    // one after the other, or as LLVM's loop vectoriser has them
  vectors = 2,  // side by side
};

class FormMaker;

struct CompileResult {
  bool ok = false;
  std::string log;  // warnings and errors as Clang prints them
  Bytes image;      // see core/image.h; empty unless ok
  // Of an executable: who makes its kernels in the form that was decided against; null if nobody.
  std::shared_ptr<const FormMaker> forms = nullptr;
};

// Thread-safe; each call blocks until its result is there.
class FormMaker {
 public:
  virtual ~FormMaker() = default;
  // An executable that has this kernel, and maybe others. Fails where results might have other
  // bits, and when a file has changed that the program was made from.
  virtual CompileResult make(const std::string& kernel, CodeForm form) const = 0;
};

enum class OptionUse : uint8_t { build, compile, link };

// Thread-safe: any number of threads may call at once; each call blocks until its result is there.
// Never throws for a bad program: that is a CompileResult with ok == false and a log.
class Compiler {
 public:
  virtual ~Compiler() = default;

  // Empty when every option is known for that use; otherwise the message for the build log.
  virtual std::string checkOptions(const std::string& options, OptionUse use) const = 0;
  // Source to object (LLVM bitcode in an image of kind `object`).
  virtual CompileResult compile(const CompileRequest& request) = 0;
  // Objects to an executable or, with make_library, to a library.
  virtual CompileResult link(const LinkRequest& request) = 0;
  // Source to executable in one step; what clBuildProgram uses.
  virtual CompileResult build(const CompileRequest& request) = 0;

  // Can it make images for devices of that target?
  virtual bool makes(const Target& target) const { return (void)target, true; }

  // Where it is and what state it is in, one "subject: state" a line, for `weft info`. Starts
  // nothing.
  virtual std::vector<std::string> report() const { return {}; }
};

}  // namespace weft::port
