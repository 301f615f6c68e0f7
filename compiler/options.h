// The options of clBuildProgram, clCompileProgram and clLinkProgram. No LLVM here: the library
// checks options without starting the compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ports/compiler.h"

namespace weft::compiler {

struct Options {
  std::string standard;                    // value of -cl-std, e.g. "CL1.2"; empty: not given
  std::vector<std::string> frontend;       // arguments for Clang's front end, in order
  std::vector<std::string> include_paths;  // values of -I, in order
  bool optimise = true;
  bool debug = false;
  bool remarks = false;     // of the vectoriser, in the log
  std::string vectorising;  // WEFT_VECTORIZE; not an option of the application
  std::string deferring;    // WEFT_DEFER; nor is this
  bool linking = false;     // these are of a link; nor is this
  unsigned processes = 1;   // that may make code at a time; nor is this
  bool kernel_argument_info = false;
  bool create_library = false;
  bool enable_link_options = false;
  bool denorms_are_zero = false;
  bool no_signed_zeros = false;
  bool unsafe_math = false;
  bool finite_math = false;
  bool relaxed_math = false;
  bool exact_divisions = false;
  std::string error;  // what is wrong, for the build log; empty: nothing
};

// Splits at white space outside quotes; a backslash keeps the quote, blank or backslash behind it.
std::vector<std::string> splitOptions(std::string_view text);

Options parseOptions(std::string_view text, port::OptionUse use);

}  // namespace weft::compiler
