// OpenCL C 6.15.15.2 and 6.15.15.4, image read functions with and without a sampler. Filtering is
// image_linear.cl's.
#include "image_sample.def"

#define DEFINE_FETCH(name, C, fetch, convert, access, T, shape, n)                              \
  OVERLOAD C name(access T image, int##n coordinate) {                                          \
    const Image i = weft_image(image);                                                          \
    return convert(fetch(i, firstLevel(i), AT_##shape(int, coordinate), DIMENSIONS_##shape,     \
                         LAYERED_##shape));                                                     \
  }
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

#define DEFINE_SAMPLE(name, C, sample, fetch, convert, access, T, shape, n)                      \
  OVERLOAD C name(access T image, sampler_t sampler, float##n coordinate) {                      \
    return convert(sample(weft_image(image), 0, weft_sampler(sampler),                           \
                          AT_##shape(float, coordinate), DIMENSIONS_##shape, LAYERED_##shape));  \
  }                                                                                              \
  OVERLOAD C name(access T image, sampler_t sampler, int##n coordinate) {                        \
    const Image i = weft_image(image);                                                           \
    const Level level = firstLevel(i);                                                           \
    const int4 at = integerAt(level, weft_sampler(sampler), AT_##shape(int, coordinate),         \
                              DIMENSIONS_##shape, LAYERED_##shape);                              \
    return convert(fetch(i, level, at, DIMENSIONS_##shape, LAYERED_##shape));                    \
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
