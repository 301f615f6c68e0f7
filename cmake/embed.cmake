# cmake -DINPUT=file -DOUTPUT=file.h -DNAME=identifier -P embed.cmake: a text as a C++ string.
include("${CMAKE_CURRENT_LIST_DIR}/literals.cmake")
file(READ "${INPUT}" text)
weft_literals(text literals)
file(WRITE "${OUTPUT}" "inline constexpr char ${NAME}[] =\n${literals};\n")
