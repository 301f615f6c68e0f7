// A texture object of software GPUs: what lies in device memory at its handle.
#pragma once

#include "backends/hip/api.h"

namespace weft::software {

struct Texture {
  hip::TextureResource resource;
  hip::TextureSampling sampling;
};

// Of one channel.
inline size_t channelBytes(hip::ArrayFormat format) {
  switch (format) {
    case hip::ArrayFormat::unsigned_int8:
    case hip::ArrayFormat::signed_int8:
      return 1;
    case hip::ArrayFormat::unsigned_int16:
    case hip::ArrayFormat::signed_int16:
    case hip::ArrayFormat::half:
      return 2;
    case hip::ArrayFormat::unsigned_int32:
    case hip::ArrayFormat::signed_int32:
    case hip::ArrayFormat::single:
      return 4;
    case hip::ArrayFormat::none:
      break;
  }
  return 0;
}
inline bool holdsNumbers(hip::ArrayFormat format) {
  return format == hip::ArrayFormat::half || format == hip::ArrayFormat::single;
}

}  // namespace weft::software
