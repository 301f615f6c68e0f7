// The functions of core/ports/pixels.h for one lane. The four channels of a pixel are a vector.
#pragma once

#include "backends/cpu/pixels/accesses.h"
#include "backends/cpu/pixels/lanes_1.h"
#include "backends/cpu/pixels/quad.h"

namespace weft::cpu {
namespace {

struct Single {
  using Result = Quad::U;
  using Fetch = Result(const CpuImage*, uint32_t shape, uint32_t sampler, int32_t x, int32_t y,
                       int32_t z);

  static Result result(const Colour<Lanes1>& c) { return Result{c.r, c.g, c.b, c.a}; }
  static Colour<Lanes1> colour(Result c) { return {c[0], c[1], c[2], c[3]}; }
  // Are channels and colours the same four numbers, but for their order?
  static constexpr bool isQuad(Layout layout) {
    return layout.count == 4 && !layout.packed() && layout.channel != Channel::srgb8;
  }

  template <Layout layout>
  static Result fetch(const CpuImage* image, uint32_t shape, uint32_t, int32_t x, int32_t y,
                      int32_t z) {
    const Place<Lanes1> at{x, y, z};
    if (!lanesInside<Lanes1>(*image, shape, at))
      return result(bordered<Lanes1, layout>(*image, 0, {}));
    const uint8_t* const pixel = addressOf<Lanes1>(*image, shape, at, 0, layout.bytes());
    if constexpr (isQuad(layout))
      return Quad::ordered(
          decodeField<Quad, layout.channel>(Quad::load<layout.channelBytes()>(pixel), 0),
          image->channel_order);
    else
      return result(colourOf<Lanes1, layout>(*image, loadRow<Lanes1, layout>(pixel)));
  }
  static Fetch* fetchOf(const CpuImage& image) {
    return reinterpret_cast<Fetch*>(const_cast<void*>(image.functions->fetch[Lanes1::form]));
  }
  static Result fetchAt(const CpuImage& image, uint32_t shape, const Place<Lanes1>& at) {
    return fetchOf(image)(&image, shape, 0, at.x, at.y, at.z);
  }
  static Result read(const CpuImage* image, uint32_t shape, uint32_t sampler, int32_t x, int32_t y,
                     int32_t z) {
    return fetchAt(*image, shape, clampedPlace<Lanes1>(*image, sampler, shape, {x, y, z}));
  }
  static Result sample(const CpuImage* image, uint32_t shape, uint32_t sampler, float x, float y,
                       float z) {
    if (!filters(sampler, shape))
      return fetchAt(*image, shape, nearestPlace<Lanes1>(*image, sampler, shape, x, y, z));
    return result(filtered<Lanes1>(
        *image, sampler, shape, x, y, z,
        [&](const Place<Lanes1>& texel) { return colour(fetchAt(*image, shape, texel)); }));
  }
  template <Layout layout>
  static void store(const CpuImage* image, uint32_t shape, int32_t x, int32_t y, int32_t z,
                    Result value) {
    const Place<Lanes1> at{x, y, z};
    if (!lanesInside<Lanes1>(*image, shape, at)) return;
    uint8_t* const pixel = addressOf<Lanes1>(*image, shape, at, 0, layout.bytes());
    if constexpr (isQuad(layout))
      Quad::store<layout.channelBytes()>(
          pixel, encodeField<Quad, layout.channel>(Quad::disordered(value, image->channel_order)));
    else
      storeRow<Lanes1, layout>(pixel, wordsOf<Lanes1, layout>(disordered<Lanes1, layout>(
                                          colour(value), image->channel_order)));
  }
};

}  // namespace
}  // namespace weft::cpu
