# cmake -DINPUT=file -DOUTPUT=file.h -DNAME=identifier -P embed.cmake: a text as a C++ string.
file(READ "${INPUT}" text)
# One literal may be 65,536 characters long; the compiler joins neighbours.
string(LENGTH "${text}" length)
set(literals "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 part)
  string(APPEND literals "R\"weft(${part})weft\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE "${OUTPUT}" "inline constexpr char ${NAME}[] =\n${literals};\n")
