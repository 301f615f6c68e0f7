// Turns what a device reports into Clang's arguments: language version, extensions, feature macros.
#pragma once

#include <string>
#include <vector>

#include "compiler/options.h"
#include "core/ports/compiler.h"

namespace weft::compiler {

std::vector<std::string> languageArguments(const Options& options,
                                           const port::LanguageFeatures& features);

}  // namespace weft::compiler
