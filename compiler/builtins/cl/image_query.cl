// OpenCL C 6.15.15.6, image query functions.
#include "image.def"

// CLK_* constants of channel types and orders have the values of CL_*.
#define DEFINE_QUERIES(access, T, shape, n)                                                  \
  PURE int get_image_width(access T image) { return (int)weft_image(image)->width; }         \
  PURE int get_image_channel_data_type(access T image) {                                     \
    return (int)weft_image(image)->channel_type;                                             \
  }                                                                                          \
  PURE int get_image_channel_order(access T image) {                                         \
    return (int)weft_image(image)->channel_order;                                            \
  }
ACCESSES(ALL_IMAGES, DEFINE_QUERIES)

#define DEFINE_HEIGHT(access, T, shape, n) \
  PURE int get_image_height(access T image) { return (int)weft_image(image)->height; }
#define DEFINE_PLANE_DIM(access, T, shape, n)                       \
  PURE int2 get_image_dim(access T image) {                         \
    const Image i = weft_image(image);                              \
    return (int2)((int)i->width, (int)i->height);                   \
  }
#define DEFINE_VOLUME_DIM(access, T, shape, n)                      \
  PURE int get_image_depth(access T image) { return (int)weft_image(image)->depth; } \
  PURE int4 get_image_dim(access T image) {                         \
    const Image i = weft_image(image);                              \
    return (int4)((int)i->width, (int)i->height, (int)i->depth, 0); \
  }
#define PLANES(F, access) PLANE_IMAGE(F, access) PLANE_ARRAY_IMAGE(F, access) DEPTH_IMAGES(F, access)
ACCESSES(PLANES, DEFINE_HEIGHT)
ACCESSES(VOLUME_IMAGE, DEFINE_HEIGHT)
ACCESSES(PLANES, DEFINE_PLANE_DIM)
ACCESSES(VOLUME_IMAGE, DEFINE_VOLUME_DIM)

#define DEFINE_ARRAY_SIZE(access, T, shape, n) \
  PURE size_t get_image_array_size(access T image) { return weft_image(image)->array_size; }
#define ARRAYS(F, access) \
  LINE_ARRAY_IMAGE(F, access) PLANE_ARRAY_IMAGE(F, access) DEPTH_ARRAY_IMAGE(F, access)
ACCESSES(ARRAYS, DEFINE_ARRAY_SIZE)
