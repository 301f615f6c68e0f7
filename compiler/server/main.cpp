// weft-compilerd: everything is in libweft-compiler.so, which applications that may not start
// processes load instead.
#include "compiler/server/library.h"

int main() { return weft_compiler_serve(); }
