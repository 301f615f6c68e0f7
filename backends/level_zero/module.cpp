#include "backends/level_zero/module.h"

#include <cstring>
#include <optional>

#include "backends/common/grid.h"
#include "core/error.h"

namespace weft::level_zero {
namespace {

// Anything else is what the driver itself has made.
bool isSpirv(std::span<const std::byte> payload) {
  constexpr uint32_t magic = 0x07230203;
  uint32_t first = 0;
  if (payload.size() < sizeof first) return false;
  std::memcpy(&first, payload.data(), sizeof first);
  return first == magic;
}

std::string textOf(const Api& api, ze_module_build_log_handle_t log) {
  size_t bytes = 0;
  if (api.moduleBuildLogGetString(log, &bytes, nullptr) != ZE_RESULT_SUCCESS || bytes == 0)
    return {};
  std::string text(bytes, '\0');
  if (api.moduleBuildLogGetString(log, &bytes, text.data()) != ZE_RESULT_SUCCESS) return {};
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace

Module::Module(std::shared_ptr<DeviceContext> context, const Image& image)
    : context_(std::move(context)) {
  try {
    create(image);
    findKernels(image);
  } catch (...) {
    destroy();
    throw;
  }
}

Module::~Module() { destroy(); }

void Module::destroy() noexcept {
  for (const auto& kernel : kernels_)
    for (const ze_kernel_handle_t handle : {kernel->handle, kernel->native_handle})
      if (handle) context_->api.kernelDestroy(handle);
  if (module_) context_->api.moduleDestroy(module_);
}

ze_result_t Module::create(std::span<const std::byte> code, ze_module_format_t format,
                           ze_module_build_log_handle_t* log) {
  const ze_module_desc_t description{ZE_STRUCTURE_TYPE_MODULE_DESC,
                                     nullptr,
                                     format,
                                     code.size(),
                                     reinterpret_cast<const uint8_t*>(code.data()),
                                     "",
                                     nullptr};
  const ze_result_t result = context_->api.moduleCreate(context_->driver->context, context_->device,
                                                        &description, &module_, log);
  if (result != ZE_RESULT_SUCCESS) module_ = nullptr;
  return result;
}

void Module::create(const Image& image) {
  const bool is_spirv = isSpirv(image.payload);
  if (is_spirv && createFromCache(image)) return;
  ze_module_build_log_handle_t log = nullptr;
  const ze_result_t result =
      create(image.payload, is_spirv ? ZE_MODULE_FORMAT_IL_SPIRV : ZE_MODULE_FORMAT_NATIVE, &log);
  const Api& api = context_->api;
  const std::string text = log && result != ZE_RESULT_SUCCESS ? textOf(api, log) : std::string();
  if (log) api.moduleBuildLogDestroy(log);
  if (result != ZE_RESULT_SUCCESS)
    throw Error(operationStatus(result),
                "loading the image: " + describe(result) + (text.empty() ? "" : "\n" + text));
  if (is_spirv) keep(image);
}

bool Module::createFromCache(const Image& image) {
  const auto& binaries = context_->driver->binaries;
  const auto native =
      binaries ? binaries->find(context_->maker, image.payload) : std::optional<port::Bytes>();
  return native && create(*native, ZE_MODULE_FORMAT_NATIVE, nullptr) == ZE_RESULT_SUCCESS;
}

void Module::keep(const Image& image) const {
  const auto& binaries = context_->driver->binaries;
  size_t bytes = 0;
  if (!binaries ||
      context_->api.moduleGetNativeBinary(module_, &bytes, nullptr) != ZE_RESULT_SUCCESS)
    return;
  port::Bytes native(bytes);
  if (bytes > 0 &&
      context_->api.moduleGetNativeBinary(
          module_, &bytes, reinterpret_cast<uint8_t*>(native.data())) == ZE_RESULT_SUCCESS)
    binaries->store(context_->maker, image.payload, std::move(native));
}

ze_result_t Module::create(const std::string& symbol, ze_kernel_handle_t& handle) const {
  // Kernels reach memory that no argument names: through descriptors of images, for one.
  constexpr ze_kernel_indirect_access_flags_t everything = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                           ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                           ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
  const ze_kernel_desc_t description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, symbol.c_str()};
  const ze_result_t made = context_->api.kernelCreate(module_, &description, &handle);
  if (made != ZE_RESULT_SUCCESS) {
    handle = nullptr;
    return made;
  }
  return context_->api.kernelSetIndirectAccess(handle, everything);
}

void Module::findKernels(const Image& image) {
  for (const KernelInfo& info : image.kernels) {
    kernels_.push_back(std::make_unique<Kernel>());
    Kernel& kernel = *kernels_.back();
    const ze_result_t made = create(info.symbol, kernel.handle);
    require(made != ZE_RESULT_ERROR_INVALID_KERNEL_NAME, CL_INVALID_BINARY,
            "the image lacks one of its kernels");
    check(made, info.name.c_str());
    kernel.prints = info.uses_printf;
    for (const ArgumentInfo& argument : info.arguments)
      kernel.writes.push_back(argument.kind == ArgumentKind::image
                                  ? argument.access != AccessQualifier::read_only
                                  : argument.writes);
    if (info.native.symbol.empty()) continue;
    check(create(info.native.symbol, kernel.native_handle), info.name.c_str());
    kernel.native = info.native;
  }
}

size_t Module::describeImages(const port::Launch& launch, std::byte* images) {
  size_t bytes = 0;
  for (const port::LaunchArgument& argument : launch.arguments) {
    if (argument.kind != ArgumentKind::image) continue;
    port::ImageDescriptor descriptor;
    std::memcpy(&descriptor, argument.value, sizeof descriptor);
    descriptor.address = argument.memory->deviceAddress() + argument.offset;
    if (bytes + sizeof descriptor <= DeviceContext::images_bytes)
      std::memcpy(images + bytes, &descriptor, sizeof descriptor);
    bytes += sizeof descriptor;
  }
  return bytes;
}

ze_result_t Module::setArguments(ze_kernel_handle_t kernel, const port::Launch& launch,
                                 const std::byte* images) const {
  const auto set = [&](size_t index, size_t bytes, const void* value) {
    return context_->api.kernelSetArgumentValue(kernel, static_cast<uint32_t>(index), bytes, value);
  };
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const port::LaunchArgument& argument = launch.arguments[i];
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (argument.kind == ArgumentKind::local_pointer) {
      result = set(i, argument.size, nullptr);
    } else if (isAddress(argument.kind)) {
      const uint64_t base =
          argument.memory ? argument.memory->deviceAddress() : argument.raw_address;
      const uint64_t address = base ? base + argument.offset : 0;
      result = set(i, sizeof address, address ? &address : nullptr);
    } else if (argument.kind == ArgumentKind::image) {
      result = set(i, sizeof images, &images);
      images += sizeof(port::ImageDescriptor);
    } else {
      result = set(i, argument.size, argument.value);
    }
    if (result != ZE_RESULT_SUCCESS) return result;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t Module::setArguments(ze_kernel_handle_t kernel, uint32_t first,
                                 const NativeArguments& native) const {
  const auto set = [&](const auto& handles) {
    for (const auto& handle : handles)
      if (const ze_result_t result =
              context_->api.kernelSetArgumentValue(kernel, first++, sizeof handle, &handle);
          result != ZE_RESULT_SUCCESS)
        return result;
    return ZE_RESULT_SUCCESS;
  };
  const ze_result_t result = set(native.images);
  return result == ZE_RESULT_SUCCESS ? set(native.samplers) : result;
}

ze_result_t Module::launch(ze_command_list_handle_t list, const port::Launch& launch,
                           const Places& places, const NativeArguments* native) const {
  const Api& api = context_->api;
  if (launch.kernel >= kernels_.size()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  Kernel& kernel = *kernels_[launch.kernel];
  port::GpuLaunch hidden{*launch.record, {}, launch.journal};
  hidden.record.services = static_cast<const port::HostServices*>(places.print_buffer);
  const ze_kernel_handle_t handle = native ? kernel.native_handle : kernel.handle;
  auto count = static_cast<uint32_t>(launch.arguments.size());
  const std::lock_guard lock(kernel.mutex);
  ze_result_t set = setArguments(handle, launch, places.images);
  if (native && set == ZE_RESULT_SUCCESS) {
    set = setArguments(handle, count, *native);
    count += static_cast<uint32_t>(native->images.size() + native->samplers.size());
  }
  if (set != ZE_RESULT_SUCCESS) return set;
  const int result =
      forEachGrid(*launch.record, launch.slice, context_->max_grid, [&](const Grid& grid) -> int {
        hidden.box = grid.box;
        ze_result_t status =
            api.kernelSetGroupSize(handle, grid.block[0], grid.block[1], grid.block[2]);
        if (status == ZE_RESULT_SUCCESS)
          status = api.kernelSetArgumentValue(handle, count, sizeof hidden, &hidden);
        if (status != ZE_RESULT_SUCCESS) return static_cast<int>(status);
        const auto groups = [&](int d) {
          return static_cast<uint32_t>(grid.box.end[d] - grid.box.begin[d]);
        };
        const ze_group_count_t grids{groups(0), groups(1), groups(2)};
        return static_cast<int>(
            api.commandListAppendLaunchKernel(list, handle, &grids, nullptr, 0, nullptr));
      });
  return static_cast<ze_result_t>(result);
}

}  // namespace weft::level_zero
