#include "backends/hip/textures.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/common/native_images.h"
#include "backends/hip/memory.h"

namespace weft::hip {
namespace {

// Over one allocation. An application may make ever other views of one buffer; the textures of all
// of them live as long as it does.
constexpr size_t most_textures = 256;

// By how many bytes a channel has: 1, 2, 4.
struct FormatRow {
  ChannelClass kind;
  std::array<ArrayFormat, 3> by_bytes;
};
constexpr auto no = ArrayFormat::none;
constexpr FormatRow formats[] = {
    {ChannelClass::unorm, {ArrayFormat::unsigned_int8, ArrayFormat::unsigned_int16, no}},
    {ChannelClass::snorm, {ArrayFormat::signed_int8, ArrayFormat::signed_int16, no}},
    {ChannelClass::unsigned_int,
     {ArrayFormat::unsigned_int8, ArrayFormat::unsigned_int16, ArrayFormat::unsigned_int32}},
    {ChannelClass::signed_int,
     {ArrayFormat::signed_int8, ArrayFormat::signed_int16, ArrayFormat::signed_int32}},
    {ChannelClass::half, {no, ArrayFormat::half, no}},
    {ChannelClass::single, {no, no, ArrayFormat::single}}};

// Those whose channels the kernel puts in order (compiler/builtins/cl/image_texture.cl).
constexpr cl_channel_order orders[] = {CL_R, CL_RG, CL_RGBA, CL_BGRA};

struct Pixels {
  ArrayFormat format;
  unsigned channels;
  bool integers;
};
std::optional<Pixels> pixelsOf(const port::ImageDescriptor& image) {
  const ImageFormat* const format = findImageFormat({image.channel_order, image.channel_type});
  if (!format || format->type->packed() || std::ranges::count(orders, image.channel_order) == 0)
    return std::nullopt;
  const auto row = std::ranges::find(formats, format->type->kind, &FormatRow::kind);
  const ArrayFormat channel = row->by_bytes[format->type->bytes / 2];
  if (channel == no) return std::nullopt;
  return Pixels{channel, format->order->channels, holdsIntegers(*format)};
}

AddressMode addressModeOf(uint32_t sampler) {
  constexpr uint32_t mode_bits = 0xe;
  switch (sampler & mode_bits) {
    case port::sampler_address_repeat:
      return AddressMode::wrap;
    case port::sampler_address_mirrored_repeat:
      return AddressMode::mirror;
    case port::sampler_address_clamp:
      return AddressMode::border;
    default:
      return AddressMode::clamp;
  }
}

// What a texture sees of an image: layers and slices one below the other.
struct Stack {
  size_t rows;
  size_t pitch;
};
std::optional<Stack> stackOf(const port::ImageDescriptor& image, size_t alignment) {
  const size_t slices = size_t{image.depth} * image.array_size;
  if (image.height > 1 && slices > 1 && image.slice_pitch != image.row_pitch * image.height)
    return std::nullopt;
  const size_t rows = image.height * slices;
  const size_t pitch = image.height > 1 ? image.row_pitch : image.slice_pitch;
  if (rows > 1) return pitch % alignment == 0 ? std::optional(Stack{rows, pitch}) : std::nullopt;
  // Of a single row the runtime wants a pitch all the same.
  const size_t row = size_t{image.width} * image.pixel_bytes;
  return Stack{1, (row + alignment - 1) / alignment * alignment};
}

// What the runtime makes a texture of.
struct Description {
  TextureResource resource{};
  TextureSampling sampling{};
};
// nullopt where no texture would do.
std::optional<Description> describe(const port::ImageDescriptor& image, uint32_t sampler,
                                    size_t alignment) {
  const auto pixels = pixelsOf(image);
  const auto stack = stackOf(image, alignment);
  if (!pixels || !stack || image.levels != 1) return std::nullopt;
  // Software takes the nearest integer whatever the sampler says.
  if (filters(sampler) && pixels->integers) return std::nullopt;
  Description result;
  TextureResource& resource = result.resource;
  resource.type = TextureResource::pitch_2d;
  resource.address = reinterpret_cast<void*>(image.address);
  resource.format = pixels->format;
  resource.channels = pixels->channels;
  resource.width = image.width;
  resource.height = stack->rows;
  resource.pitch = stack->pitch;
  TextureSampling& sampling = result.sampling;
  std::ranges::fill(sampling.modes, addressModeOf(sampler));
  sampling.linear = filters(sampler);
  if (pixels->integers) sampling.flags |= TextureSampling::read_as_integer;
  if ((sampler & port::sampler_normalized) != 0) sampling.flags |= TextureSampling::normalized;
  return result;
}

}  // namespace

Textures::Texture::Texture(const Api& api, const port::ImageDescriptor& image, uint32_t sampler,
                           size_t alignment)
    : api_(&api), image_(image), sampler_(sampler) {
  const auto description = describe(image, sampler, alignment);
  if (!description || api.texObjectCreate(&handle_, &description->resource, &description->sampling,
                                          nullptr) != success)
    handle_ = 0;
}

Textures::Texture::~Texture() {
  if (handle_) api_->texObjectDestroy(handle_);
}

bool Textures::Texture::isOf(const port::ImageDescriptor& image, uint32_t sampler) const {
  return sampler_ == sampler && std::memcmp(&image_, &image, sizeof image) == 0;
}

TextureHandle Textures::get(const port::ImageDescriptor& image, uint32_t sampler) {
  const auto find = [&](const std::vector<Texture>& made) {
    const auto found = std::ranges::find_if(
        made, [&](const Texture& texture) { return texture.isOf(image, sampler); });
    return found == made.end() ? TextureHandle{0} : found->handle();
  };
  {
    const auto made = made_.lock();
    const TextureHandle known = find(*made);
    if (known || made->size() == most_textures) return known;
  }
  // Another thread may be making the same one.
  Texture texture(context_.api, image, sampler, context_.texture_pitch_alignment);
  if (!texture.handle()) return 0;
  const auto made = made_.lock();
  const TextureHandle known = find(*made);
  if (known || made->size() == most_textures) return known;
  made->push_back(std::move(texture));
  return made->back().handle();
}

bool bindTextures(const port::Launch& launch, const NativeImages& wanted,
                  std::vector<TextureHandle>& textures) {
  for (const NativeImage& each : wanted.images) {
    const port::LaunchArgument& argument = launch.arguments[each.argument];
    Textures* const known = texturesOf(argument.memory);
    if (!known) return false;
    port::ImageDescriptor image;
    std::memcpy(&image, argument.value, sizeof image);
    image.address = argument.memory->deviceAddress() + argument.offset;
    for (size_t i = 0; i < wanted.samplers.size(); ++i) {
      if ((each.samplers >> i & 1) == 0) continue;
      const uint32_t sampler = valueOf(wanted.samplers[i], launch);
      // Of an argument that does not filter, the kernel takes texels.
      const bool unused = wanted.samplers[i].is_argument && !filters(sampler);
      textures.push_back(unused ? 0 : known->get(image, sampler));
      if (!unused && !textures.back()) return false;
    }
  }
  return true;
}

}  // namespace weft::hip
