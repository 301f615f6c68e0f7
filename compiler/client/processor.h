// Which processor this is, for results that were compiled for "this one".
#pragma once

#include <string>

namespace weft::compiler {

std::string processorIdentity();

}  // namespace weft::compiler
