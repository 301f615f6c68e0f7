// For kernels of software GPUs that are written by hand, in the form that
// compiler/gpu/host_module.h gives those of the compiler: a function of one work-item, and a table
// of its parameters.
#pragma once

#include <cstdint>

#include "core/ports/launch.h"
#include "tests/software_gpu/wire.h"

extern "C" {
uint32_t weft_simt_read_ptx_sreg_tid_x();
uint32_t weft_simt_read_ptx_sreg_tid_y();
uint32_t weft_simt_read_ptx_sreg_tid_z();
uint32_t weft_simt_read_ptx_sreg_ctaid_x();
uint32_t weft_simt_read_ptx_sreg_ctaid_y();
uint32_t weft_simt_read_ptx_sreg_ctaid_z();
uint32_t weft_simt_read_ptx_sreg_ntid_x();
uint32_t weft_simt_read_ptx_sreg_ntid_y();
uint32_t weft_simt_read_ptx_sreg_ntid_z();
void* weft_simt_local();
void weft_simt_barrier0();
}

// The bytes of all parameters and of local variables, the number of parameters, then the place and
// size of each; to the size of a local pointer's, local_parameter is added.
#define WEFT_KERNEL_INFO(name, ...)                                                      \
  [[gnu::visibility("default")]] extern const uint32_t name##_info[] asm(#name ".info"); \
  const uint32_t name##_info[] = {__VA_ARGS__};
#define WEFT_KERNEL(name) extern "C" [[gnu::visibility("default")]] void name
