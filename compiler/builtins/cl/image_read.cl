// OpenCL C 6.15.15.2 and 6.15.15.4, image read functions with and without a sampler. Filtering is
// image_linear.cl's.
#include "image.def"

OVERLOAD float4 weft_read_linear(Image image, uint sampler, float4 at, int dimensions,
                                 bool layered);

#define DEFINE_FETCH(name, C, fetch, convert, access, T, shape, n)                              \
  OVERLOAD C name(access T image, int##n coordinate) {                                          \
    return convert(fetch(weft_image(image), AT_##shape(int, coordinate), DIMENSIONS_##shape,    \
                         LAYERED_##shape));                                                     \
  }
#define SAME(x) (x)
#define FIRST(v) (v).x
#define TO_HALF(x) CAST_4(half, x)
#define TO_SIGNED(x) as_int4(x)
#define DEFINE_FETCHES(access, T, shape, n)                                        \
  DEFINE_FETCH(read_imagef, float4, fetchFloat, SAME, access, T, shape, n)         \
  DEFINE_FETCH(read_imageh, half4, fetchFloat, TO_HALF, access, T, shape, n)       \
  DEFINE_FETCH(read_imagei, int4, fetchInteger, TO_SIGNED, access, T, shape, n)    \
  DEFINE_FETCH(read_imageui, uint4, fetchInteger, SAME, access, T, shape, n)
#define DEFINE_DEPTH_FETCH(access, T, shape, n) \
  DEFINE_FETCH(read_imagef, float, fetchFloat, FIRST, access, T, shape, n)
COLOUR_IMAGES(DEFINE_FETCHES, read_only)
COLOUR_IMAGES(DEFINE_FETCHES, read_write)
DEPTH_IMAGES(DEFINE_DEPTH_FETCH, read_only)
DEPTH_IMAGES(DEFINE_DEPTH_FETCH, read_write)

// The texel nearest to a coordinate. The conversion to an integer is in range for any coordinate,
// NaN included.
INLINE int nearestTexel(float s, uint sampler, uint size) {
  const float width = (float)size;
  const uint mode = sampler & SAMPLER_ADDRESS;
  float u = __builtin_elementwise_floor(inTexels(s, sampler, width));
  u = u > -1.0f ? u : -1.0f;
  const int i = (int)(u < width ? u : width);
  // Rounding can make u the width itself.
  if (mode == CLK_ADDRESS_REPEAT) return i < (int)size ? i : 0;
  if (mode == CLK_ADDRESS_MIRRORED_REPEAT || mode == CLK_ADDRESS_CLAMP_TO_EDGE)
    return clampInteger(i, 0, (int)size - 1);
  return i;
}

INLINE int4 nearestAt(Image image, uint sampler, float4 at, int dimensions, bool layered) {
  int4 result = 0;
  result.x = nearestTexel(at.x, sampler, image->width);
  if (dimensions > 1) result.y = nearestTexel(at.y, sampler, image->height);
  if (dimensions > 2) result.z = nearestTexel(at.z, sampler, image->depth);
  if (layered) result.z = layerAt(at.z, image->array_size);
  return result;
}

// Integer coordinates are neither normalised nor repeated.
INLINE int4 integerAt(Image image, uint sampler, int4 at, int dimensions, bool layered) {
  if (layered) at.z = clampInteger(at.z, 0, (int)image->array_size - 1);
  if ((sampler & SAMPLER_ADDRESS) != CLK_ADDRESS_CLAMP_TO_EDGE) return at;
  at.x = clampInteger(at.x, 0, (int)image->width - 1);
  if (dimensions > 1) at.y = clampInteger(at.y, 0, (int)image->height - 1);
  if (dimensions > 2) at.z = clampInteger(at.z, 0, (int)image->depth - 1);
  return at;
}

INLINE float4 sampleFloat(Image image, uint sampler, float4 at, int dimensions, bool layered) {
  if (sampler & SAMPLER_LINEAR) return weft_read_linear(image, sampler, at, dimensions, layered);
  return fetchFloat(image, nearestAt(image, sampler, at, dimensions, layered), dimensions, layered);
}
// "The read_image{i|ui} calls support a nearest filter only."
INLINE uint4 sampleInteger(Image image, uint sampler, float4 at, int dimensions, bool layered) {
  return fetchInteger(image, nearestAt(image, sampler, at, dimensions, layered), dimensions,
                      layered);
}

#define DEFINE_SAMPLE(name, C, sample, fetch, convert, access, T, shape, n)                      \
  OVERLOAD C name(access T image, sampler_t sampler, float##n coordinate) {                      \
    return convert(sample(weft_image(image), weft_sampler(sampler),                              \
                          AT_##shape(float, coordinate), DIMENSIONS_##shape, LAYERED_##shape));  \
  }                                                                                              \
  OVERLOAD C name(access T image, sampler_t sampler, int##n coordinate) {                        \
    const Image i = weft_image(image);                                                           \
    const int4 at = integerAt(i, weft_sampler(sampler), AT_##shape(int, coordinate),             \
                              DIMENSIONS_##shape, LAYERED_##shape);                              \
    return convert(fetch(i, at, DIMENSIONS_##shape, LAYERED_##shape));                           \
  }
#define DEFINE_SAMPLES(access, T, shape, n)                                                       \
  DEFINE_SAMPLE(read_imagef, float4, sampleFloat, fetchFloat, SAME, access, T, shape, n)          \
  DEFINE_SAMPLE(read_imageh, half4, sampleFloat, fetchFloat, TO_HALF, access, T, shape, n)        \
  DEFINE_SAMPLE(read_imagei, int4, sampleInteger, fetchInteger, TO_SIGNED, access, T, shape, n)   \
  DEFINE_SAMPLE(read_imageui, uint4, sampleInteger, fetchInteger, SAME, access, T, shape, n)
#define DEFINE_DEPTH_SAMPLE(access, T, shape, n) \
  DEFINE_SAMPLE(read_imagef, float, sampleFloat, fetchFloat, FIRST, access, T, shape, n)
SAMPLED_IMAGES(DEFINE_SAMPLES, read_only)
DEPTH_IMAGES(DEFINE_DEPTH_SAMPLE, read_only)
