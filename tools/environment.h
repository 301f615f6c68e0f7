// What the command arranges before the first OpenCL call.
#pragma once

namespace weft::tools {

// Unless the user chose an implementation, makes the ICD loader take the library of the tree that
// this command stands in: the build tree, an installation, or an unpacked archive.
void useOwnLibrary();

// Starts this command again with the variable set, for settings that the library reads once.
// Returns at once when the variable has a value already. Throws std::system_error when it cannot.
void restartWith(const char* variable, const char* value, char** argv);

}  // namespace weft::tools
