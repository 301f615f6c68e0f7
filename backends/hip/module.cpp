#include "backends/hip/module.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "backends/common/grid.h"
#include "backends/hip/errors.h"
#include "backends/hip/textures.h"
#include "core/error.h"

namespace weft::hip {
namespace {

constexpr size_t log_bytes = 16384;
constexpr size_t least_local_alignment = 16;  // of an argument: what double2 and its like need

// The values of a launch's parameters, and where each lies.
class Parameters {
 public:
  Parameters(size_t count, size_t textures) : words_(count), places_(count + textures + 1) {}

  void place(size_t i, const void* value) { places_[i] = const_cast<void*>(value); }
  void word(size_t i, uint64_t value) {
    words_[i] = value;
    places_[i] = &words_[i];
  }
  void image(size_t i, const void* descriptor, uint64_t address) {
    if (images_.empty()) images_.resize(words_.size());
    std::memcpy(&images_[i], descriptor, sizeof images_[i]);
    images_[i].address = address;
    places_[i] = &images_[i];
  }
  void** data() { return places_.data(); }

 private:
  std::vector<uint64_t> words_;
  std::vector<port::ImageDescriptor> images_;
  std::vector<void*> places_;
};

// The runtime is not told how long a code object is, and would read on.
bool isCutShort(const std::string& payload) {
  if (!payload.starts_with(ELFMAG)) return false;
  Elf64_Ehdr header;
  if (payload.size() < sizeof header) return true;
  std::memcpy(&header, payload.data(), sizeof header);
  return header.e_shoff > payload.size() ||
         size_t{header.e_shnum} * header.e_shentsize > payload.size() - header.e_shoff;
}

}  // namespace

Module::Module(std::shared_ptr<DeviceContext> context, const Image& image)
    : context_(std::move(context)) {
  const Api& api = context_->api;
  const Current current(api, context_->device);
  check(api, context_->usable(current.status()), "making the device current");
  // PTX is text, so it has to end; a code object does not mind the byte.
  std::string payload(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  if (isCutShort(payload)) throw Error(CL_INVALID_BINARY, "loading the image: it is cut short");
  std::string log(log_bytes, '\0');
  JitOption options[] = {JitOption::error_log_buffer, JitOption::error_log_buffer_size_bytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log_bytes)};
  const Status status =
      context_->note(api.moduleLoadDataEx(&module_, payload.c_str(), 2, options, values));
  if (status != success) {
    log.resize(std::strlen(log.c_str()));
    throw Error(operationStatus(status),
                "loading the image: " + describe(api, status) + (log.empty() ? "" : "\n" + log));
  }
  try {
    findKernels(image);
  } catch (...) {
    api.moduleUnload(module_);
    throw;
  }
}

Module::~Module() {
  const Current current(context_->api, context_->device);
  context_->api.moduleUnload(module_);
}

FunctionHandle Module::find(const std::string& symbol, size_t& max_group) const {
  const Api& api = context_->api;
  FunctionHandle function = nullptr;
  const Status found = api.moduleGetFunction(&function, module_, symbol.c_str());
  require(found == success, CL_INVALID_BINARY, "the image lacks one of its kernels");
  // The question also makes the runtime load the function now. Left to the first launch, that can
  // wait for streams that are busy.
  int used = 0;
  check(api, api.funcGetAttribute(&used, FunctionAttribute::shared_size_bytes, function),
        "a kernel's local memory");
  const auto fixed = static_cast<uint64_t>(used);
  int most = 0;
  check(api, api.funcGetAttribute(&most, FunctionAttribute::max_threads_per_block, function),
        "a kernel's largest group");
  max_group = static_cast<size_t>(std::max(most, 1));
  if (api.funcSetAttribute && context_->max_shared_bytes > fixed)
    api.funcSetAttribute(function, FunctionAttribute::max_dynamic_shared_size_bytes,
                         static_cast<int>(context_->max_shared_bytes - fixed));
  return function;
}

void Module::findKernels(const Image& image) {
  for (const KernelInfo& info : image.kernels) {
    Kernel kernel;
    kernel.function = find(info.symbol, kernel.max_group);
    kernel.prints = info.uses_printf;
    if (!info.native.symbol.empty() && context_->texture_pitch_alignment > 0) {
      size_t max_group = 0;
      kernel.twin = find(info.native.symbol, max_group);
      kernel.max_group = std::min(kernel.max_group, max_group);
      kernel.native = info.native;
    }
    for (const ArgumentInfo& argument : info.arguments)
      kernel.alignments.push_back(argument.alignment);
    kernels_.push_back(std::move(kernel));
  }
}

Status Module::launch(StreamHandle stream, const port::Launch& launch, void* print_buffer) const {
  if (launch.kernel >= kernels_.size()) return invalid_value;
  const Kernel& kernel = kernels_[launch.kernel];
  if (launch.arguments.size() != kernel.alignments.size()) return invalid_value;
  std::vector<TextureHandle> textures;
  const bool native = kernel.twin && bindTextures(launch, kernel.native, textures);
  if (!native) textures.clear();
  Parameters parameters(launch.arguments.size(), textures.size());
  uint64_t shared = 0;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const port::LaunchArgument& argument = launch.arguments[i];
    if (argument.kind == ArgumentKind::local_pointer) {
      const uint64_t alignment = std::max<uint64_t>(kernel.alignments[i], least_local_alignment);
      shared = (shared + alignment - 1) / alignment * alignment;
      parameters.word(i, shared);
      shared += argument.size;
    } else if (isAddress(argument.kind)) {
      const uint64_t base =
          argument.memory ? argument.memory->deviceAddress() : argument.raw_address;
      parameters.word(i, base ? base + argument.offset : 0);
    } else if (argument.kind == ArgumentKind::image) {
      parameters.image(i, argument.value, argument.memory->deviceAddress() + argument.offset);
    } else {
      parameters.place(i, argument.value);
    }
  }
  size_t next = launch.arguments.size();
  for (const TextureHandle& texture : textures) parameters.place(next++, &texture);
  port::GpuLaunch hidden{*launch.record, {}, launch.journal};
  hidden.record.services = static_cast<const port::HostServices*>(print_buffer);
  parameters.place(next, &hidden);
  return forEachGrid(*launch.record, launch.slice, context_->max_grid, [&](const Grid& grid) {
    hidden.box = grid.box;
    const auto groups = [&](int d) {
      return static_cast<unsigned>(grid.box.end[d] - grid.box.begin[d]);
    };
    return context_->api.moduleLaunchKernel(native ? kernel.twin : kernel.function, groups(0),
                                            groups(1), groups(2), grid.block[0], grid.block[1],
                                            grid.block[2], static_cast<unsigned>(shared), stream,
                                            parameters.data(), nullptr);
  });
}

}  // namespace weft::hip
