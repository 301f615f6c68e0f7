# The ICD file of the build tree, and tests that run OpenCL programs through the ICD loader on it.

find_package(OpenCL REQUIRED)

# Which implementation the tests of OpenCL programs run on; set it to another .icd file to see
# whether a failure is the program's or Weft's.
set(WEFT_TEST_ICD "${CMAKE_BINARY_DIR}/weft.icd" CACHE FILEPATH "ICD file that OpenCL programs are tested on")

# weft_client_environment(test ...): the tests see only WEFT_TEST_ICD, and keep their kernel caches
# in the build tree.
function(weft_client_environment)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
      "OCL_ICD_VENDORS=${WEFT_TEST_ICD}"
      "WEFT_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache"
      "POCL_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache-pocl")
  endforeach()
endfunction()

# weft_icd(target): the build tree's ICD file names the library by its absolute path; the installed
# one by the path it is installed to. Loaders look for it in /etc, which belongs to the prefix /usr.
function(weft_icd target)
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/weft.icd" CONTENT "$<TARGET_FILE:${target}>\n")
  install(CODE "
    get_filename_component(root \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
    set(library \"\${root}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:${target}>\")
    if(root STREQUAL \"/usr\")
      set(root \"\")
    endif()
    set(icd \"\${root}/etc/OpenCL/vendors/weft.icd\")
    message(STATUS \"Installing: \${icd}\")
    file(WRITE \"\$ENV{DESTDIR}\${icd}\" \"\${library}\\n\")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${icd}\")
  " COMPONENT runtime)
endfunction()
