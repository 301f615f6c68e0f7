// Where the compiler's files are, relative to the file that this code is in (libweft.so, a test).
#pragma once

#include <string>

namespace weft::compiler {

// WEFT_COMPILERD, from the current folder on if it is relative, or the weft-compilerd beside the
// library; empty: not found.
std::string findDaemon();
// libweft-compiler.so, beside `daemon` where that has one; empty: not found.
std::string findLibrary(const std::string& daemon);
// Changes with every build of the compiler.
std::string compilerIdentity(const std::string& library);

}  // namespace weft::compiler
