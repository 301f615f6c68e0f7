// Where Weft keeps what it learned, for one user: compiled programs, measured times.
#pragma once

#include <string>

namespace weft {

// From WEFT_CACHE, WEFT_CACHE_DIR, XDG_CACHE_HOME and HOME. Empty: nothing is to be kept, because
// the user said so, because there is no place, or because the program has more rights than its
// user, who must not be able to feed it.
std::string userCacheDirectory();

// Makes it if need be, for its owner only. A descriptor that the caller owns, or -1 when the
// directory cannot be had, belongs to somebody else, or others may write there.
int openUserDirectory(const std::string& path);

}  // namespace weft
