// OpenCL 8.2 and 8.3: the functions of core/ports/pixels.h, for a lane or a vector of lanes. The
// same operations in the same order as the builtin library's (compiler/builtins/cl/image.def,
// image_sample.def, image_linear.cl).
#pragma once

#include <utility>

#include "backends/cpu/pixels/places.h"

namespace weft::cpu {
namespace {

// What one axis of coordinates needs of a sampler.
constexpr uint32_t address_mask = 0xe;
inline uint32_t addressing(uint32_t sampler) { return sampler & address_mask; }

template <class L>
[[gnu::always_inline]] inline typename L::I clampedIndex(typename L::I x, uint32_t size) {
  using I = typename L::I;
  const I zero{}, last = I{} + static_cast<int32_t>(size - 1);
  x = x < zero ? zero : x;
  return x > last ? last : x;
}

template <class L>
[[gnu::always_inline]] inline typename L::F inTexels(typename L::F s, uint32_t sampler,
                                                     float width) {
  if (addressing(sampler) == port::sampler_address_repeat) return (s - L::floor(s)) * width;
  if (addressing(sampler) == port::sampler_address_mirrored_repeat) {
    const typename L::F folded = s - 2.0f * L::nearest(0.5f * s);
    return floatOf<L>(bitsOf<L>(folded) & 0x7fffffffu) * width;
  }
  return sampler & port::sampler_normalized ? s * width : s;
}

template <class L>
[[gnu::always_inline]] inline typename L::I layerAt(typename L::F coordinate, uint32_t layers) {
  using F = typename L::F;
  const F positive = L::greater(L::nearest(coordinate), F{});  // of NaN 0
  return L::toInteger(L::lesser(positive, F{} + static_cast<float>(layers - 1)));
}

template <class L>
[[gnu::always_inline]] inline typename L::I nearestTexel(typename L::F s, uint32_t sampler,
                                                         uint32_t size) {
  using F = typename L::F;
  using I = typename L::I;
  const F width = F{} + static_cast<float>(size);
  const F u = L::greater(L::floor(inTexels<L>(s, sampler, static_cast<float>(size))), F{} - 1.0f);
  const I i = L::toInteger(L::lesser(u, width));
  const uint32_t mode = addressing(sampler);
  // Rounding can make u the width itself.
  if (mode == port::sampler_address_repeat) return i < I{} + static_cast<int32_t>(size) ? i : I{};
  if (mode == port::sampler_address_mirrored_repeat || mode == port::sampler_address_clamp_to_edge)
    return clampedIndex<L>(i, size);
  return i;
}

// The two texels around a coordinate, by whose weighted mean linear filters go.
template <class L>
struct Axis {
  typename L::I texel[2];
  typename L::F weight[2];
};

template <class L>
[[gnu::always_inline]] inline Axis<L> around(typename L::F s, uint32_t sampler, uint32_t size) {
  using F = typename L::F;
  using I = typename L::I;
  const auto width = static_cast<float>(size);
  const auto count = static_cast<int32_t>(size);
  const F u = inTexels<L>(s, sampler, width) - 0.5f;
  const F below = L::floor(u);
  I i = L::toInteger(L::lesser(L::greater(below, F{} - 2.0f), F{} + width));
  I j = i + 1;
  const uint32_t mode = addressing(sampler);
  if (mode == port::sampler_address_repeat) {
    i = i < I{} ? i + count : i;
    j = j > I{} + (count - 1) ? j - count : j;
  }
  if (mode != port::sampler_address_clamp && mode != port::sampler_address_none) {
    i = clampedIndex<L>(i, size);
    j = clampedIndex<L>(j, size);
  }
  const F part = u - below;
  return {{i, j}, {1.0f - part, part}};
}

// "If the image channel order is CL_R, CL_RG, CL_RGB, or CL_LUMINANCE, the border color is (0.0f,
// 0.0f, 0.0f, 1.0f)"; so it is of no other that there is.
template <Layout layout>
bool hasOpaqueBorder(uint32_t order) {
  if constexpr (layout.count == 1) return order == CL_R || order == CL_LUMINANCE;
  if constexpr (layout.count == 2) return order == CL_RG;
  return layout.count == 3;
}

// The colours of pixels, and of lanes outside the border's.
template <class L, Layout layout>
[[gnu::always_inline]] inline Colour<L> colourOf(const CpuImage& image,
                                                 const Words<L, layout>& words) {
  return ordered<L, layout>(channelsOf<L, layout>(words), image.channel_order);
}
template <class L, Layout layout>
[[gnu::always_inline]] inline Colour<L> bordered(const CpuImage& image, uint32_t inside,
                                                 const Colour<L>& c) {
  const typename L::U zero{};
  const bool opaque = hasOpaqueBorder<layout>(image.channel_order);
  const typename L::U alpha = zero + (opaque ? layout.one() : 0);
  return {L::choose(inside, c.r, zero), L::choose(inside, c.g, zero), L::choose(inside, c.b, zero),
          L::choose(inside, c.a, alpha)};
}

template <class L>
[[gnu::always_inline]] inline Place<L> nearestPlace(const CpuImage& image, uint32_t sampler,
                                                    uint32_t shape, typename L::F x,
                                                    typename L::F y, typename L::F z) {
  Place<L> at{nearestTexel<L>(x, sampler, image.width), {}, {}};
  if (usesY(shape)) at.y = nearestTexel<L>(y, sampler, image.height);
  if (usesDepth(shape)) at.z = nearestTexel<L>(z, sampler, image.depth);
  if (isLayered(shape)) at.z = layerAt<L>(z, image.array_size);
  return at;
}

// Integer coordinates are neither normalised nor repeated.
template <class L>
[[gnu::always_inline]] inline Place<L> clampedPlace(const CpuImage& image, uint32_t sampler,
                                                    uint32_t shape, Place<L> at) {
  if (isLayered(shape)) at.z = clampedIndex<L>(at.z, image.array_size);
  if (addressing(sampler) != port::sampler_address_clamp_to_edge) return at;
  at.x = clampedIndex<L>(at.x, image.width);
  if (usesY(shape)) at.y = clampedIndex<L>(at.y, image.height);
  if (usesDepth(shape)) at.z = clampedIndex<L>(at.z, image.depth);
  return at;
}

// The weighted mean of the 2, 4 or 8 texels around a coordinate, whose colours `fetch` gives.
template <class L, class Fetch>
Colour<L> filtered(const CpuImage& image, uint32_t sampler, uint32_t shape, typename L::F x,
                   typename L::F y, typename L::F z, Fetch&& fetch) {
  using F = typename L::F;
  const unsigned dimensions = shape & port::pixel_dimensions;
  const Axis<L> none{{{}, {}}, {F{} + 1.0f, F{} + 1.0f}};
  const Axis<L> xs = around<L>(x, sampler, image.width);
  const Axis<L> ys = dimensions > 1 ? around<L>(y, sampler, image.height) : none;
  Axis<L> zs = dimensions > 2 ? around<L>(z, sampler, image.depth) : none;
  if (isLayered(shape)) zs.texel[0] = layerAt<L>(z, image.array_size);
  F sum[4] = {};
  for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
    const unsigned a = corner & 1, b = corner >> 1 & 1, c = corner >> 2;
    const F weight = xs.weight[a] * ys.weight[b] * zs.weight[c];
    const Colour<L> colour = fetch(Place<L>{xs.texel[a], ys.texel[b], zs.texel[c]});
    sum[0] += weight * floatOf<L>(colour.r);
    sum[1] += weight * floatOf<L>(colour.g);
    sum[2] += weight * floatOf<L>(colour.b);
    sum[3] += weight * floatOf<L>(colour.a);
  }
  return {bitsOf<L>(sum[0]), bitsOf<L>(sum[1]), bitsOf<L>(sum[2]), bitsOf<L>(sum[3])};
}

inline bool filters(uint32_t sampler, uint32_t shape) {
  return (sampler & port::sampler_filter_linear) && !(shape & port::pixel_integers);
}

// The functions of vectors.
template <class L>
struct Vectors {
  using I = typename L::I;
  using U = typename L::U;
  using F = typename L::F;
  using Fetch = void(const CpuImage*, uint32_t shape, uint32_t lanes, U* result, uint32_t sampler,
                     I x, I y, I z);

  static void put(U* result, const Colour<L>& c) {
    result[0] = c.r;
    result[1] = c.g;
    result[2] = c.b;
    result[3] = c.a;
  }
  template <Layout layout>
  static void fetch(const CpuImage* image, uint32_t shape, uint32_t lanes, U* result, uint32_t, I x,
                    I y, I z) {
    const Place<L> at{x, y, z};
    const uint32_t inside = lanesInside<L>(*image, shape, at);
    // Lanes that do not run may read what is the image's, too.
    if (inside != L::all || !isRow<L>(shape, at))
      return fetchScattered<layout>(image, shape, lanes, result, inside & lanes, x, y, z);
    const uint8_t* const row = addressOf<L>(*image, shape, at, 0, layout.bytes());
    put(result, colourOf<L, layout>(*image, loadRow<L, layout>(row)));
  }
  // By itself, so that rows need no room on the stack.
  template <Layout layout>
  [[gnu::noinline]] static void fetchScattered(const CpuImage* image, uint32_t shape,
                                               uint32_t lanes, U* result, uint32_t inside, I x, I y,
                                               I z) {
    const Colour<L> c =
        colourOf<L, layout>(*image, loadScattered<L, layout>(*image, shape, {x, y, z}, inside));
    put(result, inside == lanes ? c : bordered<L, layout>(*image, inside, c));
  }
  static Fetch* fetchOf(const CpuImage& image) {
    return reinterpret_cast<Fetch*>(const_cast<void*>(image.functions->fetch[L::form]));
  }
  static void read(const CpuImage* image, uint32_t shape, uint32_t lanes, U* result,
                   uint32_t sampler, I x, I y, I z) {
    const Place<L> at = clampedPlace<L>(*image, sampler, shape, {x, y, z});
    fetchOf (*image)(image, shape, lanes, result, sampler, at.x, at.y, at.z);
  }
  static void sample(const CpuImage* image, uint32_t shape, uint32_t lanes, U* result,
                     uint32_t sampler, F x, F y, F z) {
    Fetch* const fetch = fetchOf(*image);
    if (!filters(sampler, shape)) {
      const Place<L> at = nearestPlace<L>(*image, sampler, shape, x, y, z);
      return fetch(image, shape, lanes, result, sampler, at.x, at.y, at.z);
    }
    const Colour<L> c = filtered<L>(*image, sampler, shape, x, y, z, [&](const Place<L>& at) {
      fetch(image, shape, lanes, result, sampler, at.x, at.y, at.z);
      return Colour<L>{result[0], result[1], result[2], result[3]};
    });
    put(result, c);
  }
  template <Layout layout>
  static void store(const CpuImage* image, uint32_t shape, uint32_t lanes, I x, I y, I z, U r, U g,
                    U b, U a) {
    const Place<L> at{x, y, z};
    const uint32_t inside = lanesInside<L>(*image, shape, at);
    if (inside != L::all || !isRow<L>(shape, at) || (!L::stores_parts && lanes != L::all))
      return storeScattered<layout>(image, shape, inside & lanes, x, y, z, r, g, b, a);
    uint8_t* const row = addressOf<L>(*image, shape, at, 0, layout.bytes());
    const Words<L, layout> all = words<layout>(*image, {r, g, b, a});
    if (L::stores_parts && lanes != L::all)
      storePart<L, layout>(row, lanes, all);
    else
      storeRow<L, layout>(row, all);
  }
  template <Layout layout>
  [[gnu::noinline]] static void storeScattered(const CpuImage* image, uint32_t shape,
                                               uint32_t inside, I x, I y, I z, U r, U g, U b, U a) {
    cpu::storeScattered<L, layout>(*image, shape, {x, y, z}, inside,
                                   words<layout>(*image, {r, g, b, a}));
  }
  template <Layout layout>
  [[gnu::always_inline]] static Words<L, layout> words(const CpuImage& image, const Colour<L>& c) {
    return wordsOf<L, layout>(disordered<L, layout>(c, image.channel_order));
  }
};

// Enters the functions of one form into the table of each layout.
template <class L, class Functions, size_t... i>
void enter(port::PixelFunctions* tables, std::index_sequence<i...>) {
  const auto set = [](const void*& place, auto* function) {
    place = reinterpret_cast<const void*>(function);
  };
  (set(tables[i].read[L::form], &Functions::read), ...);
  (set(tables[i].sample[L::form], &Functions::sample), ...);
  (set(tables[i].fetch[L::form], &Functions::template fetch<layouts[i]>), ...);
  (set(tables[i].store[L::form], &Functions::template store<layouts[i]>), ...);
}
template <class L, class Functions>
void enter(port::PixelFunctions* tables) {
  enter<L, Functions>(tables, std::make_index_sequence<layout_count>());
}

}  // namespace
}  // namespace weft::cpu
