// What is known of floats by how they are computed.
#pragma once

namespace llvm {
class Value;
}

namespace weft::compiler {

// Is it the least normal number or more, infinite, or NaN, but never denormal or zero? Such as a
// sum of squares and a constant.
bool isNormalAndPositive(const llvm::Value& number);

}  // namespace weft::compiler
