// Reads of images through textures, for twins of kernels (compiler/gpu/textures.h): the device's
// hardware makes colours of pixels and filters planes. `texels` and `filtered` are handles of the
// image's textures; the other parameters are those of OpenCL's functions.
#include "image_sample.def"

#define TEXTURE_READ(name, R, C) \
  __attribute__((const)) R weft_texture_##name(ulong texture, C at) __asm__("weft.texture." #name);
TEXTURE_READ(filtered, float4, float2)
TEXTURE_READ(texel, float4, int2)
TEXTURE_READ(signed_texel, int4, int2)
TEXTURE_READ(unsigned_texel, uint4, int2)

// Channels come in memory's order, and those that a pixel does not have are zeros.
#define COLOUR(C, one)                                     \
  INLINE C colour_##C(Image image, C v) {                  \
    if (image->channel_order == CLK_BGRA) v = v.zyxw;      \
    if (opaqueBorder(image)) v.w = one;                    \
    return v;                                              \
  }
COLOUR(float4, 1.0f)
COLOUR(int4, 1)
COLOUR(uint4, 1)

// To the texture slices lie one below the other. Beside it there are zeros.
INLINE int2 stacked(Image image, int4 at, uint slices) {
  const bool is_inside = (uint)at.y < image->height && (uint)at.z < slices;
  return (int2)(is_inside ? at.x : -1, at.z * (int)image->height + at.y);
}
#define STACKED_x(image, at) (at).xy
#define STACKED_xy(image, at) (at).xy
#define STACKED_xl(image, at) stacked(image, at, (image)->array_size)
#define STACKED_xyl(image, at) stacked(image, at, (image)->array_size)
#define STACKED_xyz(image, at) stacked(image, at, (image)->depth)

// Hardware filters what is no stack.
#define FILTER(image, filtered, at) colour_float4(image, weft_texture_filtered(filtered, at))
#define FILTER_x(i, sampler, texels, filtered, at) FILTER(i, filtered, (float2)((at), 0.5f))
#define FILTER_xy(i, sampler, texels, filtered, at) FILTER(i, filtered, at)
#define DEFINE_FILTER(shape, n)                                                                  \
  INLINE float4 filtered_##shape(Image image, uint sampler, ulong texels, float##n coordinate) { \
    const Level level = firstLevel(image);                                                       \
    const float4 at = AT_##shape(float, coordinate);                                             \
    const Axis none = {0, 0, 1.0f, 1.0f};                                                    \
    const Axis x = around(at.x, sampler, level.width);                                           \
    const Axis y = DIMENSIONS_##shape > 1 ? around(at.y, sampler, level.height) : none;          \
    const Axis z = DIMENSIONS_##shape > 2 ? around(at.z, sampler, level.depth) : none;           \
    const int layer = LAYERED_##shape ? layerAt(at.z, level.array_size) : 0;                     \
    float4 sum = 0.0f;                                                                           \
    _Pragma("unroll") for (int corner = 0; corner < 1 << DIMENSIONS_##shape; ++corner) {         \
      const int a = corner & 1, b = corner >> 1 & 1, c = corner >> 2;                            \
      const int4 texel = {texelOf(x, a), texelOf(y, b),                                          \
                          LAYERED_##shape ? layer : texelOf(z, c), 0};                           \
      sum += weightOf(x, a) * weightOf(y, b) * weightOf(z, c) *                                  \
             colour_float4(image, weft_texture_texel(texels, STACKED_##shape(image, texel)));    \
    }                                                                                            \
    return sum;                                                                                  \
  }
DEFINE_FILTER(xl, 2)
DEFINE_FILTER(xyl, 4)
DEFINE_FILTER(xyz, 4)
#define FILTER_xl(i, sampler, texels, filtered, at) filtered_xl(i, sampler, texels, at)
#define FILTER_xyl(i, sampler, texels, filtered, at) filtered_xyl(i, sampler, texels, at)
#define FILTER_xyz(i, sampler, texels, filtered, at) filtered_xyz(i, sampler, texels, at)

// F(name, V, C, texel, convert): V is what the hardware gives, C what the function does.
#define UNFILTERED(F, access, T, shape, n)                                          \
  F(read_imagei, int4, int4, weft_texture_signed_texel, SAME, access, T, shape, n)  \
  F(read_imageui, uint4, uint4, weft_texture_unsigned_texel, SAME, access, T, shape, n)
#define FILTERED(F, access, T, shape, n)                                            \
  F(read_imagef, float4, float4, weft_texture_texel, SAME, access, T, shape, n)     \
  F(read_imageh, float4, half4, weft_texture_texel, TO_HALF, access, T, shape, n)

#define TEXEL(V, texel, shape, at) colour_##V(i, texel(texels, STACKED_##shape(i, at)))
#define DEFINE_FETCH(name, V, C, texel, convert, access, T, shape, n)                          \
  OVERLOAD C weft_texture_##name(access T image, int##n at, ulong texels, ulong filtered) {    \
    (void)filtered;                                                                            \
    const Image i = weft_image(image);                                                         \
    return convert(TEXEL(V, texel, shape, AT_##shape(int, at)));                               \
  }                                                                                            \
  OVERLOAD C weft_texture_##name(access T image, sampler_t sampler, int##n at, ulong texels,   \
                                 ulong filtered) {                                             \
    (void)filtered;                                                                            \
    const Image i = weft_image(image);                                                         \
    const int4 place = integerAt(firstLevel(i), weft_sampler(sampler), AT_##shape(int, at),    \
                                 DIMENSIONS_##shape, LAYERED_##shape);                         \
    return convert(TEXEL(V, texel, shape, place));                                             \
  }
#define NEAREST(V, texel, shape)                                                               \
  TEXEL(V, texel, shape,                                                                       \
        nearestAt(firstLevel(i), weft_sampler(sampler), AT_##shape(float, at),                 \
                  DIMENSIONS_##shape, LAYERED_##shape))
#define DEFINE_NEAREST(name, V, C, texel, convert, access, T, shape, n)                        \
  OVERLOAD C weft_texture_##name(access T image, sampler_t sampler, float##n at, ulong texels, \
                                 ulong filtered) {                                             \
    (void)filtered;                                                                            \
    const Image i = weft_image(image);                                                         \
    return convert(NEAREST(V, texel, shape));                                                  \
  }
#define DEFINE_FILTERED(name, V, C, texel, convert, access, T, shape, n)                       \
  OVERLOAD C weft_texture_##name(access T image, sampler_t sampler, float##n at, ulong texels, \
                                 ulong filtered) {                                             \
    const Image i = weft_image(image);                                                         \
    if (weft_sampler(sampler) & SAMPLER_LINEAR)                                                \
      return convert(FILTER_##shape(i, weft_sampler(sampler), texels, filtered, at));          \
    (void)filtered;                                                                            \
    return convert(NEAREST(V, texel, shape));                                                  \
  }

#define DEFINE_READS(access, T, shape, n)              \
  UNFILTERED(DEFINE_FETCH, access, T, shape, n)        \
  FILTERED(DEFINE_FETCH, access, T, shape, n)          \
  UNFILTERED(DEFINE_NEAREST, access, T, shape, n)      \
  FILTERED(DEFINE_FILTERED, access, T, shape, n)
SAMPLED_IMAGES(DEFINE_READS, read_only)
