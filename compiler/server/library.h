// The C interface of libweft-compiler.so: all of LLVM is behind these two functions.
#pragma once

#include <stddef.h>

#define WEFT_EXPORT __attribute__((visibility("default")))

extern "C" {

// Runs the job in this process (compiler/job.h, writeJob) on a stack of its own and hands over the
// answer (writeAnswer), which lives as long as the call. One job at a time; others wait.
// Returns 0, or -1 for a job that cannot be read.
WEFT_EXPORT int weft_compiler_run(const void* job, size_t size,
                                  void (*deliver)(void* user, const void* answer, size_t size),
                                  void* user);

// weft-compilerd: serves jobs from control_descriptor (compiler/protocol.h) until the application
// is gone or nothing was asked for a while. Returns the process's exit status.
WEFT_EXPORT int weft_compiler_serve(void);
}
