// Reads of images through textures, for twins of kernels (compiler/gpu/textures.h): the device's
// hardware makes colours of pixels, and filters. `texels` and `filtered` are handles of the image's
// textures; the other parameters are those of OpenCL's functions.
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

#define FILTERED_AT_x(at) ((float2)((at), 0.5f))
#define FILTERED_AT_xy(at) (at)

// F(name, V, C, texel, convert): V is what the hardware gives, C what the function does.
#define UNFILTERED(F, access, T, shape, n)                                          \
  F(read_imagei, int4, int4, weft_texture_signed_texel, SAME, access, T, shape, n)  \
  F(read_imageui, uint4, uint4, weft_texture_unsigned_texel, SAME, access, T, shape, n)
#define FILTERED(F, access, T, shape, n)                                            \
  F(read_imagef, float4, float4, weft_texture_texel, SAME, access, T, shape, n)     \
  F(read_imageh, float4, half4, weft_texture_texel, TO_HALF, access, T, shape, n)

#define DEFINE_FETCH(name, V, C, texel, convert, access, T, shape, n)                          \
  OVERLOAD C weft_texture_##name(access T image, int##n at, ulong texels, ulong filtered) {    \
    (void)filtered;                                                                            \
    return convert(colour_##V(weft_image(image), texel(texels, AT_##shape(int, at).xy)));      \
  }                                                                                            \
  OVERLOAD C weft_texture_##name(access T image, sampler_t sampler, int##n at, ulong texels,   \
                                 ulong filtered) {                                             \
    (void)filtered;                                                                            \
    const Image i = weft_image(image);                                                         \
    const int4 place = integerAt(firstLevel(i), weft_sampler(sampler), AT_##shape(int, at),    \
                                 DIMENSIONS_##shape, false);                                   \
    return convert(colour_##V(i, texel(texels, place.xy)));                                    \
  }
#define NEAREST(V, texel, shape)                                                               \
  colour_##V(i, texel(texels, nearestAt(firstLevel(i), weft_sampler(sampler),                  \
                                        AT_##shape(float, at), DIMENSIONS_##shape, false).xy))
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
      return convert(colour_##V(i, weft_texture_filtered(filtered, FILTERED_AT_##shape(at)))); \
    return convert(NEAREST(V, texel, shape));                                                  \
  }

#define DEFINE_READS(access, T, shape, n)              \
  UNFILTERED(DEFINE_FETCH, access, T, shape, n)        \
  FILTERED(DEFINE_FETCH, access, T, shape, n)          \
  UNFILTERED(DEFINE_NEAREST, access, T, shape, n)      \
  FILTERED(DEFINE_FILTERED, access, T, shape, n)
LINE_IMAGE(DEFINE_READS, read_only)
PLANE_IMAGE(DEFINE_READS, read_only)
