// What the runtime and a software GPU's processor, which is a process, say to each other over
// sequenced packets. One control socket per processor, and one socket per stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::software {

inline constexpr int control_descriptor = 3;
inline constexpr size_t max_parameter_bytes = 8192;
inline constexpr size_t max_parameters = 512;
inline constexpr size_t largest_alignment = 128;  // of sixteen longs
inline constexpr size_t message_bytes = 1024;
inline constexpr size_t most_name_bytes = size_t(64) << 10;  // a kernel's, which may be any

enum class Control : uint32_t {
  map,     // a descriptor comes along; its `bytes` from `offset`, at `address`
  unmap,   // `bytes` from `address`
  open,    // a descriptor comes along: a new stream's socket
  load,    // a descriptor comes along: a shared object; the answer's `value` stands for it
  unload,  // `address`
  find,    // the kernel `name` in the module `address`
};

struct ControlRequest {
  Control what{};
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
  char name[most_name_bytes] = {};  // only what it takes is sent
};

// Marks the size of a parameter that is a local pointer.
inline constexpr uint32_t local_parameter = 1u << 31;

// What host_module.h says about a kernel.
struct KernelLayout {
  uint32_t parameter_bytes = 0;
  uint32_t local_bytes = 0;
  uint32_t parameters = 0;
  std::array<std::array<uint32_t, 2>, max_parameters> places{};  // offset and size
  std::array<bool, max_parameters> local{};  // said by kernels that are written by hand
};

struct ControlAnswer {
  bool ok = false;
  uint64_t value = 0;
  char message[message_bytes] = {};
  KernelLayout layout{};
};

// On a stream's socket; answered by one byte when the kernel has run.
struct LaunchRequest {
  uint64_t function = 0;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  uint64_t local_bytes = 0;  // static and dynamic
  uint64_t parameter_bytes = 0;
  char name[128] = {};  // for messages: its beginning
  // Only the used ones are sent. Kernels find each aligned as its type is.
  alignas(largest_alignment) std::array<std::byte, max_parameter_bytes> parameters{};
};

}  // namespace weft::software
