// How the builtin library names what it wants from SLEEF (cl/sleef.def).
#pragma once

#include <optional>
#include <string>

#include <llvm/ADT/StringRef.h>

namespace weft::compiler {

struct MathName {
  llvm::StringRef function;  // "sin"
  llvm::StringRef accuracy;  // "u10"
  bool is_double = false;
  unsigned width = 1;
};

inline constexpr llvm::StringLiteral math_prefix = "__weft_sleef_";
// Of the library's own code that CPUs get at the end (linkLateMath): with vector forms of its own
// (cl/inline_math.cl), or of single elements only (cl/own_*.cl).
inline constexpr llvm::StringLiteral late_math_prefix = "__weft_late_";
inline constexpr llvm::StringLiteral own_math_prefix = "__weft_own_";

// "sin_float4"
inline std::optional<MathName> parseFunctionAndType(llvm::StringRef symbol) {
  MathName name;
  llvm::StringRef type;
  std::tie(name.function, type) = symbol.rsplit('_');
  name.is_double = type.consume_front("double");
  if (!name.is_double && !type.consume_front("float")) return std::nullopt;
  if (!type.empty() && type.getAsInteger(10, name.width)) return std::nullopt;
  return name;
}
// "__weft_sleef_sin_u35_float4"
inline std::optional<MathName> parseMathName(llvm::StringRef symbol) {
  if (!symbol.consume_front(math_prefix)) return std::nullopt;
  auto name = parseFunctionAndType(symbol);
  if (name) std::tie(name->function, name->accuracy) = name->function.rsplit('_');
  return name;
}
// "__weft_own_erf_float4"
inline std::optional<MathName> parseOwnMathName(llvm::StringRef symbol) {
  if (!symbol.consume_front(own_math_prefix)) return std::nullopt;
  return parseFunctionAndType(symbol);
}
inline bool isLateMath(llvm::StringRef symbol) {
  return symbol.starts_with(late_math_prefix) || parseOwnMathName(symbol);
}

// "__weft_own_erf_float4", by the prefix.
inline std::string mathSymbol(llvm::StringRef prefix, const MathName& name, unsigned width) {
  const std::string type = name.is_double ? "_double" : "_float";
  return (prefix + name.function + type).str() + (width > 1 ? std::to_string(width) : "");
}

}  // namespace weft::compiler
