#include "core/user_cache.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace weft {
namespace {

// mkdir -p, each new directory for its owner only.
void makeDirectories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) return;
  }
}

int openDirectory(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

std::string userCacheDirectory() {
  const auto get = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (get("WEFT_CACHE") == "0" || getauxval(AT_SECURE) != 0) return {};
  if (std::string own = get("WEFT_CACHE_DIR"); !own.empty()) return own;
  // "If an implementation encounters a relative path in any of these variables it should consider
  // the path invalid and ignore it." (XDG Base Directory Specification)
  if (std::string xdg = get("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/weft";
  if (std::string home = get("HOME"); home.starts_with('/')) return home + "/.cache/weft";
  return {};
}

int openUserDirectory(const std::string& path) {
  if (path.empty()) return -1;
  int directory = openDirectory(path);
  if (directory < 0) {
    makeDirectories(path);
    directory = openDirectory(path);
  }
  if (directory < 0) return -1;
  struct stat status;
  if (fstat(directory, &status) == 0 && status.st_uid == geteuid() &&
      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return directory;
  close(directory);
  return -1;
}

}  // namespace weft
