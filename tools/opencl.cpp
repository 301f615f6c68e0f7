#include "tools/opencl.h"

#include <sstream>
#include <stdexcept>
#include <vector>

namespace weft::tools {

cl::Platform choosePlatform() {
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error&) {
    platforms.clear();  // the loader's way to say that there is none
  }
  for (const cl::Platform& platform : platforms)
    if (platform.getInfo<CL_PLATFORM_NAME>().find("Weft") != std::string::npos) return platform;
  if (platforms.empty())
    throw std::runtime_error("no OpenCL platform was found; OCL_ICD_VENDORS may point elsewhere");
  return platforms.front();
}

void* extensionFunction(const cl::Platform& platform, const char* extension, const char* function) {
  std::istringstream names(platform.getInfo<CL_PLATFORM_EXTENSIONS>());
  for (std::string name; names >> name;)
    if (name == extension) return clGetExtensionFunctionAddressForPlatform(platform(), function);
  return nullptr;
}

}  // namespace weft::tools
