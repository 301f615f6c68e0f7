// `weft info --topology`: the machine, and which part of it each device is.
#pragma once

#include <string>

namespace weft::tools {

// Draws on the standard output, as text or (`form` is "svg") as a picture.
int showTopology(const std::string& form);

}  // namespace weft::tools
