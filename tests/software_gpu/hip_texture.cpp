// Texture objects, with what NVIDIA's GPUs ask of the memory below them.
#include "tests/software_gpu/hip.h"
#include "tests/software_gpu/texture.h"

using namespace weft::software;
using weft::hip::TextureHandle;
using weft::hip::TextureResource;
using weft::hip::TextureSampling;

namespace {

constexpr size_t base_alignment = 512;
constexpr size_t longest_row = 131072, most_rows = 65000;

bool isTaken(const TextureResource& resource, const Device& device) {
  const size_t row = resource.width * resource.channels * channelBytes(resource.format);
  const bool channels = resource.channels == 1 || resource.channels == 2 || resource.channels == 4;
  return resource.type == TextureResource::pitch_2d && resource.flags == 0 && channels && row > 0 &&
         resource.height > 0 && resource.width <= longest_row && resource.height <= most_rows &&
         reinterpret_cast<uintptr_t>(resource.address) % base_alignment == 0 &&
         resource.pitch % texture_pitch_alignment == 0 && resource.pitch >= row &&
         const_cast<Device&>(device).heap().holds(resource.address,
                                                  (resource.height - 1) * resource.pitch + row);
}

// Filtered integers, and repeating what has no end, are nothing that anybody should ask for.
bool isTaken(const TextureSampling& sampling, weft::hip::ArrayFormat format) {
  const bool integers = (sampling.flags & TextureSampling::read_as_integer) != 0;
  const bool normalized = (sampling.flags & TextureSampling::normalized) != 0;
  if (integers ? sampling.linear || holdsNumbers(format)
               : channelBytes(format) == 4 && !holdsNumbers(format))
    return false;
  const auto mode = sampling.modes[0];
  const bool repeats =
      mode == weft::hip::AddressMode::wrap || mode == weft::hip::AddressMode::mirror;
  return sampling.modes[1] == mode && (normalized || !repeats);
}

}  // namespace

WEFT_HIP hipTexObjectCreate(TextureHandle* texture, const TextureResource* resource,
                            const TextureSampling* sampling, const void* view) {
  Device& device = current();
  if (const Status status = state(device); status != ok) return status;
  if (view || !isTaken(*resource, device) || !isTaken(*sampling, resource->format))
    return weft::hip::invalid_value;
  if (machine().faults.allocations.strikes()) return weft::hip::out_of_memory;
  void* const address = device.heap().allocate(sizeof(Texture));
  if (!address) return weft::hip::out_of_memory;
  const Texture made{*resource, *sampling};
  std::memcpy(device.memory().access(address), &made, sizeof made);
  *texture = reinterpret_cast<TextureHandle>(address);
  ++machine().faults.images;
  ++machine().faults.alive;
  return ok;
}

WEFT_HIP hipTexObjectDestroy(TextureHandle texture) {
  auto* const address = reinterpret_cast<void*>(texture);
  Device* const device = machine().owner(address);
  if (!device || !device->heap().release(address)) return weft::hip::invalid_value;
  --machine().faults.images;
  --machine().faults.alive;
  return ok;
}
