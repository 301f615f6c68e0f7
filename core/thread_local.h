// Variables of a thread that each command comes by.
#pragma once

// The library is opened at run time, and by default each use of such a variable there is a call of
// the dynamic loader's, some forty a command. With this it is one instruction, for which all that
// the library has of the kind lies in a space that the loader keeps for libraries opened later:
// some 1.6 KB for all of the process. So what is large is kept by a pointer (tests/api checks the
// sum), and nothing of another library's is used so.
#define WEFT_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] thread_local
