// OpenCL C 6.15.15.5, image write functions.
#include "image.def"

#define DEFINE_WRITE(name, store, access, type, shape, n, C, colour)                    \
  OVERLOAD void name(access type image, int##n coordinate, C value) {                   \
    const Image i = weft_image(image);                                                  \
    const Level level = firstLevel(i);                                                  \
    const int4 at = AT_##shape(int, coordinate);                                        \
    if (inside(level, at, DIMENSIONS_##shape, LAYERED_##shape))                             \
      store(i, texelAt(i, level, at, DIMENSIONS_##shape, LAYERED_##shape), colour);     \
  }
#define DEFINE_WRITES(access, type, shape, n)                                                  \
  DEFINE_WRITE(write_imagef, weft_store_float, access, type, shape, n, float4, value)          \
  DEFINE_WRITE(write_imageh, weft_store_float, access, type, shape, n, half4, CAST_4(float, value)) \
  DEFINE_WRITE(write_imagei, weft_store_signed, access, type, shape, n, int4, value)           \
  DEFINE_WRITE(write_imageui, weft_store_unsigned, access, type, shape, n, uint4, value)
COLOUR_IMAGES(DEFINE_WRITES, write_only)
COLOUR_IMAGES(DEFINE_WRITES, read_write)

#define DEFINE_DEPTH_WRITE(access, type, shape, n)                               \
  DEFINE_WRITE(write_imagef, weft_store_float, access, type, shape, n, float,    \
               (float4)(value, 0.0f, 0.0f, 0.0f))
DEPTH_IMAGES(DEFINE_DEPTH_WRITE, write_only)
DEPTH_IMAGES(DEFINE_DEPTH_WRITE, read_write)
