# weft_ptx(target source name): makes the PTX text of `source` (OpenCL C) a char array `name` in the header `name`.h, by the
# same Clang that the compiler uses.
find_program(WEFT_CLANG NAMES clang-19 clang HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
set(weft_ptx_embed "${CMAKE_CURRENT_LIST_DIR}/embed.cmake")
set(weft_ptx_literals "${CMAKE_CURRENT_LIST_DIR}/literals.cmake")
function(weft_ptx target source name)
  set(ptx "${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx")
  set(header "${CMAKE_CURRENT_BINARY_DIR}/${name}.h")
  add_custom_command(OUTPUT "${header}"
    COMMAND "${WEFT_CLANG}" -cc1 -triple nvptx64-nvidia-cuda -target-cpu sm_80 -target-feature +ptx70 -O2 -S
      -x cl -cl-std=CL3.0 -cl-ext=+all -fdeclare-opencl-builtins -finclude-default-header "-I${PROJECT_SOURCE_DIR}"
      -o "${ptx}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
    COMMAND "${CMAKE_COMMAND}" -DINPUT=${ptx} -DOUTPUT=${header} -DNAME=${name} -P "${weft_ptx_embed}"
    DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/tests/support/nvptx_launch.h" "${weft_ptx_embed}"
      "${weft_ptx_literals}" VERBATIM)
  target_sources(${target} PRIVATE "${header}")
  target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
