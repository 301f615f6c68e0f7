#include "compiler/client/location.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace weft::compiler {
namespace {

constexpr const char* daemon_name = "weft-compilerd";
constexpr const char* library_name = "libweft-compiler.so";

// Directories to look in, from the one that holds this code: installed (lib/ beside libexec/, with
// or without a multiarch directory), then the build tree.
constexpr const char* places[] = {
    "",          "weft/",        "../libexec/weft/", "../../libexec/weft/", "../lib/weft/",
    "compiler/", "../compiler/", "../../compiler/",  "../../../compiler/"};

bool isFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string directoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

std::string ownDirectory() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&findDaemon), &info) || !info.dli_fname) return "./";
  char* real = realpath(info.dli_fname, nullptr);
  // For the program itself the name may be what it was called by.
  if (!real) real = realpath("/proc/self/exe", nullptr);
  const std::string directory = real ? directoryOf(real) : "./";
  free(real);
  return directory;
}

}  // namespace

std::string findDaemon() {
  if (const char* given = secure_getenv("WEFT_COMPILERD"); given && *given) {
    std::error_code failed;  // it runs in another folder
    const std::filesystem::path absolute = std::filesystem::absolute(given, failed);
    return failed ? given : absolute.string();
  }
  const std::string own = ownDirectory();
  for (const char* place : places) {
    std::string path = own + place + daemon_name;
    if (isFile(path) && access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

std::string findLibrary(const std::string& daemon) {
  std::string path = directoryOf(daemon) + library_name;
  if (!daemon.empty() && isFile(path)) return path;
  const std::string own = ownDirectory();
  for (const char* place : places) {
    path = own + place + library_name;
    if (isFile(path)) return path;
  }
  return {};
}

std::string compilerIdentity(const std::string& library) {
  struct stat status;
  if (library.empty() || stat(library.c_str(), &status) != 0) return "none";
  return std::to_string(status.st_size) + "." + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

}  // namespace weft::compiler
