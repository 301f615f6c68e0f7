# How parts of the compiler use LLVM, Clang and lld:
#   weft_llvm_headers  to compile; for the parts that are linked into others.
#   weft_llvm          static libraries, code generation for X86, AMDGPU and NVPTX only; for what is installed.
#                      Static, because loading the shared ones costs a new process 20 ms, and because
#                      nothing else in a process may meet their symbols.
#   weft_llvm_shared   the shared library with everything in it; for tests.
find_program(WEFT_LLVM_CONFIG NAMES llvm-config-19 llvm-config HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
execute_process(
  COMMAND ${WEFT_LLVM_CONFIG} --link-static --libs x86 amdgpu nvptx passes lto irreader linker bitwriter coverage
          frontendhlsl frontendoffloading frontendopenmp frontenddriver option windowsdriver
          debuginfodwarf debuginfopdb objcarcopts
  OUTPUT_VARIABLE llvm_libraries OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_libraries UNIX_COMMAND "${llvm_libraries}")
# Plug-ins that Debian links into LLVM's tools; compiler/pipeline/absent_targets.cpp stands in.
list(REMOVE_ITEM llvm_libraries -lPolly -lPollyISL)
set(clang_libraries Frontend CodeGen Driver Serialization Parse Sema Analysis ASTMatchers Edit
    APINotes AST Lex Support Basic)
list(TRANSFORM clang_libraries PREPEND -lclang)

find_path(WEFT_CLANG_RESOURCES opencl-c-base.h REQUIRED
  HINTS ${LLVM_LIBRARY_DIRS}/clang/${LLVM_VERSION_MAJOR}/include)

# lld links these libraries in a second; the system's linker takes many.
find_program(WEFT_LLD NAMES ld.lld-19 ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR})
set(link_options -Wl,--gc-sections)
if(WEFT_LLD)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/linker)
  file(CREATE_LINK ${WEFT_LLD} ${CMAKE_BINARY_DIR}/linker/ld.lld SYMBOLIC)
  list(APPEND link_options -B${CMAKE_BINARY_DIR}/linker -fuse-ld=lld)
endif()

add_library(weft_llvm_headers INTERFACE)
target_include_directories(weft_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
# GCC 12 takes what LLVM's users overload, operator new with operands, for a mismatch when it inlines
# only one side, and joined strings for copies out of bounds where headers are precompiled.
target_compile_options(weft_llvm_headers INTERFACE
  -Wno-mismatched-new-delete -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)

add_library(weft_absent_targets STATIC pipeline/absent_targets.cpp)
target_include_directories(weft_absent_targets PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(weft_absent_targets PRIVATE weft_llvm_headers)

set(weft_common_llvm_headers
  <llvm/ADT/DenseMap.h> <llvm/ADT/STLExtras.h> <llvm/ADT/StringExtras.h>
  <llvm/Analysis/LoopInfo.h> <llvm/IR/Constants.h> <llvm/IR/Dominators.h> <llvm/IR/IRBuilder.h>
  <llvm/IR/InstIterator.h> <llvm/IR/Instructions.h> <llvm/IR/IntrinsicInst.h>
  <llvm/IR/Module.h> <llvm/IR/PassManager.h> <llvm/IR/Verifier.h>
  <llvm/Transforms/Utils/Cloning.h>)
function(weft_precompiled_llvm)
  weft_precompiled(llvm TARGETS ${ARGN} HEADERS ${weft_common_llvm_headers})
endfunction()
weft_precompiled_llvm(weft_absent_targets)

add_library(weft_llvm_shared INTERFACE)
target_link_directories(weft_llvm_shared INTERFACE ${LLVM_LIBRARY_DIRS})
target_link_libraries(weft_llvm_shared INTERFACE weft_llvm_headers LLVM-19)

add_library(weft_llvm INTERFACE)
target_link_directories(weft_llvm INTERFACE ${LLVM_LIBRARY_DIRS})
target_link_options(weft_llvm INTERFACE ${link_options})
target_link_libraries(weft_llvm INTERFACE weft_llvm_headers
  -Wl,--start-group ${clang_libraries} -Wl,--end-group -llldELF -llldCommon ${llvm_libraries} weft_absent_targets
  z zstd ${CMAKE_DL_LIBS} m pthread)
