# weft_literals(variable_of_text result): the text of that variable as raw string literals. One may be 65,536 characters long; the
# compiler joins neighbours.
function(weft_literals variable_of_text result)
  string(LENGTH "${${variable_of_text}}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${${variable_of_text}}" ${at} 8000 part)
    string(APPEND literals "R\"weft(${part})weft\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(${result} "${literals}" PARENT_SCOPE)
endfunction()
