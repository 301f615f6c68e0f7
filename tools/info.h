// weft info
#pragma once

namespace weft::tools {

// Prints the platform, its devices and the platform's report; returns the exit status.
int showInfo();

}  // namespace weft::tools
