// Textures over images: what kernels read images through (KernelInfo::native,
// compiler/gpu/textures.h).
//
// A texture is made over an image's own bytes, in rows, so there is nothing to keep up with what is
// written. Devices ask for an alignment of the first pixel and of the rows, which the runtime
// checks.
#pragma once

#include <utility>
#include <vector>

#include "backends/hip/context.h"
#include "core/image.h"
#include "core/ports/device.h"

namespace weft::hip {

// Those over one allocation, each made when it is first asked for, up to a number (textures.cpp).
// Thread-safe.
class Textures {
 public:
  explicit Textures(const DeviceContext& context) : context_(context) {}
  Textures(const Textures&) = delete;
  Textures& operator=(const Textures&) = delete;
  // With the device current, and when nothing uses the memory any more.
  ~Textures() = default;

  // With the device current. `image` has its address; `sampler` as core/ports/launch.h says. 0: the
  // device does not take it, or not now.
  TextureHandle get(const port::ImageDescriptor& image, uint32_t sampler);

 private:
  // Made and destroyed with the device current.
  class Texture {
   public:
    Texture(const Api& api, const port::ImageDescriptor& image, uint32_t sampler, size_t alignment);
    Texture(Texture&& other) noexcept
        : api_(other.api_),
          image_(other.image_),
          sampler_(other.sampler_),
          handle_(std::exchange(other.handle_, 0)) {}
    Texture& operator=(Texture&&) = delete;
    ~Texture();

    bool isOf(const port::ImageDescriptor& image, uint32_t sampler) const;
    TextureHandle handle() const { return handle_; }  // 0: it cannot be made

   private:
    const Api* api_;
    port::ImageDescriptor image_;
    uint32_t sampler_;
    TextureHandle handle_ = 0;
  };
  const DeviceContext& context_;
  Guarded<std::vector<Texture>> made_;
};

// What a kernel's twin takes behind its own arguments. False where the device does not take all of
// it: then the launch does without. With the device current.
bool bindTextures(const port::Launch& launch, const NativeImages& wanted,
                  std::vector<TextureHandle>& textures);

}  // namespace weft::hip
