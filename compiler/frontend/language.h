// Turns what a device reports into Clang's arguments: language version, extensions, feature macros.
#pragma once

#include <string>
#include <vector>

#include "compiler/options.h"
#include "core/ports/compiler.h"

namespace weft::compiler {

// Empty when the device has the version that the options ask for; otherwise a line for the log.
std::string languageError(const Options& options, const port::LanguageFeatures& features);

std::vector<std::string> languageArguments(const Options& options,
                                           const port::LanguageFeatures& features);

}  // namespace weft::compiler
