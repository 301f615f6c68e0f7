// A built program in the test's process.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/pixels/pixel_functions.h"
#include "core/image.h"
#include "core/ports/launch.h"

namespace weft::test {

// A loaded executable and the way to run its kernels on one thread.
class Program {
 public:
  explicit Program(const port::Bytes& bytes) : image_(readImage(bytes).value()) {
    const int fd = memfd_create("program", MFD_CLOEXEC);
    EXPECT_EQ(write(fd, image_.payload.data(), image_.payload.size()),
              static_cast<ssize_t>(image_.payload.size()));
    handle_ = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(handle_) << dlerror();
    close(fd);
  }
  ~Program() {
    if (handle_) dlclose(handle_);
  }

  const Image& image() const { return image_; }
  const KernelInfo& kernel(const std::string& name) const {
    for (const KernelInfo& kernel : image_.kernels)
      if (kernel.name == name) return kernel;
    throw std::runtime_error("no kernel " + name);
  }

  // Values are passed by address, as the entry wants them; images as descriptors, which get the
  // functions of a CPU device.
  void run(const std::string& name, std::array<uint64_t, 3> global, std::array<uint64_t, 3> local,
           std::vector<const void*> arguments, size_t local_argument_bytes = 0,
           const port::HostServices* services = nullptr) const {
    const KernelInfo& info = kernel(name);
    auto entry = reinterpret_cast<port::CpuKernelEntry>(dlsym(handle_, info.symbol.c_str()));
    ASSERT_TRUE(entry) << info.symbol;
    port::LaunchRecord record;
    port::GroupBox box;
    record.work_dim = 3;
    record.services = services;
    for (int i = 0; i < 3; ++i) {
      record.global_size[i] = global[i];
      record.local_size[i] = local[i];
      record.group_count[i] = box.end[i] = (global[i] + local[i] - 1) / local[i];
    }
    std::vector<port::CpuImage> images;
    images.reserve(arguments.size());
    for (size_t i = 0; i < info.arguments.size() && i < arguments.size(); ++i) {
      if (info.arguments[i].kind != ArgumentKind::image) continue;
      const auto* const image = static_cast<const port::ImageDescriptor*>(arguments[i]);
      images.push_back(cpu::imageAt(image, image->address));
      arguments[i] = &images.back();
    }
    const uint64_t lanes = local[0] * local[1] * local[2];
    std::vector<std::byte> scratch(info.local_bytes + local_argument_bytes + 256 +
                                   info.lane_context_bytes * ((lanes + 63) / 64 * 64) + 256);
    const auto aligned = [](std::byte* p) {
      return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(p) + 127) / 128 * 128);
    };
    std::byte* local_memory = aligned(scratch.data());
    std::byte* context = aligned(local_memory + info.local_bytes + local_argument_bytes);
    entry(arguments.data(), &record, &box, local_memory, context);
  }

 private:
  Image image_;
  void* handle_ = nullptr;
};

}  // namespace weft::test
