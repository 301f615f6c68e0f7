# cmake -DBUILD=... -DPREFIX=... -DLIBDIR=... -P runs_alone.cmake
# Installs BUILD to PREFIX, runs programs there, and asks the dynamic linker which files were loaded.
file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

foreach(file
    bin/weft ${LIBDIR}/libweft.so ${LIBDIR}/weft/weft-compilerd ${LIBDIR}/weft/libweft-compiler.so
    include/CL/cl_weft_ext.h share/doc/weft/LICENSE share/doc/weft/README.md)
  if(NOT EXISTS "${PREFIX}/${file}")
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()

set(icd "${PREFIX}/etc/OpenCL/vendors/weft.icd")
file(READ "${icd}" named)
if(NOT named STREQUAL "${PREFIX}/${LIBDIR}/libweft.so\n")
  message(FATAL_ERROR "${icd} names ${named}")
endif()

# run(EXPECTED program arguments...)
set(loaded "${PREFIX}/loaded")
function(run expected)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env --unset=OCL_ICD_FILENAMES --unset=WEFT_COMPILERD
      "WEFT_CACHE_DIR=${PREFIX}/cache" LD_DEBUG=files "LD_DEBUG_OUTPUT=${loaded}" ${ARGN}
    WORKING_DIRECTORY / OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  message("${output}")
  if(NOT status STREQUAL 0 OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR "status ${status}, or the output does not match: ${expected}")
  endif()
endfunction()

# The tools find their own library; other programs find it by the ICD file.
run("compiler: ${PREFIX}/${LIBDIR}/weft/weft-compilerd" --unset=OCL_ICD_VENDORS "${PREFIX}/bin/weft" info)
run("demo: OK" --unset=OCL_ICD_VENDORS "${PREFIX}/bin/weft" demo --size 64 48 -o "${PREFIX}/demo.png")
run("fill: 1000 elements are right" "OCL_ICD_VENDORS=${icd}" "${PREFIX}/${LIBDIR}/weft/examples/fill")

file(GLOB logs "${loaded}.*")
set(text)
foreach(log IN LISTS logs)
  file(STRINGS "${log}" lines REGEX "calling init: ")
  list(APPEND text ${lines})
endforeach()
string(REPLACE "${PREFIX}/" "installed:" text "${text}")
foreach(library libweft.so weft/libweft-compiler.so)
  if(NOT text MATCHES "installed:${LIBDIR}/${library}")
    message(FATAL_ERROR "${library} was not loaded from where it is installed")
  endif()
endforeach()
if(text MATCHES "calling init: ${BUILD}/[^;]*")
  message(FATAL_ERROR "a file of the build tree was loaded: ${CMAKE_MATCH_0}")
endif()
file(REMOVE_RECURSE "${PREFIX}")
