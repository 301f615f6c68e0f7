// Modules and launches.
#include <elf.h>

#include <cstdio>
#include <list>
#include <string>

#include "tests/software_gpu/hip.h"

using namespace weft::software;
using weft::hip::FunctionAttribute;
using weft::hip::FunctionHandle;
using weft::hip::JitOption;
using weft::hip::ModuleHandle;
using weft::hip::StreamHandle;

namespace {

// Of kernels that read textures (compiler/gpu/native_images.cpp).
constexpr const char* twin_suffix = "$images";

struct Function {
  Device& device;
  std::string name;
  uint64_t address;
  KernelLayout layout;
};

struct Module {
  Device& device;
  uint64_t handle;
  std::list<Function> functions;
};

// An image says itself how long it is. 0: it is none.
size_t imageBytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, SELFMAG);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

void tell(const char* message, unsigned count, const JitOption* options, void** values) {
  char* log = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::error_log_buffer) log = static_cast<char*>(values[i]);
    if (options[i] == JitOption::error_log_buffer_size_bytes)
      bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (log && bytes > 0) std::snprintf(log, bytes, "%s", message);
}

std::shared_ptr<LaunchRequest> requestFor(const Function& function, void** parameters) {
  auto request = std::make_shared<LaunchRequest>();
  request->function = function.address;
  request->parameter_bytes = function.layout.parameter_bytes;
  std::snprintf(request->name, sizeof request->name, "%s", function.name.c_str());
  for (uint32_t i = 0; i < function.layout.parameters; ++i) {
    const auto& [offset, bytes] = function.layout.places[i];
    std::memcpy(request->parameters.data() + offset, parameters[i], bytes);
  }
  return request;
}

bool fits(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& block) {
  const uint64_t items = uint64_t(block[0]) * block[1] * block[2];
  const uint64_t groups = uint64_t(grid[0]) * grid[1] * grid[2];
  return items > 0 && items <= max_work_group && groups > 0;
}

// On the stream's thread.
void execute(Stream& stream, const LaunchRequest& request) {
  Device& device = stream.device();
  if (device.lost()) return;
  const bool fails = machine().faults.kernels.strikes();
  if (!fails && device.pace().isSet()) return device.pace().spend(request);
  const Nanoseconds start = now();
  if (fails || stream.socket() < 0 || !launchAndWait(stream.socket(), request)) {
    device.lose();
    return;
  }
  device.pace().stretch(now() - start);
}

}  // namespace

WEFT_HIP hipModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned count,
                             JitOption* options, void** values) try {
  Device& device = current();
  if (const Status status = state(device); status != ok) return status;
  const size_t bytes = imageBytes(image);
  if (bytes == 0) {
    tell("not an image for software GPUs", count, options, values);
    return invalid_image;
  }
  const ControlAnswer answer = device.processor().load(image, bytes);
  if (answer.ok) return hand(module, new Module{device, answer.value, {}});
  tell(answer.message, count, options, values);
  return invalid_image;
} catch (const std::exception& error) {
  tell(error.what(), count, options, values);
  return weft::hip::out_of_memory;
}

WEFT_HIP hipModuleUnload(ModuleHandle handle) {
  auto* const module = reinterpret_cast<Module*>(handle);
  if (!module->device.lost()) module->device.processor().unload(module->handle);
  delete module;
  --machine().faults.alive;
  return ok;
}

WEFT_HIP hipModuleGetFunction(FunctionHandle* function, ModuleHandle handle, const char* name) {
  auto& module = *reinterpret_cast<Module*>(handle);
  const ControlAnswer answer = module.device.processor().find(module.handle, name);
  if (!answer.ok || answer.layout.parameter_bytes > max_parameter_bytes) return not_found;
  module.functions.push_back({module.device, name, answer.value, answer.layout});
  *function = reinterpret_cast<FunctionHandle>(&module.functions.back());
  return ok;
}

WEFT_HIP hipFuncGetAttribute(int* value, FunctionAttribute attribute, FunctionHandle handle) {
  const auto& function = *reinterpret_cast<Function*>(handle);
  const bool local = attribute == FunctionAttribute::shared_size_bytes;
  if (!local && attribute != FunctionAttribute::max_threads_per_block)
    return weft::hip::invalid_value;
  *value = local ? static_cast<int>(function.layout.local_bytes) : static_cast<int>(max_work_group);
  return ok;
}

WEFT_HIP hipModuleLaunchKernel(FunctionHandle handle, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned local_bytes, StreamHandle stream,
                               void** parameters, void**) {
  const auto& function = *reinterpret_cast<Function*>(handle);
  const std::array<uint32_t, 3> grid{grid_x, grid_y, grid_z}, block{block_x, block_y, block_z};
  if (!stream || &of(stream).device() != &function.device) return invalid_handle;
  if (machine().faults.launches.strikes()) return weft::hip::invalid_value;
  if (!fits(grid, block)) return invalid_configuration;
  if (function.layout.local_bytes + local_bytes > max_local_bytes) return weft::hip::invalid_value;
  if (function.name.ends_with(twin_suffix)) ++machine().faults.image_launches;
  const auto request = requestFor(function, parameters);
  request->grid = grid;
  request->block = block;
  request->local_bytes = function.layout.local_bytes + local_bytes;
  return enqueue(stream, [stream, request] { execute(of(stream), *request); });
}
