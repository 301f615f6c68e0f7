#include "tools/environment.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace weft::tools {
namespace {

namespace fs = std::filesystem;

// From the folder of the executable. The library itself may stand for its ICD file (ocl-icd), which
// keeps an archive working wherever it was unpacked.
constexpr const char* candidates[] = {
    "../weft.icd",
    "../" WEFT_LIBRARY_FOLDER "/libweft.so",
    "../etc/OpenCL/vendors/weft.icd",
};

}  // namespace

void useOwnLibrary() {
  if (std::getenv("OCL_ICD_VENDORS") || std::getenv("OCL_ICD_FILENAMES")) return;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return;
  for (const char* candidate : candidates) {
    const fs::path path = (folder / candidate).lexically_normal();
    if (!fs::exists(path, error)) continue;
    setenv("OCL_ICD_VENDORS", path.c_str(), 1);
    return;
  }
}

void restartWith(const char* variable, const char* value, char** argv) {
  if (std::getenv(variable)) return;
  setenv(variable, value, 1);
  execv("/proc/self/exe", argv);
  throw std::system_error(errno, std::generic_category(), "cannot start again");
}

}  // namespace weft::tools
