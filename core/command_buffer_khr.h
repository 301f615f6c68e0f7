// What cl_khr_command_buffer 0.9.8 and cl_khr_command_buffer_mutable_dispatch 0.9.5 declare. These
// extensions are experimental: the system's headers may have an older revision, with other
// structures under the same names, or none. So tokens and structures have names of their own here;
// the types of handles and properties never changed, and may be declared twice.
#pragma once

#include <CL/cl.h>

// NOLINTBEGIN(modernize-use-using): as the extension's header has them.
typedef struct _cl_command_buffer_khr* cl_command_buffer_khr;
typedef struct _cl_mutable_command_khr* cl_mutable_command_khr;
typedef cl_uint cl_sync_point_khr;
typedef cl_properties cl_command_buffer_properties_khr;
typedef cl_properties cl_command_properties_khr;
// NOLINTEND(modernize-use-using)

namespace weft::khr {

inline constexpr char command_buffer_name[] = "cl_khr_command_buffer";
inline constexpr cl_version command_buffer_version = CL_MAKE_VERSION(0, 9, 8);
inline constexpr char mutable_dispatch_name[] = "cl_khr_command_buffer_mutable_dispatch";
inline constexpr cl_version mutable_dispatch_version = CL_MAKE_VERSION(0, 9, 5);

// Error codes.
inline constexpr cl_int invalid_command_buffer = -1138;
inline constexpr cl_int invalid_sync_point_wait_list = -1139;
inline constexpr cl_int incompatible_command_queue = -1140;
inline constexpr cl_int invalid_mutable_command = -1141;

// cl_device_info, and the bits of the capabilities.
inline constexpr cl_device_info device_capabilities = 0x12A9;
inline constexpr cl_device_info device_supported_queue_properties = 0x129A;
inline constexpr cl_device_info device_required_queue_properties = 0x12AA;
inline constexpr cl_device_info device_mutable_dispatch_capabilities = 0x12B0;
inline constexpr cl_bitfield capability_printf = 1 << 0;
inline constexpr cl_bitfield capability_device_side_enqueue = 1 << 1;
inline constexpr cl_bitfield capability_simultaneous_use = 1 << 2;

inline constexpr cl_command_type command_command_buffer = 0x12A8;

// cl_command_buffer_properties_khr.
inline constexpr cl_properties buffer_flags = 0x1293;
inline constexpr cl_bitfield flag_simultaneous_use = 1 << 0;
inline constexpr cl_bitfield flag_mutable = 1 << 1;
inline constexpr cl_properties buffer_asserts = 0x12B7;
inline constexpr cl_bitfield assert_no_additional_work_groups = 1 << 0;

// cl_command_buffer_info_khr, and the states.
inline constexpr cl_uint buffer_queues = 0x1294;
inline constexpr cl_uint buffer_num_queues = 0x1295;
inline constexpr cl_uint buffer_reference_count = 0x1296;
inline constexpr cl_uint buffer_state = 0x1297;
inline constexpr cl_uint buffer_properties_array = 0x1298;
inline constexpr cl_uint buffer_context = 0x1299;
inline constexpr cl_uint state_recording = 0;
inline constexpr cl_uint state_executable = 1;
inline constexpr cl_uint state_finalized = 2;

// cl_command_properties_khr, and what of a kernel's execution may be changed.
inline constexpr cl_properties updatable_fields = 0x12B1;
inline constexpr cl_properties dispatch_asserts = 0x12B8;
inline constexpr cl_bitfield field_global_offset = 1 << 0;
inline constexpr cl_bitfield field_global_size = 1 << 1;
inline constexpr cl_bitfield field_local_size = 1 << 2;
inline constexpr cl_bitfield field_arguments = 1 << 3;
inline constexpr cl_bitfield field_exec_info = 1 << 4;
inline constexpr cl_bitfield all_fields =
    field_global_offset | field_global_size | field_local_size | field_arguments | field_exec_info;

// cl_mutable_command_info_khr.
inline constexpr cl_uint command_queue = 0x12A0;
inline constexpr cl_uint command_buffer = 0x12A1;
inline constexpr cl_uint command_properties_array = 0x12A2;
inline constexpr cl_uint command_type = 0x12AD;
inline constexpr cl_uint dispatch_kernel = 0x12A3;
inline constexpr cl_uint dispatch_dimensions = 0x12A4;
inline constexpr cl_uint dispatch_global_offset = 0x12A5;
inline constexpr cl_uint dispatch_global_size = 0x12A6;
inline constexpr cl_uint dispatch_local_size = 0x12A7;

// cl_command_buffer_update_type_khr, and what it stands for.
inline constexpr cl_uint dispatch_config = 0;

struct DispatchArgument {
  cl_uint arg_index;
  size_t arg_size;
  const void* arg_value;
};
struct DispatchExecInfo {
  cl_uint param_name;
  size_t param_value_size;
  const void* param_value;
};
struct DispatchConfig {
  cl_mutable_command_khr command;
  cl_uint num_args;
  cl_uint num_svm_args;
  cl_uint num_exec_infos;
  cl_uint work_dim;
  const DispatchArgument* arg_list;
  const DispatchArgument* arg_svm_list;
  const DispatchExecInfo* exec_info_list;
  const size_t* global_work_offset;
  const size_t* global_work_size;
  const size_t* local_work_size;
};

}  // namespace weft::khr
