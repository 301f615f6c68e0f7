// OpenCL 8.3, one pixel from memory to a colour and back: channel types and channel orders.
#include "image.def"
#include "srgb.def"

typedef float4 __attribute__((aligned(4))) unaligned_float4;
typedef uchar4 __attribute__((aligned(1))) unaligned_uchar4;

INLINE bool isSrgb(uint order) { return order >= CLK_sRGB && order <= CLK_sBGRA; }

// From the channels in memory to (r, g, b, a) as in the specification's table of what channel
// orders give for components that an image does not have.
INLINE uint4 fromMemory(uint4 v, uint order, uint one) {
  switch (order) {
    case CLK_A: return (uint4)(0, 0, 0, v.x);
    case CLK_RG:
    case CLK_RGx: return (uint4)(v.x, v.y, 0, one);
    case CLK_RA: return (uint4)(v.x, 0, 0, v.y);
    case CLK_RGB:
    case CLK_RGBx:
    case CLK_sRGB:
    case CLK_sRGBx: return (uint4)(v.xyz, one);
    case CLK_RGBA:
    case CLK_sRGBA: return v;
    case CLK_BGRA:
    case CLK_sBGRA: return v.zyxw;
    case CLK_ARGB: return v.yzwx;
    case CLK_ABGR: return v.wzyx;
    case CLK_INTENSITY: return v.xxxx;
    case CLK_LUMINANCE: return (uint4)(v.xxx, one);
    default: return (uint4)(v.x, 0, 0, one);
  }
}
INLINE uint4 toMemory(uint4 v, uint order) {
  switch (order) {
    case CLK_A: return v.wwww;
    case CLK_RA: return v.xwww;
    case CLK_BGRA:
    case CLK_sBGRA: return v.zyxw;
    case CLK_ARGB: return v.wxyz;
    case CLK_ABGR: return v.wzyx;
    default: return v;
  }
}

// As many channels as the pixel has: the last one of an image ends where its memory may.
#define DEFINE_CHANNELS(T)                                                   \
  INLINE uint4 load_##T(Texel texel, uint bytes) {                           \
    const __global T* p = (const __global T*)texel;                          \
    uint4 v = (uint4)((uint)p[0], 0, 0, 0);                                  \
    if (bytes > sizeof(T)) v.y = (uint)p[1];                                 \
    if (bytes > 2 * sizeof(T)) v.z = (uint)p[2];                             \
    if (bytes > 3 * sizeof(T)) v.w = (uint)p[3];                             \
    return v;                                                                \
  }                                                                          \
  INLINE void store_##T(Texel texel, uint bytes, uint4 v) {                  \
    __global T* p = (__global T*)texel;                                      \
    p[0] = (T)v.x;                                                           \
    if (bytes > sizeof(T)) p[1] = (T)v.y;                                    \
    if (bytes > 2 * sizeof(T)) p[2] = (T)v.z;                                \
    if (bytes > 3 * sizeof(T)) p[3] = (T)v.w;                                \
  }
DEFINE_CHANNELS(char)
DEFINE_CHANNELS(uchar)
DEFINE_CHANNELS(short)
DEFINE_CHANNELS(ushort)
DEFINE_CHANNELS(uint)

// Parts of 255, 65535, 127 or 32767, which divisions would round to the same: the first product of
// such integers is exact.
INLINE float4 parts_8(float4 x) { return x * 0x1.01p-8f + x * 0x1.010102p-24f; }
INLINE float4 parts_16(float4 x) { return x * 0x1p-16f + x * 0x1.0001p-32f; }
INLINE float4 parts_7(float4 x) { return x * 0x1.02p-7f + x * 0x1.020408p-21f; }
INLINE float4 parts_15(float4 x) { return x * 0x1p-15f + x * 0x1.0002p-30f; }
INLINE float4 signedUnit(float4 x) { return x > -1.0f ? x : (float4)-1.0f; }
INLINE float4 fields(uint v, uint4 shift, uint4 mask) {
  return CAST_4(float, (uint4)v >> shift & mask) / CAST_4(float, mask);
}
INLINE float4 fromSrgb(float4 colour, uint4 v) {
  return (float4)(srgb_to_linear[v.x & 255], srgb_to_linear[v.y & 255], srgb_to_linear[v.z & 255],
                  colour.w);
}

// All formats. Long, so GPUs that need it seldom call it (shareFormats in compiler/gpu/textures.h).
OVERLOAD float4 weft_load_any(Texel texel, uint type, uint order, uint bytes) {
  float4 v = 0.0f;
  switch (type) {
    case CLK_SNORM_INT8: v = signedUnit(parts_7(CAST_4(float, as_int4(load_char(texel, bytes))))); break;
    case CLK_SNORM_INT16: v = signedUnit(parts_15(CAST_4(float, as_int4(load_short(texel, bytes))))); break;
    case CLK_UNORM_INT8: v = parts_8(CAST_4(float, load_uchar(texel, bytes))); break;
    case CLK_UNORM_INT16: v = parts_16(CAST_4(float, load_ushort(texel, bytes))); break;
    case CLK_UNORM_SHORT_565:
      v = fields(load_ushort(texel, 2).x, (uint4)(11, 5, 0, 0), (uint4)(31, 63, 31, 1));
      break;
    case CLK_UNORM_SHORT_555:
      v = fields(load_ushort(texel, 2).x, (uint4)(10, 5, 0, 0), (uint4)(31, 31, 31, 1));
      break;
    case CLK_UNORM_INT_101010:
      v = fields(load_uint(texel, 4).x, (uint4)(20, 10, 0, 0), (uint4)(1023, 1023, 1023, 1));
      break;
    case CLK_UNORM_INT_101010_2:
      v = fields(load_uint(texel, 4).x, (uint4)(22, 12, 2, 0), (uint4)(1023, 1023, 1023, 3));
      break;
    case CLK_HALF_FLOAT:
      v = CAST_4(float, as_half4(CAST_4(ushort, load_ushort(texel, bytes))));
      break;
    case CLK_FLOAT: v = as_float4(load_uint(texel, bytes)); break;
    default: break;
  }
  if (isSrgb(order)) v = fromSrgb(v, load_uchar(texel, bytes));
  return as_float4(fromMemory(as_uint4(v), order, as_uint(1.0f)));
}
OVERLOAD float4 weft_load_float(Image image, Texel texel) {
  const uint type = image->channel_type, order = image->channel_order;
  if (order == CLK_RGBA && type == CLK_UNORM_INT8)
    return parts_8(CAST_4(float, *(const __global unaligned_uchar4*)texel));
  if (order == CLK_RGBA && type == CLK_FLOAT) return *(const __global unaligned_float4*)texel;
  return weft_load_any(texel, type, order, image->pixel_bytes);
}

OVERLOAD uint4 weft_load_integer(Image image, Texel texel) {
  const uint bytes = image->pixel_bytes;
  uint4 v = 0;
  switch (image->channel_type) {
    case CLK_SIGNED_INT8: v = load_char(texel, bytes); break;
    case CLK_UNSIGNED_INT8: v = load_uchar(texel, bytes); break;
    case CLK_SIGNED_INT16: v = load_short(texel, bytes); break;
    case CLK_UNSIGNED_INT16: v = load_ushort(texel, bytes); break;
    case CLK_SIGNED_INT32:
    case CLK_UNSIGNED_INT32: v = load_uint(texel, bytes); break;
    default: break;
  }
  return fromMemory(v, image->channel_order, 1);
}

// convert_*_sat_rte(x * scale): NaN gives 0.
INLINE uint4 scaled(float4 x, float low, float high) {
  float4 v = x * high;
  if (low < 0) v = v == v ? v : (float4)0.0f;
  v = __builtin_elementwise_max(v, (float4)low);  // of NaN it is the other one
  v = __builtin_elementwise_min(v, (float4)high);
  // Rounds to an integer, which its last bits then are: GPUs convert at a quarter of the rate.
  const float whole = 0x1.8p23f;
  return as_uint4(v + whole) - as_uint(whole);
}
// A two's complement type has one value more below -1.
INLINE uint4 scaledSigned(float4 x, float high) {
  return scaled(x, -1.0f - high, high);
}

// The value whose linear intensity is nearest, by bisection.
INLINE uint toSrgb(float x) {
  uint low = 0;
  for (uint step = 128; step > 0; step >>= 1) {
    const uint next = low + step;
    low = x >= 0.5f * (srgb_to_linear[next - 1] + srgb_to_linear[next]) ? next : low;
  }
  return low;
}

OVERLOAD void weft_store_any(Texel texel, uint type, uint order, uint bytes, float4 colour) {
  const float4 v = as_float4(toMemory(as_uint4(colour), order));
  uint4 u;
  switch (type) {
    case CLK_SNORM_INT8: store_char(texel, bytes, scaledSigned(v, 127.0f)); break;
    case CLK_SNORM_INT16: store_short(texel, bytes, scaledSigned(v, 32767.0f)); break;
    case CLK_UNORM_INT8:
      u = scaled(v, 0.0f, 255.0f);
      if (isSrgb(order)) u.xyz = (uint3)(toSrgb(v.x), toSrgb(v.y), toSrgb(v.z));
      store_uchar(texel, bytes, u);
      break;
    case CLK_UNORM_INT16: store_ushort(texel, bytes, scaled(v, 0.0f, 65535.0f)); break;
    case CLK_UNORM_SHORT_565:
      u = scaled(v, 0.0f, 31.0f);
      store_ushort(texel, 2, u.x << 11 | scaled(v, 0.0f, 63.0f).y << 5 | u.z);
      break;
    case CLK_UNORM_SHORT_555:
      u = scaled(v, 0.0f, 31.0f);
      store_ushort(texel, 2, u.x << 10 | u.y << 5 | u.z);
      break;
    case CLK_UNORM_INT_101010:
      u = scaled(v, 0.0f, 1023.0f);
      store_uint(texel, 4, u.x << 20 | u.y << 10 | u.z);
      break;
    case CLK_UNORM_INT_101010_2:
      u = scaled(v, 0.0f, 1023.0f);
      store_uint(texel, 4, u.x << 22 | u.y << 12 | u.z << 2 | scaled(v, 0.0f, 3.0f).w);
      break;
    case CLK_HALF_FLOAT:
      store_ushort(texel, bytes, CAST_4(uint, as_ushort4(CAST_4(half, v))));
      break;
    case CLK_FLOAT: store_uint(texel, bytes, as_uint4(v)); break;
    default: break;
  }
}
OVERLOAD void weft_store_float(Image image, Texel texel, float4 colour) {
  const uint type = image->channel_type, order = image->channel_order;
  if (order == CLK_RGBA && type == CLK_FLOAT)
    *(__global unaligned_float4*)texel = colour;
  else if (order == CLK_RGBA && type == CLK_UNORM_INT8)
    *(__global unaligned_uchar4*)texel = CAST_4(uchar, scaled(colour, 0.0f, 255.0f));
  else
    weft_store_any(texel, type, order, image->pixel_bytes, colour);
}

INLINE int4 within(int4 v, int low, int high) {
  v = v > low ? v : (int4)low;
  return v < high ? v : (int4)high;
}

OVERLOAD void weft_store_signed(Image image, Texel texel, int4 colour) {
  const uint bytes = image->pixel_bytes;
  const int4 v = as_int4(toMemory(as_uint4(colour), image->channel_order));
  switch (image->channel_type) {
    case CLK_SIGNED_INT8: store_char(texel, bytes, as_uint4(within(v, -128, 127))); break;
    case CLK_SIGNED_INT16: store_short(texel, bytes, as_uint4(within(v, -32768, 32767))); break;
    case CLK_SIGNED_INT32: store_uint(texel, bytes, as_uint4(v)); break;
    default: break;
  }
}

OVERLOAD void weft_store_unsigned(Image image, Texel texel, uint4 colour) {
  const uint bytes = image->pixel_bytes;
  const uint4 v = toMemory(colour, image->channel_order);
  switch (image->channel_type) {
    case CLK_UNSIGNED_INT8: store_uchar(texel, bytes, v < 255 ? v : (uint4)255); break;
    case CLK_UNSIGNED_INT16: store_ushort(texel, bytes, v < 65535 ? v : (uint4)65535); break;
    case CLK_UNSIGNED_INT32: store_uint(texel, bytes, v); break;
    default: break;
  }
}
