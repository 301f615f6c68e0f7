// The device's own images and samplers, for kernels that sample (KernelInfo::native).
//
// What an image is lies in ordinary memory, in rows and slices. An image of the device's is a copy
// of that which one stream makes for kernels to sample, and makes again, in the order of the
// stream, when the memory has been written since. So no stream waits for another's copies, and
// nobody above the backend knows of them. Kernels write ordinary memory only.
#pragma once

#include <memory>
#include <vector>

#include "backends/level_zero/context.h"
#include "core/image.h"

namespace weft::level_zero {

// A copy, for the appends of one stream.
struct ImageCopy {
  ImageCopy(std::shared_ptr<DeviceContext> its, const void* of_stream, const ze_image_desc_t& desc,
            uint64_t size);
  ImageCopy(const ImageCopy&) = delete;
  ImageCopy& operator=(const ImageCopy&) = delete;
  ~ImageCopy();

  const std::shared_ptr<DeviceContext> context;
  const void* const stream;
  const ze_image_desc_t description;
  const uint64_t bytes;
  ze_image_handle_t image = nullptr;  // nullptr: the driver does not take it
  uint64_t version = 0;               // of the memory, when it was copied; 0: unknown
};

// Those of one allocation. Thread-safe.
class ImageCopies {
 public:
  // An operation that may write the memory is submitted to a stream; it has ended.
  void writeBegins(const void* stream);
  void writeEnded(const void* stream) noexcept;
  // Of the memory as the stream's next operation finds it; 0 when another stream may be writing.
  uint64_t versionFor(const void* stream) const;

  // The stream's, made when it is first asked for.
  ImageCopy& of(const void* stream, const std::shared_ptr<DeviceContext>& context,
                const ze_image_desc_t& description, uint64_t bytes);
  void drop(const void* stream) noexcept;

 private:
  struct Writer {
    const void* stream;
    size_t writes;  // that have not ended
  };
  struct State {
    uint64_t version = 1;
    std::vector<Writer> writers;
    std::vector<std::unique_ptr<ImageCopy>> copies;
  };
  Guarded<State> state_;
};

// Tell the memory that an operation may write: when it is submitted, and when it has ended.
void noteWritesBegin(const port::Operation::Work& work, const void* stream);
void noteWritesEnd(const port::Operation::Work& work, const void* stream) noexcept;

// What a kernel takes behind its own arguments.
struct NativeArguments {
  std::vector<ze_image_handle_t> images;
  std::vector<ze_sampler_handle_t> samplers;
};

// What a stream has of them. One thread at a time.
class StreamImages {
 public:
  explicit StreamImages(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {}
  StreamImages(const StreamImages&) = delete;
  StreamImages& operator=(const StreamImages&) = delete;
  ~StreamImages();

  // False where the device does not have all that the kernel wants: then the launch does without.
  // Appends the copies that are stale; `appended` says that there were any.
  bool bind(ze_command_list_handle_t list, const port::Launch& launch, const NativeImages& wanted,
            NativeArguments& arguments, bool& appended);

 private:
  struct Bound {
    std::shared_ptr<ImageCopies> copies;
    ImageCopy* copy = nullptr;
    const void* pixels = nullptr;
  };
  bool find(const port::LaunchArgument& argument, bool filtered, Bound& bound);
  bool refresh(ze_command_list_handle_t list, const Bound& bound);

  const std::shared_ptr<DeviceContext> context_;
  std::vector<std::weak_ptr<ImageCopies>> used_;
};

}  // namespace weft::level_zero
