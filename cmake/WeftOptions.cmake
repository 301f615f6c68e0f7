# Settings shared by every target: language level, warnings, sanitizers, ccache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(WEFT_BUILD_BENCH "Build the benchmarks" ON)
set(WEFT_PREBUILT_COMPILER "" CACHE PATH
    "Folder `compiler` of another build, whose compiler's process is taken instead of building it")
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, e.g. address,undefined or thread")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness it keeps nothing that is compiled with precompiled headers; paths below
  # the source tree are made relative, so that every checkout shares what another has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

add_compile_definitions(CL_TARGET_OPENCL_VERSION=300)
add_compile_options(-Wall -Wextra -Werror)
if(WEFT_SANITIZE)
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()

# weft_precompiled(set TARGETS ... HEADERS <...>...): most of their files take long to read these
# headers. The first library of a set has them precompiled for all of them, the first executable for
# the others: what is defined for it alone would be so in all.
function(weft_precompiled set)
  cmake_parse_arguments(ARG "" "" "TARGETS;HEADERS" ${ARGN})
  foreach(target IN LISTS ARG_TARGETS)
    get_target_property(type ${target} TYPE)
    set(property weft_precompiled_${set}_${type})
    get_property(first GLOBAL PROPERTY ${property})
    if(first)
      target_precompile_headers(${target} REUSE_FROM ${first})
    else()
      set_property(GLOBAL PROPERTY ${property} ${target})
      target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
    endif()
  endforeach()
endfunction()

# weft_library(name SOURCES ... [DEPENDS ...]): one folder, one static library. Includes are written
# from the top of the tree; DEPENDS names the folders it may use (ARCHITECTURE.md, layers).
function(weft_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
endfunction()
