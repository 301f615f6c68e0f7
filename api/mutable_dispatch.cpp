// cl_khr_command_buffer: recording of kernels; cl_khr_command_buffer_mutable_dispatch: changing
// them between enqueues.
#include <algorithm>
#include <map>

#include "api/command_buffer_argument.h"
#include "api/command_buffer_entry_points.h"
#include "api/kernel_execution.h"
#include "api/properties.h"
#include "api/tables.h"

namespace weft::api {
namespace {

constexpr cl_uint max_dimensions = 3;

MutableCommand& toMutableCommand(cl_mutable_command_khr handle) {
  return fromHandle<MutableCommand>(handle);
}

std::vector<size_t> sizes(const MutableCommand& command, Geometry::Sizes Geometry::* member) {
  const Geometry geometry = command.launch().geometry;
  const auto& all = geometry.*member;
  return {all.begin(), all.begin() + geometry.dimensions};
}

constexpr InfoRow<MutableCommand> rows[] = {
    {khr::command_queue, [](MutableCommand& c) { return c.owner().queue().handle(); }},
    {khr::command_buffer, [](MutableCommand& c) { return c.owner().handle(); }},
    {khr::command_type, [](MutableCommand&) { return cl_command_type{CL_COMMAND_NDRANGE_KERNEL}; }},
    {khr::command_properties_array, [](MutableCommand& c) { return c.properties(); }},
    {khr::dispatch_kernel, [](MutableCommand& c) { return c.recordedKernel().handle(); }},
    {khr::dispatch_dimensions, [](MutableCommand& c) { return c.launch().geometry.dimensions; }},
    {khr::dispatch_global_offset, [](MutableCommand& c) { return sizes(c, &Geometry::offset); }},
    {khr::dispatch_global_size, [](MutableCommand& c) { return sizes(c, &Geometry::global); }},
    {khr::dispatch_local_size, [](MutableCommand& c) { return sizes(c, &Geometry::local); }},
};

// The properties of a launch.
struct LaunchProperties {
  std::vector<cl_command_properties_khr> list;
  cl_bitfield fields = khr::all_fields;
  cl_bitfield asserts = 0;
  bool has_fields = false;

  explicit LaunchProperties(const cl_command_properties_khr* properties) {
    list = readProperties(properties, CL_INVALID_VALUE, [&](auto name, cl_bitfield value) {
      if (name == khr::updatable_fields) {
        require((value & ~khr::all_fields) == 0, CL_INVALID_VALUE, "unknown fields");
        fields = value;
        has_fields = true;
      } else {
        require(name == khr::dispatch_asserts, CL_INVALID_VALUE, "unknown property");
        require((value & ~khr::assert_no_additional_work_groups) == 0, CL_INVALID_VALUE,
                "unknown assertions");
        asserts = value;
      }
    });
  }
};

// The work of a launch; null when the kernel lacks arguments and may.
Ref<const RecordedWork> launchWork(const Queue& queue, const Kernel& kernel, const NDRange& range,
                                   bool may_lack_arguments) {
  try {
    return recorded(LaunchWork::check(queue, kernel, range));
  } catch (const Error& error) {
    if (error.code() != CL_INVALID_KERNEL_ARGS || !may_lack_arguments) throw;
    return nullptr;
  }
}

cl_sync_point_khr recordLaunch(CommandBuffer& buffer, Kernel& kernel, const NDRange& range,
                               const RecordArguments& arguments) {
  requireSameContext(buffer, kernel);
  require(range.dimensions >= 1 && range.dimensions <= max_dimensions, CL_INVALID_WORK_DIMENSION);
  LaunchProperties properties(arguments.properties);
  // "CL_INVALID_VALUE if command_buffer was created with [...] ASSERT_NO_ADDITIONAL_WORK_GROUPS
  // and local_work_size is NULL", and likewise for the property of the command.
  require(range.local ||
              !((buffer.asserts() | properties.asserts) & khr::assert_no_additional_work_groups),
          CL_INVALID_VALUE, "the number of work-groups is not known");
  const auto waits = arguments.waits();
  const bool defers = arguments.mutable_handle && buffer.isMutable() && properties.has_fields &&
                      properties.fields & khr::field_arguments;
  auto work = launchWork(buffer.queue(), kernel, range, defers);
  if (!arguments.mutable_handle) return buffer.record(std::move(work), waits);
  const auto command =
      make<MutableCommand>(buffer, Ref<Kernel>(&kernel),
                           MutableCommand::Launch{make<Kernel>(kernel), Geometry::of(range)},
                           properties.fields, std::move(properties.list));
  const cl_sync_point_khr point = buffer.record(command, std::move(work), waits);
  *arguments.mutable_handle = command->handle();
  return point;
}

void requireField(const MutableCommand& command, cl_bitfield field, bool changes) {
  require(!changes || command.fields() & field, CL_INVALID_OPERATION,
          "what was not declared to be updatable");
}

template <class T>
std::span<const T> listOf(const T* list, cl_uint count) {
  require((count == 0) == (list == nullptr), CL_INVALID_VALUE, "a list and its length");
  return {list, count};
}

void changeArguments(MutableCommand::Launch& launch, const khr::DispatchConfig& config) {
  Kernel& kernel = *launch.kernel;
  for (const auto& argument : listOf(config.arg_list, config.num_args))
    kernel.setArgument(argument.arg_index, argument.arg_size, argument.arg_value);
  for (const auto& argument : listOf(config.arg_svm_list, config.num_svm_args)) {
    requireSvm(kernel);
    setSvmPointer(kernel, argument.arg_index, argument.arg_value);
  }
  for (const auto& info : listOf(config.exec_info_list, config.num_exec_infos)) {
    requireSvm(kernel);
    setExecInfo(kernel, info.param_name, info.param_value_size, info.param_value);
  }
}

void changeGeometry(Geometry& geometry, const khr::DispatchConfig& config) {
  require(config.work_dim == 0 || config.work_dim == geometry.dimensions, CL_INVALID_OPERATION,
          "another number of dimensions");
  const bool was_uniform = geometry.isUniform();
  const auto copy = [&](const size_t* from, Geometry::Sizes& to) {
    if (from) std::copy_n(from, geometry.dimensions, to.begin());
    return from != nullptr;
  };
  copy(config.global_work_offset, geometry.offset);
  if (copy(config.global_work_size, geometry.global)) geometry.has_global = true;
  if (copy(config.local_work_size, geometry.local)) geometry.has_local = true;
  // "CL_INVALID_OPERATION if the values of local_work_size and/or global_work_size result in a
  // change to work-group uniformity."
  require(geometry.isUniform() == was_uniform, CL_INVALID_OPERATION,
          "work-groups become, or stop being, all of one size");
}

// The launches as they are to be, by their commands. A later configuration of one goes on from the
// earlier one's.
using Changes = std::map<MutableCommand*, MutableCommand::Launch>;

void change(Changes& changes, CommandBuffer& buffer, const khr::DispatchConfig& config) {
  MutableCommand& command = toMutableCommand(config.command);
  require(&command.owner() == &buffer, khr::invalid_mutable_command, "of another command buffer");
  requireField(command, khr::field_global_offset, config.global_work_offset);
  requireField(command, khr::field_global_size, config.global_work_size);
  requireField(command, khr::field_local_size, config.local_work_size);
  requireField(command, khr::field_arguments, config.num_args || config.num_svm_args);
  requireField(command, khr::field_exec_info, config.num_exec_infos);
  auto found = changes.find(&command);
  if (found == changes.end()) {
    const MutableCommand::Launch now = command.launch();
    found =
        changes.emplace(&command, MutableCommand::Launch{make<Kernel>(*now.kernel), now.geometry})
            .first;
  }
  changeArguments(found->second, config);
  changeGeometry(found->second.geometry, config);
}

void update(CommandBuffer& buffer, std::span<const cl_uint> types, const void* const* configs) {
  require(buffer.state() != khr::state_recording, CL_INVALID_OPERATION, "it was not finalized");
  require(buffer.isMutable(), CL_INVALID_OPERATION, "the command buffer is not mutable");
  Changes changes;
  for (size_t i = 0; i < types.size(); ++i) {
    require(types[i] == khr::dispatch_config, CL_INVALID_VALUE, "unknown type of a configuration");
    require(configs[i] != nullptr, CL_INVALID_VALUE, "a configuration is missing");
    change(changes, buffer, *static_cast<const khr::DispatchConfig*>(configs[i]));
  }
  std::vector<CommandBuffer::Update> updates;
  for (auto& [command, launch] : changes) {
    auto work = launchWork(buffer.queue(), *launch.kernel, launch.geometry.range(), true);
    updates.push_back({command, std::move(launch), std::move(work)});
  }
  buffer.update(updates);
}

}  // namespace

constinit const InfoTable<MutableCommand> mutable_command_info = rows;

cl_int CL_API_CALL clCommandNDRangeKernelKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, cl_kernel kernel, cl_uint work_dim,
    const size_t* global_work_offset, const size_t* global_work_size, const size_t* local_work_size,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return call([&] {
    CommandBuffer& buffer = toRecording(command_buffer, arguments);
    const NDRange range{work_dim, global_work_offset, global_work_size, local_work_size};
    const cl_sync_point_khr point = recordLaunch(buffer, toKernel(kernel), range, arguments);
    if (sync_point) *sync_point = point;
  });
}

cl_int CL_API_CALL clUpdateMutableCommandsKHR(cl_command_buffer_khr command_buffer,
                                              cl_uint num_configs, const cl_uint* config_types,
                                              const void** configs) {
  return call([&] {
    CommandBuffer& buffer = toCommandBuffer(command_buffer);
    const auto types = listOf(config_types, num_configs);
    listOf(configs, num_configs);
    update(buffer, types, configs);
  });
}

cl_int CL_API_CALL clGetMutableCommandInfoKHR(cl_mutable_command_khr command, cl_uint param_name,
                                              size_t param_value_size, void* param_value,
                                              size_t* param_value_size_ret) {
  return call([&] {
    query(mutable_command_info, toMutableCommand(command), param_name, param_value_size,
          param_value, param_value_size_ret);
  });
}

}  // namespace weft::api
