// The OpenCL C++ wrapper with the settings of this command, and the choice of the platform.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <string>

namespace weft::tools {

// The platform named Weft, or else the first one that the ICD loader offers. Throws
// std::runtime_error when there is none.
cl::Platform choosePlatform();

// A function of an extension, or nullptr where the platform lacks the extension.
void* extensionFunction(const cl::Platform& platform, const char* extension, const char* function);

}  // namespace weft::tools
