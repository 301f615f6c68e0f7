// cl_khr_mipmap_image and cl_khr_mipmap_image_writes (OpenCL C 6.15.15): reading and writing a level
// of a mip-mapped image. What names no level works on the first one, whose descriptor is the image's.
#include "image_sample.def"

#define SAMPLER_LEVELS_LINEAR 0x40u
// In 256ths (core/ports/launch.h). A sampler of the program's source has the bits of the defaults.
#define LEAST_LEVEL(sampler) ((float)((sampler) >> 8 & 0xfff) / 256.0f)
#define GREATEST_LEVEL(sampler) ((float)(0xfff - ((sampler) >> 20)) / 256.0f)

typedef struct {
  uint first, second;
  float part;  // of the second
} Levels;

// In this form a level of detail that is NaN becomes the least one.
INLINE Levels levelsAt(Image image, uint sampler, float detail) {
  const float last = (float)(image->levels - 1);
  const float least = LEAST_LEVEL(sampler), greatest = GREATEST_LEVEL(sampler);
  detail = detail > least ? detail : least;
  detail = detail < greatest ? detail : greatest;
  detail = detail < last ? detail : last;
  if (!(sampler & SAMPLER_LEVELS_LINEAR)) {
    const uint nearest = (uint)(__builtin_elementwise_ceil(detail + 0.5f) - 1.0f);
    return (Levels){nearest, nearest, 0.0f};
  }
  const float below = __builtin_elementwise_floor(detail);
  const uint first = (uint)below;
  return (Levels){first, first + 1 < image->levels ? first + 1 : first, detail - below};
}

PURE float log2(float x);  // math.cl's; LLVM's intrinsic is an error where no library of C is

// How many texels of the first level the coordinate moves from one work-item to its neighbour.
INLINE float detailOf(Image image, uint sampler, float4 dx, float4 dy) {
  if (sampler & SAMPLER_NORMALIZED) {
    const float4 size = {(float)image->width, (float)image->height, (float)image->depth, 0.0f};
    dx *= size;
    dy *= size;
  }
  const float x = dx.x * dx.x + dx.y * dx.y + dx.z * dx.z;
  const float y = dy.x * dy.x + dy.y * dy.y + dy.z * dy.z;
  return 0.5f * log2(x > y ? x : y);
}

INLINE float4 sampleFloatLevel(Image image, uint sampler, float4 at, int dimensions, bool layered,
                               float detail) {
  const Levels levels = levelsAt(image, sampler, detail);
  const float4 sample = sampleFloat(image, levels.first, sampler, at, dimensions, layered);
  if (levels.part == 0.0f) return sample;
  return sample * (1.0f - levels.part) +
         sampleFloat(image, levels.second, sampler, at, dimensions, layered) * levels.part;
}
// "The read_image{i|ui} calls support a nearest filter only."
INLINE uint4 sampleIntegerLevel(Image image, uint sampler, float4 at, int dimensions, bool layered,
                                float detail) {
  const Levels levels = levelsAt(image, sampler & ~SAMPLER_LEVELS_LINEAR, detail);
  return sampleInteger(image, levels.first, sampler, at, dimensions, layered);
}

#define GRADIENT_x float
#define GRADIENT_xl float
#define GRADIENT_xy float2
#define GRADIENT_xyl float2
#define GRADIENT_xyz float4
#define SPREAD_x(g) (float4)((g), 0.0f, 0.0f, 0.0f)
#define SPREAD_xl(g) (float4)((g), 0.0f, 0.0f, 0.0f)
#define SPREAD_xy(g) (float4)((g), 0.0f, 0.0f)
#define SPREAD_xyl(g) (float4)((g), 0.0f, 0.0f)
#define SPREAD_xyz(g) (float4)((g).xyz, 0.0f)

#define DEFINE_SAMPLE(name, C, sample, convert, access, T, shape, n)                              \
  OVERLOAD C name(access T image, sampler_t sampler, float##n coordinate, float lod) {            \
    return convert(sample(weft_image(image), weft_sampler(sampler), AT_##shape(float, coordinate), \
                          DIMENSIONS_##shape, LAYERED_##shape, lod));                             \
  }                                                                                               \
  OVERLOAD C name(access T image, sampler_t sampler, float##n coordinate, GRADIENT_##shape dx,    \
                  GRADIENT_##shape dy) {                                                          \
    const Image i = weft_image(image);                                                            \
    const uint s = weft_sampler(sampler);                                                         \
    return convert(sample(i, s, AT_##shape(float, coordinate), DIMENSIONS_##shape,                \
                          LAYERED_##shape,                                                        \
                          detailOf(i, s, SPREAD_##shape(dx), SPREAD_##shape(dy))));               \
  }
#define DEFINE_SAMPLES(access, T, shape, n)                                                 \
  DEFINE_SAMPLE(read_imagef, float4, sampleFloatLevel, SAME, access, T, shape, n)           \
  DEFINE_SAMPLE(read_imagei, int4, sampleIntegerLevel, TO_SIGNED, access, T, shape, n)      \
  DEFINE_SAMPLE(read_imageui, uint4, sampleIntegerLevel, SAME, access, T, shape, n)
#define DEFINE_DEPTH_SAMPLE(access, T, shape, n) \
  DEFINE_SAMPLE(read_imagef, float, sampleFloatLevel, FIRST, access, T, shape, n)
SAMPLED_IMAGES(DEFINE_SAMPLES, read_only)
DEPTH_IMAGES(DEFINE_DEPTH_SAMPLE, read_only)

#define DEFINE_WRITE(name, store, access, T, shape, n, C, colour)                          \
  OVERLOAD void name(access T image, int##n coordinate, int lod, C value) {                \
    const Image i = weft_image(image);                                                     \
    if ((uint)lod >= i->levels) return;                                                    \
    const Level level = levelOf(i, (uint)lod);                                             \
    const int4 at = AT_##shape(int, coordinate);                                           \
    if (inside(level, at, DIMENSIONS_##shape, LAYERED_##shape))                            \
      store(i, texelAt(i, level, at, DIMENSIONS_##shape, LAYERED_##shape), colour);        \
  }
#define DEFINE_WRITES(access, T, shape, n)                                                 \
  DEFINE_WRITE(write_imagef, weft_store_float, access, T, shape, n, float4, value)         \
  DEFINE_WRITE(write_imagei, weft_store_signed, access, T, shape, n, int4, value)          \
  DEFINE_WRITE(write_imageui, weft_store_unsigned, access, T, shape, n, uint4, value)
#define DEFINE_DEPTH_WRITE(access, T, shape, n)                                            \
  DEFINE_WRITE(write_imagef, weft_store_float, access, T, shape, n, float,                 \
               (float4)(value, 0.0f, 0.0f, 0.0f))
SAMPLED_IMAGES(DEFINE_WRITES, write_only)
SAMPLED_IMAGES(DEFINE_WRITES, read_write)
DEPTH_IMAGES(DEFINE_DEPTH_WRITE, write_only)
DEPTH_IMAGES(DEFINE_DEPTH_WRITE, read_write)

#define DEFINE_COUNT(access, T, shape, n) \
  PURE int get_image_num_mip_levels(access T image) { return weft_image(image)->levels; }
ACCESSES(SAMPLED_IMAGES, DEFINE_COUNT)
ACCESSES(DEPTH_IMAGES, DEFINE_COUNT)
