// OpenCL 8.3: what the words of pixels mean as colours, and back, for a lane or a vector of lanes.
// The same operations in the same order as the builtin library's (compiler/builtins/cl/
// image_texel.cl), which kernels of other devices contain: the results are the same bits.
#pragma once

#include <CL/cl.h>

#include "backends/cpu/pixels/layout.h"
#include "backends/cpu/pixels/srgb.h"

namespace weft::cpu {
namespace {

template <class L>
struct Colour {
  typename L::U r, g, b, a;
};

template <class L, Layout layout>
struct Words {
  typename L::U word[layout.words()];
};

template <class L>
[[gnu::always_inline]] inline typename L::U bitsOf(typename L::F x) {
  return __builtin_bit_cast(typename L::U, x);
}
template <class L>
[[gnu::always_inline]] inline typename L::F floatOf(typename L::U x) {
  return __builtin_bit_cast(typename L::F, x);
}
template <class L>
[[gnu::always_inline]] inline typename L::I signedOf(typename L::U x) {
  return __builtin_bit_cast(typename L::I, x);
}
template <class L>
[[gnu::always_inline]] inline typename L::U unsignedOf(typename L::I x) {
  return __builtin_bit_cast(typename L::U, x);
}

template <class L>
[[gnu::always_inline]] inline typename L::U unsignedField(typename L::U word, unsigned shift,
                                                          unsigned bits) {
  return bits == 32 ? word : word >> shift & ((1u << bits) - 1);
}
template <class L>
[[gnu::always_inline]] inline typename L::I signedField(typename L::U word, unsigned shift,
                                                        unsigned bits) {
  return signedOf<L>(word << (32 - bits - shift)) >> (32 - bits);
}

template <class L>
[[gnu::always_inline]] inline typename L::U above(typename L::F x, float least) {
  return bitsOf<L>(L::greater(x, typename L::F{} + least));
}

// Parts of the largest number, which divisions would round to the same.
template <class L>
[[gnu::always_inline]] inline typename L::F parts(typename L::I number, float first, float second) {
  const typename L::F x = L::toFloat(number);
  return x * first + x * second;
}

template <class L, Channel channel>
[[gnu::always_inline]] inline typename L::U decodeField(typename L::U word, unsigned shift) {
  const auto natural = [&](unsigned bits) {
    return signedOf<L>(unsignedField<L>(word, shift, bits));
  };
  if constexpr (channel == Channel::unorm8 || channel == Channel::srgb8)
    return bitsOf<L>(parts<L>(natural(8), 0x1.01p-8f, 0x1.010102p-24f));
  else if constexpr (channel == Channel::unorm16)
    return bitsOf<L>(parts<L>(natural(16), 0x1p-16f, 0x1.0001p-32f));
  else if constexpr (channel == Channel::snorm8)
    return above<L>(parts<L>(signedField<L>(word, shift, 8), 0x1.02p-7f, 0x1.020408p-21f), -1.0f);
  else if constexpr (channel == Channel::snorm16)
    return above<L>(parts<L>(signedField<L>(word, shift, 16), 0x1p-15f, 0x1.0002p-30f), -1.0f);
  else if constexpr (channel == Channel::uint8)
    return unsignedField<L>(word, shift, 8);
  else if constexpr (channel == Channel::uint16)
    return unsignedField<L>(word, shift, 16);
  else if constexpr (channel == Channel::sint8)
    return unsignedOf<L>(signedField<L>(word, shift, 8));
  else if constexpr (channel == Channel::sint16)
    return unsignedOf<L>(signedField<L>(word, shift, 16));
  else if constexpr (channel == Channel::half)
    return bitsOf<L>(L::fromHalf(unsignedField<L>(word, shift, 16)));
  else
    return word;
}

template <class L>
[[gnu::always_inline]] inline typename L::U decodePacked(typename L::U word, unsigned shift,
                                                         unsigned bits) {
  const typename L::I number = signedOf<L>(unsignedField<L>(word, shift, bits));
  return bitsOf<L>(L::toFloat(number) / static_cast<float>((1u << bits) - 1));
}

template <class L, Layout layout>
[[gnu::always_inline]] inline Colour<L> channelsOf(const Words<L, layout>& words) {
  using enum Channel;
  const auto packed = [&](unsigned r, unsigned g, unsigned b, unsigned g_bits, unsigned bits) {
    return Colour<L>{decodePacked<L>(words.word[0], r, bits),
                     decodePacked<L>(words.word[0], g, g_bits),
                     decodePacked<L>(words.word[0], b, bits), typename L::U{}};
  };
  if constexpr (layout.channel == rgb_565) {
    return packed(11, 5, 0, 6, 5);
  } else if constexpr (layout.channel == rgb_555) {
    return packed(10, 5, 0, 5, 5);
  } else if constexpr (layout.channel == rgb_101010) {
    return packed(20, 10, 0, 10, 10);
  } else if constexpr (layout.channel == rgba_1010102) {
    Colour<L> colour = packed(22, 12, 2, 10, 10);
    colour.a = decodePacked<L>(words.word[0], 0, 2);
    return colour;
  } else {
    const auto field = [&]<unsigned index>() {
      constexpr unsigned at = index * layout.channelBytes();
      return decodeField<L, layout.channel>(words.word[at / 4], at % 4 * 8);
    };
    Colour<L> colour { field.template operator()<0>(), {}, {}, {} };
    if constexpr (layout.count > 1) colour.g = field.template operator()<1>();
    if constexpr (layout.count > 2) {
      colour.b = field.template operator()<2>();
      colour.a = field.template operator()<3>();
    }
    if constexpr (layout.channel == srgb8) {
      const auto linear = [&](unsigned shift) {
        return L::lookUp(srgb_to_linear.values, unsignedField<L>(words.word[0], shift, 8));
      };
      colour.r = linear(0);
      colour.g = linear(8);
      colour.b = linear(16);
    }
    return colour;
  }
}

// From the channels in memory to what the specification's table of channel orders gives.
template <class L, Layout layout>
[[gnu::always_inline]] inline Colour<L> ordered(Colour<L> c, uint32_t order) {
  using U = typename L::U;
  const U zero{}, one = U{} + layout.one();
  if constexpr (layout.count == 1) {
    if (order == CL_R) return {c.r, zero, zero, one};
    switch (order) {
      case CL_A:
        return {zero, zero, zero, c.r};
      case CL_INTENSITY:
        return {c.r, c.r, c.r, c.r};
      case CL_LUMINANCE:
        return {c.r, c.r, c.r, one};
      default:
        return {c.r, zero, zero, one};
    }
  } else if constexpr (layout.count == 2) {
    if (order == CL_RA) return {c.r, zero, zero, c.g};
    return {c.r, c.g, zero, one};
  } else if constexpr (layout.count == 3) {
    return {c.r, c.g, c.b, one};
  } else {
    if (order == CL_RGBA) return c;
    switch (order) {
      case CL_BGRA:
      case CL_sBGRA:
        return {c.b, c.g, c.r, c.a};
      case CL_ARGB:
        return {c.g, c.b, c.a, c.r};
      case CL_ABGR:
        return {c.a, c.b, c.g, c.r};
      default:
        return c;
    }
  }
}

template <class L, Layout layout>
[[gnu::always_inline]] inline Colour<L> disordered(Colour<L> c, uint32_t order) {
  if constexpr (layout.count == 1) {
    if (order == CL_A) c.r = c.a;
  } else if constexpr (layout.count == 2) {
    if (order == CL_RA) c.g = c.a;
  } else if constexpr (layout.count == 4) {
    if (order == CL_RGBA) return c;
    switch (order) {
      case CL_BGRA:
      case CL_sBGRA:
        return {c.b, c.g, c.r, c.a};
      case CL_ARGB:
        return {c.a, c.r, c.g, c.b};
      case CL_ABGR:
        return {c.a, c.b, c.g, c.r};
      default:
        break;
    }
  }
  return c;
}

// convert_*_sat_rte(x * high), in two's complement: NaN gives 0.
template <class L>
[[gnu::always_inline]] inline typename L::U scaled(typename L::U x, float low, float high) {
  using F = typename L::F;
  F v = floatOf<L>(x) * high;
  if (low < 0) v = v == v ? v : F{};
  v = L::lesser(L::greater(v, F{} + low), F{} + high);
  constexpr float whole = 0x1.8p23f;  // rounds to an integer, which its last bits then are
  return bitsOf<L>(v + whole) - __builtin_bit_cast(uint32_t, whole);
}

// The value whose linear intensity is nearest, by bisection.
template <class L>
typename L::U toSrgb(typename L::U colour) {
  using U = typename L::U;
  const typename L::F x = floatOf<L>(colour);
  U low{};
  for (uint32_t step = 128; step > 0; step >>= 1) {
    const U next = low + step;
    const auto below = floatOf<L>(L::lookUp(srgb_to_linear.values, next - 1u));
    const auto value = floatOf<L>(L::lookUp(srgb_to_linear.values, next));
    low = x >= 0.5f * (below + value) ? next : low;
  }
  return low;
}

template <class L>
[[gnu::always_inline]] inline typename L::U clamped(typename L::U x, int32_t low, int32_t high) {
  using I = typename L::I;
  I v = signedOf<L>(x);
  const I least = I{} + low, most = I{} + high;
  v = v > least ? v : least;
  return unsignedOf<L>(v < most ? v : most);
}
template <class L>
[[gnu::always_inline]] inline typename L::U below(typename L::U x, uint32_t limit) {
  const typename L::U most = typename L::U{} + limit;
  return x < most ? x : most;
}

// Of a channel, in its lowest bits; above them there may be others.
template <class L, Channel channel>
[[gnu::always_inline]] inline typename L::U encodeField(typename L::U colour) {
  if constexpr (channel == Channel::unorm8 || channel == Channel::srgb8)
    return scaled<L>(colour, 0.0f, 255.0f);
  else if constexpr (channel == Channel::unorm16)
    return scaled<L>(colour, 0.0f, 65535.0f);
  else if constexpr (channel == Channel::snorm8)
    return scaled<L>(colour, -128.0f, 127.0f);
  else if constexpr (channel == Channel::snorm16)
    return scaled<L>(colour, -32768.0f, 32767.0f);
  else if constexpr (channel == Channel::uint8)
    return below<L>(colour, 255);
  else if constexpr (channel == Channel::uint16)
    return below<L>(colour, 65535);
  else if constexpr (channel == Channel::sint8)
    return clamped<L>(colour, -128, 127);
  else if constexpr (channel == Channel::sint16)
    return clamped<L>(colour, -32768, 32767);
  else if constexpr (channel == Channel::half)
    return L::toHalf(floatOf<L>(colour));
  else
    return colour;
}

template <class L, Layout layout>
[[gnu::always_inline]] inline Words<L, layout> wordsOf(const Colour<L>& c) {
  using enum Channel;
  using U = typename L::U;
  const auto field = [](U colour, unsigned bits, unsigned shift) {
    return scaled<L>(colour, 0.0f, static_cast<float>((1u << bits) - 1)) << shift;
  };
  if constexpr (layout.channel == rgb_565) {
    return {field(c.r, 5, 11) | field(c.g, 6, 5) | field(c.b, 5, 0)};
  } else if constexpr (layout.channel == rgb_555) {
    return {field(c.r, 5, 10) | field(c.g, 5, 5) | field(c.b, 5, 0)};
  } else if constexpr (layout.channel == rgb_101010) {
    return {field(c.r, 10, 20) | field(c.g, 10, 10) | field(c.b, 10, 0)};
  } else if constexpr (layout.channel == rgba_1010102) {
    return {field(c.r, 10, 22) | field(c.g, 10, 12) | field(c.b, 10, 2) | field(c.a, 2, 0)};
  } else {
    U channels[4] = {encodeField<L, layout.channel>(c.r), {}, {}, {}};
    if constexpr (layout.count > 1) channels[1] = encodeField<L, layout.channel>(c.g);
    if constexpr (layout.count > 2) {
      channels[2] = encodeField<L, layout.channel>(c.b);
      channels[3] = encodeField<L, layout.channel>(c.a);
    }
    if constexpr (layout.channel == srgb8) {
      channels[0] = toSrgb<L>(c.r);
      channels[1] = toSrgb<L>(c.g);
      channels[2] = toSrgb<L>(c.b);
    }
    constexpr unsigned bits = layout.channelBytes() * 8;
    Words<L, layout> words{};
    forEach<layout.count>([&](auto i) __attribute__((always_inline)) {
      constexpr unsigned at = i * bits;
      words.word[at / 32] |= unsignedField<L>(channels[i], 0, bits) << at % 32;
    });
    return words;
  }
}

}  // namespace
}  // namespace weft::cpu
