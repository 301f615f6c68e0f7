# Installed files find each other relative to where they are, so that a tree can be moved; and the
# target `package`: an archive of such a tree with the shared libraries that Debian would bring.

# DT_RPATH, not DT_RUNPATH: it also holds for the libraries of the libraries.
add_link_options(-Wl,--disable-new-dtags)
set(CMAKE_INSTALL_RPATH "$ORIGIN")
set(WEFT_PROGRAM_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set(WEFT_EXAMPLE_RPATH "$ORIGIN/../..")

# weft_package(): call it when every other target is known.
function(weft_package)
  set(archive "weft-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
  add_custom_target(package
    COMMAND "${PROJECT_SOURCE_DIR}/cmake/package.sh"
      "${CMAKE_COMMAND}" "${CMAKE_BINARY_DIR}" "${archive}" "${CMAKE_INSTALL_LIBDIR}"
    COMMENT "Packing ${archive}.tar.zst"
    USES_TERMINAL VERBATIM)
  foreach(target weft weft-compilerd weft_tool weft-bench weft-bench-balance weft-bench-build weft-bench-kernels weft-bench-placement examples)
    if(TARGET ${target})
      add_dependencies(package ${target})
    endif()
  endforeach()
endfunction()
