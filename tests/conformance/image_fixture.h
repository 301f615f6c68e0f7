// What the tests of images start from: a 2D image of RGBA bytes, and devices of several memory
// spaces where the environment asks for them.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "tests/conformance/fixture.h"

namespace weft::conformance {

using Triple = std::array<size_t, 3>;
using PixelData = std::vector<unsigned char>;

inline constexpr cl_image_format rgba8{CL_RGBA, CL_UNORM_INT8};
inline constexpr cl_image_format rgba8ui{CL_RGBA, CL_UNSIGNED_INT8};
inline constexpr cl_image_format r32ui{CL_R, CL_UNSIGNED_INT32};

inline cl_image_desc describe(cl_mem_object_type type, size_t width, size_t height = 0,
                              size_t depth_or_layers = 0) {
  cl_image_desc desc{};
  desc.image_type = type;
  desc.image_width = width;
  desc.image_height = height;
  if (type == CL_MEM_OBJECT_IMAGE3D)
    desc.image_depth = depth_or_layers;
  else
    desc.image_array_size = depth_or_layers;
  return desc;
}

// Of rows with so many bytes of pixels. Where a device of the context has textures, they begin at
// multiples of 32.
inline bool isRowPitch(size_t pitch, size_t bytes) {
  constexpr size_t alignment = 32;
  return pitch == bytes || pitch == (bytes + alignment - 1) / alignment * alignment;
}

class ImageTest : public CommandTest {
 protected:
  static constexpr size_t width = 8, height = 5;

  void SetUp() override {
    if (!deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "no images";
    image = makeImage(rgba8ui, describe(CL_MEM_OBJECT_IMAGE2D, width, height));
  }

  OwnedMem makeImage(const cl_image_format& format, const cl_image_desc& desc,
                     cl_mem_flags flags = 0, void* data = nullptr) const {
    cl_int code = 1;
    OwnedMem made(cl.clCreateImage(context, flags, &format, &desc, data, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  cl_int createCode(const cl_image_format* format, const cl_image_desc* desc,
                    cl_mem_flags flags = 0, void* data = nullptr) const {
    cl_int code = 1;
    OwnedMem made(cl.clCreateImage(context, flags, format, desc, data, &code));
    EXPECT_EQ(made == nullptr, code != CL_SUCCESS);
    return code;
  }

  cl_int readCode(cl_mem from, const Triple& origin, const Triple& region, size_t row = 0,
                  size_t slice = 0, void* to = nullptr) const {
    std::vector<unsigned char> sink(1 << 16);
    return cl.clEnqueueReadImage(queue, from, CL_TRUE, origin.data(), region.data(), row, slice,
                                 to ? to : sink.data(), 0, nullptr, nullptr);
  }
  PixelData pixels(cl_mem from, const Triple& origin, const Triple& region) const {
    const auto size = info<size_t>(cl.clGetImageInfo, from, CL_IMAGE_ELEMENT_SIZE);
    PixelData data(region[0] * region[1] * region[2] * size);
    EXPECT_EQ(readCode(from, origin, region, 0, 0, data.data()), CL_SUCCESS);
    return data;
  }
  void put(cl_mem to, const Triple& origin, const Triple& region, const PixelData& data) const {
    ASSERT_EQ(cl.clEnqueueWriteImage(queue, to, CL_TRUE, origin.data(), region.data(), 0, 0,
                                     data.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
  }
  template <class T>
  T imageInfo(cl_mem of, cl_image_info name) const {
    return info<T>(cl.clGetImageInfo, of, name);
  }

  OwnedMem image;
};

}  // namespace weft::conformance
