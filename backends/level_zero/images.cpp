#include "backends/level_zero/images.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/common/native_images.h"
#include "backends/level_zero/memory.h"
#include "backends/level_zero/module.h"
#include "core/image_format.h"

namespace weft::level_zero {
namespace {

// By how many bytes a channel has and how many channels there are.
struct LayoutRow {
  uint8_t channel_bytes, channels;
  ze_image_format_layout_t layout;
};
constexpr LayoutRow layouts[] = {
    {1, 1, ZE_IMAGE_FORMAT_LAYOUT_8},           {1, 2, ZE_IMAGE_FORMAT_LAYOUT_8_8},
    {1, 4, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8},     {2, 1, ZE_IMAGE_FORMAT_LAYOUT_16},
    {2, 2, ZE_IMAGE_FORMAT_LAYOUT_16_16},       {2, 4, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16},
    {4, 1, ZE_IMAGE_FORMAT_LAYOUT_32},          {4, 2, ZE_IMAGE_FORMAT_LAYOUT_32_32},
    {4, 4, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32},
};

// Which of the channels in memory the colours are, or a constant. "If image format swizzle contains
// alpha" the border is transparent, as OpenCL wants it for just these orders.
struct OrderRow {
  cl_channel_order order;
  std::array<ze_image_format_swizzle_t, 4> colours;
};
constexpr auto red = ZE_IMAGE_FORMAT_SWIZZLE_R, green = ZE_IMAGE_FORMAT_SWIZZLE_G,
               blue = ZE_IMAGE_FORMAT_SWIZZLE_B, alpha = ZE_IMAGE_FORMAT_SWIZZLE_A,
               zero = ZE_IMAGE_FORMAT_SWIZZLE_0, one = ZE_IMAGE_FORMAT_SWIZZLE_1;
constexpr OrderRow orders[] = {{CL_R, {red, zero, zero, one}},
                               {CL_RG, {red, green, zero, one}},
                               {CL_RGBA, {red, green, blue, alpha}},
                               {CL_BGRA, {blue, green, red, alpha}}};

ze_image_format_type_t typeOf(ChannelClass kind) {
  switch (kind) {
    case ChannelClass::unorm:
      return ZE_IMAGE_FORMAT_TYPE_UNORM;
    case ChannelClass::snorm:
      return ZE_IMAGE_FORMAT_TYPE_SNORM;
    case ChannelClass::signed_int:
      return ZE_IMAGE_FORMAT_TYPE_SINT;
    case ChannelClass::unsigned_int:
      return ZE_IMAGE_FORMAT_TYPE_UINT;
    default:
      return ZE_IMAGE_FORMAT_TYPE_FLOAT;
  }
}

std::optional<ze_image_format_t> formatOf(const port::ImageDescriptor& image) {
  const ImageFormat* const format = findImageFormat({image.channel_order, image.channel_type});
  if (!format || format->type->packed()) return std::nullopt;
  const auto order = std::ranges::find(orders, image.channel_order, &OrderRow::order);
  const auto layout = std::ranges::find_if(layouts, [&](const LayoutRow& row) {
    return row.channel_bytes == format->type->bytes && row.channels == format->order->channels;
  });
  if (order == std::end(orders) || layout == std::end(layouts)) return std::nullopt;
  const auto& [r, g, b, a] = order->colours;
  return ze_image_format_t{layout->layout, typeOf(format->type->kind), r, g, b, a};
}

bool fits(const port::ImageDescriptor& image, ze_image_type_t type,
          const ze_device_image_properties_t& most) {
  const uint32_t longest = std::max({image.width, image.height, image.depth});
  switch (type) {
    case ZE_IMAGE_TYPE_1D:
      return longest <= most.maxImageDims1D;
    case ZE_IMAGE_TYPE_2D:
      return longest <= most.maxImageDims2D;
    case ZE_IMAGE_TYPE_2DARRAY:
      return longest <= most.maxImageDims2D && image.array_size <= most.maxImageArraySlices;
    default:
      return longest <= most.maxImageDims3D;
  }
}

std::optional<ze_image_type_t> typeOf(const port::ImageDescriptor& image) {
  switch (image.type) {
    case CL_MEM_OBJECT_IMAGE1D:
      return ZE_IMAGE_TYPE_1D;
    case CL_MEM_OBJECT_IMAGE2D:
      return ZE_IMAGE_TYPE_2D;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return ZE_IMAGE_TYPE_2DARRAY;
    case CL_MEM_OBJECT_IMAGE3D:
      return ZE_IMAGE_TYPE_3D;
    default:
      return std::nullopt;
  }
}

// Copies take pixels that lie without gaps.
bool isDense(const port::ImageDescriptor& image) {
  const uint64_t row = uint64_t{image.width} * image.pixel_bytes;
  const bool one_slice = image.depth == 1 && image.array_size == 1;
  return (image.height == 1 || image.row_pitch == row) &&
         (one_slice || image.slice_pitch == row * image.height) && image.levels == 1;
}

uint64_t bytesOf(const port::ImageDescriptor& image) {
  return uint64_t{image.width} * image.height * image.depth * image.array_size * image.pixel_bytes;
}

std::optional<ze_image_desc_t> describe(const port::ImageDescriptor& image,
                                        const ze_device_image_properties_t& most) {
  const auto type = typeOf(image);
  const auto format = formatOf(image);
  if (!type || !format || !isDense(image) || !fits(image, *type, most)) return std::nullopt;
  ze_image_desc_t made{};
  made.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
  made.type = *type;
  made.format = *format;
  made.width = image.width;
  made.height = image.height;
  made.depth = image.depth;
  made.arraylevels = *type == ZE_IMAGE_TYPE_2DARRAY ? image.array_size : 0;
  return made;
}

bool isSame(const ze_image_desc_t& a, const ze_image_desc_t& b) {
  const auto& [la, ta, xa, ya, za, wa] = a.format;
  const auto& [lb, tb, xb, yb, zb, wb] = b.format;
  return a.type == b.type && a.width == b.width && a.height == b.height && a.depth == b.depth &&
         a.arraylevels == b.arraylevels && la == lb && ta == tb && xa == xb && ya == yb &&
         za == zb && wa == wb;
}

ImageCopies* copiesOf(const port::Memory* memory) {
  const auto* const device = dynamic_cast<const DeviceMemory*>(memory);
  return device ? device->copies().get() : nullptr;
}

template <class Note>
void forEachWritten(const port::Operation::Work& work, const Note& note) {
  const auto tell = [&](const port::Memory* memory) {
    if (ImageCopies* const copies = memory ? copiesOf(memory) : nullptr) note(*copies);
  };
  if (const auto* copy = std::get_if<port::Copy>(&work)) {
    tell(copy->destination.memory);
  } else if (const auto* fill = std::get_if<port::Fill>(&work)) {
    tell(fill->memory);
  } else if (const auto* launch = std::get_if<port::Launch>(&work)) {
    const auto& module = *static_cast<const Module*>(launch->module);
    for (size_t i = 0; i < launch->arguments.size(); ++i)
      if (module.writes(launch->kernel, i)) tell(launch->arguments[i].memory);
  }
}

}  // namespace

ImageCopy::ImageCopy(std::shared_ptr<DeviceContext> its, const void* of_stream,
                     const ze_image_desc_t& desc, uint64_t size)
    : context(std::move(its)), stream(of_stream), description(desc), bytes(size) {
  const bool room = context->images_used.fetch_add(bytes) + bytes <= context->most_images;
  if (!room || context->api.imageCreate(context->driver->context, context->device, &description,
                                        &image) != ZE_RESULT_SUCCESS)
    image = nullptr;
  if (!image) context->images_used.fetch_sub(bytes);
}

ImageCopy::~ImageCopy() {
  if (!image) return;
  context->api.imageDestroy(image);
  context->images_used.fetch_sub(bytes);
}

void ImageCopies::writeBegins(const void* stream) {
  const auto state = state_.lock();
  ++state->version;
  const auto known = std::ranges::find(state->writers, stream, &Writer::stream);
  if (known == state->writers.end())
    state->writers.push_back({stream, 1});
  else
    ++known->writes;
}

void ImageCopies::writeEnded(const void* stream) noexcept {
  const auto state = state_.lock();
  const auto known = std::ranges::find(state->writers, stream, &Writer::stream);
  if (--known->writes == 0) state->writers.erase(known);
}

// What was submitted to the stream before comes before in any case.
uint64_t ImageCopies::versionFor(const void* stream) const {
  const auto state = state_.lock();
  const bool alone = std::ranges::all_of(
      state->writers, [&](const Writer& writer) { return writer.stream == stream; });
  return alone ? state->version : 0;
}

ImageCopy& ImageCopies::of(const void* stream, const std::shared_ptr<DeviceContext>& context,
                           const ze_image_desc_t& description, uint64_t bytes) {
  const auto state = state_.lock();
  for (const auto& copy : state->copies)
    if (copy->stream == stream && isSame(copy->description, description)) return *copy;
  state->copies.push_back(std::make_unique<ImageCopy>(context, stream, description, bytes));
  return *state->copies.back();
}

void ImageCopies::drop(const void* stream) noexcept {
  const auto state = state_.lock();
  std::erase_if(state->copies, [&](const auto& copy) { return copy->stream == stream; });
}

void noteWritesBegin(const port::Operation::Work& work, const void* stream) {
  forEachWritten(work, [&](ImageCopies& copies) { copies.writeBegins(stream); });
}

void noteWritesEnd(const port::Operation::Work& work, const void* stream) noexcept {
  forEachWritten(work, [&](ImageCopies& copies) { copies.writeEnded(stream); });
}

StreamImages::~StreamImages() {
  for (const auto& used : used_)
    if (const auto copies = used.lock()) copies->drop(this);
}

bool StreamImages::find(const port::LaunchArgument& argument, bool filtered, Bound& bound) {
  port::ImageDescriptor image;
  std::memcpy(&image, argument.value, sizeof image);
  const auto description = describe(image, context_->image_limits);
  const auto* const memory = dynamic_cast<const DeviceMemory*>(argument.memory);
  // A part of something larger would be copied whenever that is written.
  const bool whole = memory && argument.offset == 0 && memory->size() == bytesOf(image);
  if (!description || !whole || !memory->copies()) return false;
  // Software takes the nearest integer whatever the sampler says.
  if (filtered && holdsIntegers(*findImageFormat({image.channel_order, image.channel_type})))
    return false;
  bound.copies = memory->copies();
  bound.copy = &bound.copies->of(this, context_, *description, bytesOf(image));
  bound.pixels = reinterpret_cast<const void*>(memory->deviceAddress());
  std::erase_if(used_, [](const auto& used) { return used.expired(); });
  const auto same = [&](const auto& used) { return used.lock() == bound.copies; };
  if (std::ranges::none_of(used_, same)) used_.push_back(bound.copies);
  return bound.copy->image != nullptr;
}

bool StreamImages::refresh(ze_command_list_handle_t list, const Bound& bound) {
  ImageCopy& copy = *bound.copy;
  const ze_image_desc_t& is = copy.description;
  const ze_image_region_t all{
      0, 0, 0, static_cast<uint32_t>(is.width), is.height, std::max(is.depth, is.arraylevels)};
  copy.version = 0;
  const uint64_t version = bound.copies->versionFor(this);
  if (context_->note(context_->api.commandListAppendImageCopyFromMemory(
          list, copy.image, bound.pixels, &all, nullptr, 0, nullptr)) != ZE_RESULT_SUCCESS)
    return false;
  copy.version = version;
  return true;
}

bool StreamImages::bind(ze_command_list_handle_t list, const port::Launch& launch,
                        const NativeImages& wanted, NativeArguments& arguments, bool& appended) {
  uint32_t filtering = 0;  // samplers; bits
  for (size_t i = 0; i < wanted.samplers.size(); ++i) {
    const uint32_t value = valueOf(wanted.samplers[i], launch);
    if (filters(value)) filtering |= 1u << i;
    arguments.samplers.push_back(context_->samplers.get(value));
    if (!arguments.samplers.back()) return false;
  }
  std::vector<Bound> bound(wanted.images.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const NativeImage& image = wanted.images[i];
    if (!find(launch.arguments[image.argument], (image.samplers & filtering) != 0, bound[i]))
      return false;
    arguments.images.push_back(bound[i].copy->image);
  }
  for (const Bound& each : bound) {
    const uint64_t version = each.copies->versionFor(this);
    if (version != 0 && version == each.copy->version) continue;
    if (!refresh(list, each)) return false;
    appended = true;
  }
  return true;
}

}  // namespace weft::level_zero
