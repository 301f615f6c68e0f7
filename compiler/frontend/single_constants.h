// -cl-single-precision-constant.
#pragma once

#include <memory>

#include <clang/AST/ASTConsumer.h>

namespace weft::compiler {

// "Treat double precision floating-point constant as single precision constant." Clang gives such a
// constant the type float, but forgets its rounding where it is converted back to double; this
// rounds the values of all of them, before code is generated for the declarations that hold them.
std::unique_ptr<clang::ASTConsumer> roundConstantsToSingle();

}  // namespace weft::compiler
