// Names of OpenCL C's functions as Clang mangles them for SPIR targets (Itanium C++ ABI 5.1 with
// the vendor qualifiers for address spaces and atomics), which is how the builtin library has them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::compiler::spirv {

// A type as the mangling sees it: a prefix, and the type it is a prefix of.
struct Spelling {
  std::string prefix;
  std::shared_ptr<const Spelling> inner;
  bool substitutable = false;  // repetitions are abbreviated
  bool silent = false;         // the prefix is not written, but makes another type

  std::string whole() const { return prefix + (inner ? inner->whole() : ""); }
};

Spelling spellBuiltin(std::string code);  // "i", "Dh", "14ocl_image2d_ro"
Spelling spellEnumeration(std::string_view name);
Spelling spellVector(uint32_t elements, Spelling element);
// `atomic` qualifies the pointee as OpenCL's atomic types are declared: volatile and _Atomic.
struct Qualifiers {
  uint32_t address_space = 0;
  bool constant = false;
  bool atomic = false;
};
Spelling spellPointer(Spelling pointee, Qualifiers qualifiers);

std::string mangle(std::string_view name, const std::vector<Spelling>& parameters);

}  // namespace weft::compiler::spirv
