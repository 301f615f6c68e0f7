# weft_embed(target input output name namespace): makes the text of `input` a std::string_view
# constant `name` in the header `output` (a path as it is included), regenerated when it changes.
function(weft_embed target input output name namespace)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${input}")
  file(READ "${input}" text)
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  file(CONFIGURE OUTPUT "${generated}/${output}" @ONLY CONTENT
"#pragma once
#include <string_view>
namespace @namespace@ {
inline constexpr std::string_view @name@ = R\"EMBED(@text@)EMBED\";
}
")
  target_include_directories(${target} PRIVATE "${generated}")
endfunction()
