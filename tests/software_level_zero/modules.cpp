// Modules: the SPIR-V that the driver is given, compiled for the host.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <span>
#include <string_view>

#include <spirv-tools/libspirv.hpp>

#include "compiler/client/client.h"
#include "core/ports/launch.h"
#include "tests/software_level_zero/entry_points.h"

namespace weft::software {
namespace {

constexpr size_t local_alignment = 128;

// What software GPUs run (compiler/gpu/host_module.h).
port::CompileRequest requestFor(const ze_module_desc_t& description) {
  port::CompileRequest request;
  request.source.assign(reinterpret_cast<const char*>(description.pInputModule),
                        description.inputSize);
  request.intermediate = true;
  request.target.kind = port::TargetKind::amdgcn;
  request.target.cpu = "host";
  request.features.fp16 = request.features.images = true;
  request.features.extensions = {"cl_khr_int64_base_atomics", "cl_khr_subgroup_ballot",
                                 "cl_khr_subgroup_shuffle", "cl_ext_float_atomics"};
  request.features.feature_macros = {"__opencl_c_generic_address_space", "__opencl_c_subgroups",
                                     "__opencl_c_ext_fp32_global_atomic_add"};
  return request;
}

// The validator's OpenCL ends with 2.2, and knows nothing of what only some devices have.
spv_target_env environmentOf(std::span<const uint32_t> words) {
  constexpr size_t header = 5;
  constexpr uint32_t version_1_3 = 0x00010300;
  constexpr uint32_t capability = 2 << 16 | 17;  // its words and its number
  constexpr uint32_t float16 = 9, int64_atomics = 12, float_sums = 6033;
  if (words.size() > header && words[1] >= version_1_3) return SPV_ENV_UNIVERSAL_1_3;
  for (size_t i = header; i + 1 < words.size() && words[i] == capability; i += 2)
    if (words[i + 1] == float16 || words[i + 1] == int64_atomics || words[i + 1] == float_sums)
      return SPV_ENV_UNIVERSAL_1_2;
  return SPV_ENV_OPENCL_2_2;
}

// What SPIRV-Tools' validator finds; empty when the module is valid.
std::string faultsOf(std::span<const std::byte> module) {
  std::vector<uint32_t> words(module.size() / sizeof(uint32_t));
  std::memcpy(words.data(), module.data(), words.size() * sizeof(uint32_t));
  std::string text;
  spvtools::SpirvTools tools(environmentOf(words));
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& position, const char* message) {
        text += std::to_string(position.index) + ": " + message + "\n";
      });
  return tools.Validate(words) ? std::string() : "invalid SPIR-V: " + text;
}

// For other consumers to be tried on it.
void keep(std::span<const std::byte> module) {
  const char* const folder = std::getenv("WEFT_SOFTWARE_GPU_MODULES");
  if (!folder) return;
  const std::string_view text(reinterpret_cast<const char*>(module.data()), module.size());
  std::ofstream(folder + ("/" + std::to_string(std::hash<std::string_view>()(text))) + ".spv")
      << text;
}

ze_result_t refuse(const std::string& why, ze_module_build_log_handle_t* log) {
  if (log) hand(log, new std::string(why));
  return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

// The launch of a grid as kernels for the host want it told: each is a range of its own.
port::GpuLaunch launchOf(const std::array<uint32_t, 3>& block, const ze_group_count_t& groups) {
  const uint32_t counts[] = {groups.groupCountX, groups.groupCountY, groups.groupCountZ};
  port::GpuLaunch launch;
  launch.record.work_dim = 3;
  for (int d = 0; d < 3; ++d) {
    launch.record.local_size[d] = block[d];
    launch.record.group_count[d] = launch.box.end[d] = counts[d];
    launch.record.global_size[d] = uint64_t{block[d]} * counts[d];
  }
  return launch;
}

// False when an argument is missing or has another size than the kernel's.
bool fillParameters(const ZeKernel& kernel, const port::GpuLaunch& launch, LaunchRequest& request) {
  size_t local = kernel.layout.local_bytes;
  const auto place = [&](size_t i, const void* value, size_t bytes) {
    const auto& [offset, expected] = kernel.layout.places[i];
    if (bytes != expected) return false;
    std::memcpy(request.parameters.data() + offset, value, bytes);
    return true;
  };
  const size_t count = kernel.arguments.size();
  const size_t fixed = local;
  for (size_t i = 0; i < count; ++i) {
    const ZeKernel::Argument& argument = kernel.arguments[i];
    if (argument.local) {
      local = (local + local_alignment - 1) / local_alignment * local_alignment;
      const uint64_t offset = local - fixed;
      if (!place(i, &offset, sizeof offset)) return false;
      local += argument.local_bytes;
    } else if (!place(i, argument.value.data(), argument.value.size())) {
      return false;
    }
  }
  request.local_bytes = local;
  return count == kernel.layout.parameters || place(count, &launch, sizeof launch);
}

// What the processor runs as it is.
ze_result_t loadModule(Device& device, std::span<const std::byte> code, std::optional<Image> image,
                       port::Bytes native, ze_module_handle_t* module,
                       ze_module_build_log_handle_t* log) {
  const ControlAnswer answer = device.processor().load(code.data(), code.size());
  if (!answer.ok) {
    const ze_result_t refused = refuse(answer.message, log);
    return image ? refused : ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
  }
  if (log) hand(log, new std::string);
  return hand(module, new ZeModule{device, answer.value, std::move(image), std::move(native)});
}

ze_result_t loadImage(Device& device, Image image, ze_module_handle_t* module,
                      ze_module_build_log_handle_t* log) {
  port::Bytes native = writeImage(image);
  const std::vector<std::byte> code = std::move(image.payload);
  return loadModule(device, code, std::move(image), std::move(native), module, log);
}

ze_result_t handKernel(const ZeModule& module, const std::string& symbol, const KernelInfo* info,
                       const char* name, ze_kernel_handle_t* kernel) {
  const ControlAnswer answer = module.device.processor().find(module.handle, symbol);
  if (!answer.ok) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  const KernelLayout& layout = answer.layout;
  // Behind those of SPIR-V's comes the driver's own.
  const size_t count = info ? info->arguments.size() : layout.parameters;
  if (info && layout.parameters != count + 1) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  auto* const made = new ZeKernel{module.device, name, answer.value, layout, {}, {}};
  made->arguments.resize(count);
  for (size_t i = 0; i < count; ++i) {
    made->arguments[i].kind = info ? info->arguments[i].kind : ArgumentKind::value;
    made->arguments[i].local =
        info ? info->arguments[i].kind == ArgumentKind::local_pointer : layout.local[i];
  }
  return hand(kernel, made);
}

// The handle stands for what kernels for the host are passed.
template <class Object, class Value>
ze_result_t setHandle(const ZeKernel& kernel, ZeKernel::Argument& argument, const void* handle,
                      const Value Object::* what) {
  auto* const object = *static_cast<const Object* const*>(handle);
  if (!object || &object->device != &kernel.device) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  argument.value.resize(sizeof(Value));
  std::memcpy(argument.value.data(), &(object->*what), sizeof(Value));
  return ok;
}

ze_result_t setOpaque(const ZeKernel& kernel, ZeKernel::Argument& argument, size_t bytes,
                      const void* value) {
  if (bytes != sizeof(void*)) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
  if (!value) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return argument.kind == ArgumentKind::image
             ? setHandle(kernel, argument, value, &ZeImage::descriptor)
             : setHandle(kernel, argument, value, &ZeSampler::encoding);
}

void execute(Stream& stream, const LaunchRequest& request) {
  Device& device = stream.device();
  const bool fails = machine().faults.kernels.strikes();
  if (!fails && device.pace().isSet()) return device.pace().spend(request);
  const Nanoseconds start = now();
  if (fails || stream.socket() < 0 || !launchAndWait(stream.socket(), request))
    return device.lose();
  device.pace().stretch(now() - start);
}

}  // namespace

namespace entry {

ze_result_t moduleCreate(ze_context_handle_t, ze_device_handle_t handle,
                         const ze_module_desc_t* description, ze_module_handle_t* module,
                         ze_module_build_log_handle_t* log) try {
  Device& device = deviceOf(handle);
  if (const ze_result_t result = state(device); result != ok) return result;
  const auto given = std::as_bytes(std::span(description->pInputModule, description->inputSize));
  if (description->format == ZE_MODULE_FORMAT_NATIVE) {
    if (auto image = readImage(given)) return loadImage(device, std::move(*image), module, log);
    return loadModule(device, given, std::nullopt, {}, module, log);
  }
  if (description->format != ZE_MODULE_FORMAT_IL_SPIRV)
    return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
  keep(given);
  if (const std::string faults = faultsOf(given); !faults.empty()) return refuse(faults, log);
  static port::Compiler* const compiler = makeCompiler().release();
  const port::CompileResult result = compiler->build(requestFor(*description));
  if (!result.ok) return refuse(result.log, log);
  auto image = readImage(result.image);
  if (!image) return refuse("the image is damaged", log);
  return loadImage(device, std::move(*image), module, log);
} catch (const std::exception& error) {
  return refuse(error.what(), log);
}
ze_result_t moduleDestroy(ze_module_handle_t handle) {
  auto& module = of<ZeModule>(handle);
  if (!module.device.lost()) module.device.processor().unload(module.handle);
  return destroy<ZeModule>(handle);
}
ze_result_t moduleGetNativeBinary(ze_module_handle_t handle, size_t* bytes, uint8_t* native) {
  const auto& module = of<ZeModule>(handle);
  if (module.native.empty()) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  if (native) std::memcpy(native, module.native.data(), std::min(*bytes, module.native.size()));
  *bytes = module.native.size();
  return ok;
}
ze_result_t buildLogGetString(ze_module_build_log_handle_t log, size_t* bytes, char* text) {
  const auto& full = of<std::string>(log);
  if (text) std::memcpy(text, full.c_str(), std::min(*bytes, full.size() + 1));
  *bytes = full.size() + 1;
  return ok;
}
ze_result_t buildLogDestroy(ze_module_build_log_handle_t log) { return destroy<std::string>(log); }

ze_result_t kernelCreate(ze_module_handle_t handle, const ze_kernel_desc_t* description,
                         ze_kernel_handle_t* kernel) {
  const auto& module = of<ZeModule>(handle);
  const char* const name = description->pKernelName;
  if (!module.image) return handKernel(module, name, nullptr, name, kernel);
  for (const KernelInfo& info : module.image->kernels)
    if (info.name == name) return handKernel(module, info.symbol, &info, name, kernel);
  return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
}
ze_result_t kernelDestroy(ze_kernel_handle_t kernel) { return destroy<ZeKernel>(kernel); }
ze_result_t kernelSetGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z) {
  const uint64_t items = uint64_t{x} * y * z;
  if (items == 0 || items > max_work_group) return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  of<ZeKernel>(kernel).block = {x, y, z};
  return ok;
}
ze_result_t kernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index, size_t bytes,
                                   const void* value) {
  auto& kernel = of<ZeKernel>(handle);
  if (index >= kernel.arguments.size()) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  ZeKernel::Argument& argument = kernel.arguments[index];
  if (argument.local) {
    argument.local_bytes = bytes;
    return value ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ok;
  }
  if (argument.kind == ArgumentKind::image || argument.kind == ArgumentKind::sampler)
    return setOpaque(kernel, argument, bytes, value);
  // Vectors of three take the room of four.
  const size_t expected = kernel.layout.places[index][1];
  if (bytes != expected && 3 * bytes != 4 * expected)
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
  // Without a value it is a null pointer.
  argument.value.assign(expected, std::byte{0});
  if (value) std::memcpy(argument.value.data(), value, expected);
  return ok;
}
ze_result_t kernelSetIndirectAccess(ze_kernel_handle_t, ze_kernel_indirect_access_flags_t) {
  return ok;
}

ze_result_t appendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t handle,
                               const ze_group_count_t* groups, ze_event_handle_t signal,
                               uint32_t count, ze_event_handle_t* waits) {
  const auto& kernel = of<ZeKernel>(handle);
  if (!of<ZeList>(list).runs_kernels || machine().faults.launches.strikes())
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (kernel.block[0] == 0) return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  const auto request = std::make_shared<LaunchRequest>();
  request->function = kernel.function;
  request->grid = {groups->groupCountX, groups->groupCountY, groups->groupCountZ};
  request->block = kernel.block;
  request->parameter_bytes = kernel.layout.parameter_bytes;
  std::snprintf(request->name, sizeof request->name, "%s", kernel.name.c_str());
  if (!fillParameters(kernel, launchOf(kernel.block, *groups), *request))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (std::ranges::find(kernel.arguments, ArgumentKind::image, &ZeKernel::Argument::kind) !=
      kernel.arguments.end())
    ++machine().faults.image_launches;
  if (request->local_bytes > max_local_bytes) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  return append(list, signal, count, waits,
                [request](Stream& stream) { execute(stream, *request); });
}

}  // namespace entry
}  // namespace weft::software
