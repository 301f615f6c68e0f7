# Writes a C++ file that holds Clang's opencl-c-base.h and our additions. Variables: INPUT, ADDED
# (a list, with commas), OUTPUT.
# The header's first part defines, for SPIR targets, every feature and extension there is; what a
# program may use is the device's to say, so everything before the marker below is left out.
file(READ "${INPUT}" text)
set(marker "#if !defined(__opencl_c_generic_address_space)\n// Internal feature macro")
string(FIND "${text}" "${marker}" start)
if(start EQUAL -1)
  message(FATAL_ERROR "${INPUT} does not look like Clang 19's opencl-c-base.h")
endif()
string(SUBSTRING "${text}" ${start} -1 text)
# "NAN expands to a constant expression of type float", which as_float is not.
string(REPLACE "#define NAN as_float(INT_MAX)" "#define NAN (__builtin_nanf(\"\"))" text "${text}")
set(added "")
string(REPLACE "," ";" files "${ADDED}")
foreach(file IN LISTS files)
  file(READ "${file}" more)
  string(APPEND added "${more}")
endforeach()
set(text "#ifndef _OPENCL_BASE_H_\n#define _OPENCL_BASE_H_\n${text}${added}")
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/literals.cmake")
weft_literals(text pieces)
file(WRITE "${OUTPUT}" "#include \"compiler/frontend/resources.h\"

namespace weft::compiler {

llvm::StringRef openclBaseHeader() {
  static constexpr char text[] =
${pieces};
  return {text, sizeof text - 1};
}

}  // namespace weft::compiler
")
