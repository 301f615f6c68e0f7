// How the builtin library names what it wants from SLEEF (cl/sleef.def).
#pragma once

#include <optional>

#include <llvm/ADT/StringRef.h>

namespace weft::compiler {

struct MathName {
  llvm::StringRef function;  // "sin"
  llvm::StringRef accuracy;  // "u10"
  bool is_double = false;
  unsigned width = 1;
};

inline constexpr llvm::StringLiteral math_prefix = "__weft_sleef_";
// Of the library's own code that is inlined at the end (linkLateMath).
inline constexpr llvm::StringLiteral late_math_prefix = "__weft_late_";

// "__weft_sleef_sin_u35_float4"
inline std::optional<MathName> parseMathName(llvm::StringRef symbol) {
  if (!symbol.consume_front(math_prefix)) return std::nullopt;
  MathName name;
  auto [rest, type] = symbol.rsplit('_');
  std::tie(name.function, name.accuracy) = rest.rsplit('_');
  name.is_double = type.consume_front("double");
  if (!name.is_double && !type.consume_front("float")) return std::nullopt;
  if (!type.empty() && type.getAsInteger(10, name.width)) return std::nullopt;
  return name;
}

}  // namespace weft::compiler
