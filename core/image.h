// The program image: a self-describing, checksummed container around what a target loads (an ELF
// shared object, a code object, PTX, SPIR-V) or what a later link needs (LLVM bitcode). It is the
// cache's file format and what CL_PROGRAM_BINARIES returns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/access.h"
#include "core/ports/capabilities.h"
#include "core/ports/compiler.h"

namespace weft {

enum class ImageKind : uint8_t { object, library, executable };

enum class ArgumentKind : uint8_t {
  value,
  global_pointer,
  constant_pointer,
  local_pointer,
  image,
  sampler,
  pipe,
  queue
};

// Are they passed to kernels as the address of a memory object?
inline bool isAddress(ArgumentKind kind) {
  return kind == ArgumentKind::global_pointer || kind == ArgumentKind::constant_pointer ||
         kind == ArgumentKind::pipe;
}

enum class AddressQualifier : uint8_t { private_, global, local, constant };
enum class AccessQualifier : uint8_t { none, read_only, write_only, read_write };

// Bits of ArgumentInfo::type_qualifiers.
inline constexpr uint8_t qualifier_const = 1, qualifier_restrict = 2, qualifier_volatile = 4,
                         qualifier_pipe = 8;

// What kernels do to integers by atomics whose results nobody looks at. It does not matter in which
// order that happens, nor whether it happens to one integer or to copies that are combined later.
enum class Combination : uint8_t {
  none,  // other accesses, or atomics of several kinds
  add,   // and subtract
  bit_and,
  bit_or,
  bit_xor,
  minimum,
  maximum,
  minimum_signed,
  maximum_signed,
};

// ArgumentInfo::store_bytes: of several sizes, or nobody knows.
inline constexpr uint8_t stores_differ = 0xff;

struct ArgumentInfo {
  std::string name;
  std::string type_name;  // as CL_KERNEL_ARG_TYPE_NAME wants it, e.g. "float*", "uint4"
  ArgumentKind kind = ArgumentKind::value;
  AddressQualifier address = AddressQualifier::private_;
  AccessQualifier access = AccessQualifier::none;
  uint8_t type_qualifiers = 0;
  uint32_t size = 0;       // bytes of a value; 8 for pointers
  uint32_t alignment = 1;  // bytes; for local pointers the alignment of the pointee
  bool reads = true;       // may the kernel read through this pointer?
  bool writes = true;      // may it write?
  // Do the records tell everything that the kernel reads and writes through this pointer?
  bool reads_known = false;
  bool writes_known = false;
  // All that the kernel does through this pointer, to integers of so many bytes.
  Combination combination = Combination::none;
  uint8_t combined_bytes = 0;
  // All stores through it are of so many bytes each, or of vectors of such, at multiples of that.
  // 0: there are none.
  uint8_t store_bytes = stores_differ;
  std::vector<AccessRecord> accesses;
};

// May the kernel write what is behind the argument?
bool mayWrite(const ArgumentInfo& argument);

// What the kernel does, or may do, that ties its work-groups together or lets them reach memory
// that no argument names: partition/split.h says what that means for dividing it. Bits of
// KernelInfo::split_hazards.
enum class SplitHazard : uint32_t {
  global_atomics = 1,      // on memory that is not known to be local or private, no Combination
  volatile_accesses = 2,   // to such memory
  fences = 4,              // other than barriers
  prints = 8,              // in an order that can be seen
  unnamed_memory = 16,     // pointers that come from memory, from integers or from elsewhere
  program_variables = 32,  // that can be written
  unknown_calls = 64,      // with pointers to such memory, or through pointers
  device_queues = 128,
  // Of kernels with global_atomics:
  ordered_atomics = 256,   // some order other accesses to memory
  common_atomics = 512,    // all work-items change something
  waiting_atomics = 1024,  // loops may run until another work-group has done something
};
inline constexpr uint32_t no_split_hazard = 0, all_split_hazards = 2047;

// What it is called, for people.
const char* nameOf(SplitHazard hazard);

struct NativeImage {
  uint32_t argument = 0;
  uint32_t samplers = 0;  // bits: those that it is sampled with
};
// A sampler argument, or a literal as core/ports/launch.h says.
struct NativeSampler {
  bool is_argument = false;
  uint32_t value = 0;  // of a literal; else the argument's index
  bool operator==(const NativeSampler&) const = default;
};
// A kernel that does the same but reads some images through the device's own: by further arguments,
// in SPIR-V these images and then samplers, in PTX a texture for each image and sampler of it.
struct NativeImages {
  std::string symbol;  // exported name in the payload; empty: there is no such kernel
  std::vector<NativeImage> images;
  std::vector<NativeSampler> samplers;
};

struct KernelInfo {
  std::string name;
  std::string symbol;      // exported name in the payload
  std::string attributes;  // as CL_KERNEL_ATTRIBUTES wants it, e.g. "reqd_work_group_size(8,8,1)"
  std::vector<ArgumentInfo> arguments;
  std::array<uint64_t, 3> required_local_size{0, 0, 0};  // 0: none
  std::array<uint64_t, 3> hinted_local_size{0, 0, 0};
  uint32_t required_sub_group_size = 0;  // 0: none
  uint32_t sub_group_size = 0;           // where the device has sub-groups
  uint64_t local_bytes = 0;              // static local memory
  uint64_t private_bytes = 0;            // per work-item: CL_KERNEL_PRIVATE_MEM_SIZE
  uint64_t lane_context_bytes = 0;       // see CpuKernelEntry
  // That in which neighbours access neighbouring memory, so that groups should be long there: 0
  // or 1.
  uint32_t lane_dimension = 0;
  // How many of a group's rows, which lie in that dimension, run at once and share what they do: 1
  // or a few.
  uint32_t rows_at_once = 1;
  uint8_t other_forms = 0;   // bits: the port::CodeForms that an estimate decided against
  uint64_t stack_bytes = 0;  // host stack that the entry may use beyond a small frame
  // Every group has the enqueued size: OpenCL C before 2.0, or -cl-uniform-work-group-size.
  bool uniform_groups = false;
  bool observes_groups = true;  // else no work-item can tell how they are grouped
  bool has_barriers = false;
  bool uses_printf = false;
  bool uses_device_queue = false;  // it, or a kernel that it enqueues
  // Of a block, for device queues: its arguments are the block literal's address and local memory.
  // No kernel to the application. So are those of program-scope objects (core/ports/launch.h).
  bool is_block = false;
  uint32_t split_hazards = all_split_hazards;  // until the code was looked at
  NativeImages native;
};

struct Image {
  ImageKind kind = ImageKind::executable;
  port::Target target;
  std::string options;
  std::vector<KernelInfo> kernels;     // executables and, for queries, objects and libraries
  uint64_t global_variable_bytes = 0;  // CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE
  bool argument_names = false;         // built with -cl-kernel-arg-info or from source
  port::Bytes payload;
  // As port::CompileResult has it. Not written: it is the process's that built the program.
  std::shared_ptr<const port::FormMaker> forms = nullptr;

  // The index of a kernel that is no block.
  std::optional<uint32_t> find(std::string_view kernel) const;
};

// Which images readImage takes, e.g. "6.9": the launch protocol's version and the format's.
std::string imageVersion();

// Serialises with header, version (port::abi_version included) and checksum.
port::Bytes writeImage(const Image& image);

// nullopt for anything that writeImage of this version did not write, or that is damaged.
std::optional<Image> readImage(std::span<const std::byte> bytes);

}  // namespace weft
