// clCreateImage and its relatives, clGetSupportedImageFormats, clGetImageInfo.
#include <algorithm>

#include "tests/conformance/image_fixture.h"

namespace weft::conformance {
namespace {

class CreateImageTest : public ImageTest {
 protected:
  std::vector<cl_image_format> formats(cl_mem_flags flags, cl_mem_object_type type) const {
    cl_uint count = 0;
    EXPECT_EQ(cl.clGetSupportedImageFormats(context, flags, type, 0, nullptr, &count), CL_SUCCESS);
    std::vector<cl_image_format> list(count);
    EXPECT_EQ(cl.clGetSupportedImageFormats(context, flags, type, count, list.data(), nullptr),
              CL_SUCCESS);
    return list;
  }
  static bool has(const std::vector<cl_image_format>& list, cl_image_format format) {
    return std::any_of(list.begin(), list.end(), [&](const cl_image_format& f) {
      return f.image_channel_order == format.image_channel_order &&
             f.image_channel_data_type == format.image_channel_data_type;
    });
  }
  const cl_image_desc plane = describe(CL_MEM_OBJECT_IMAGE2D, width, height);
};

TEST_F(CreateImageTest, AnswersQueries) {
  const OwnedMem layers = makeImage(rgba8, describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, 6, 4, 3));
  EXPECT_EQ(imageInfo<cl_image_format>(layers, CL_IMAGE_FORMAT).image_channel_order,
            cl_channel_order{CL_RGBA});
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_ELEMENT_SIZE), 4u);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_ROW_PITCH), 24u);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_SLICE_PITCH), 96u);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_WIDTH), 6u);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_HEIGHT), 4u);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_DEPTH), 0u);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_ARRAY_SIZE), 3u);
  EXPECT_EQ(imageInfo<cl_mem>(layers, CL_IMAGE_BUFFER), nullptr);
  EXPECT_EQ(imageInfo<cl_uint>(layers, CL_IMAGE_NUM_MIP_LEVELS), 0u);
  EXPECT_EQ(imageInfo<cl_uint>(layers, CL_IMAGE_NUM_SAMPLES), 0u);
  const auto size = info<size_t>(cl.clGetMemObjectInfo, cl_mem(layers), CL_MEM_SIZE);
  EXPECT_TRUE(size % 12 == 0 && isRowPitch(size / 12, 24)) << size;
  EXPECT_EQ(info<cl_mem_object_type>(cl.clGetMemObjectInfo, cl_mem(layers), CL_MEM_TYPE),
            cl_mem_object_type{CL_MEM_OBJECT_IMAGE2D_ARRAY});
  const OwnedMem line = makeImage(rgba8, describe(CL_MEM_OBJECT_IMAGE1D, 6));
  EXPECT_EQ(imageInfo<size_t>(line, CL_IMAGE_HEIGHT), 0u);
  EXPECT_EQ(imageInfo<size_t>(line, CL_IMAGE_SLICE_PITCH), 0u);
  const OwnedMem volume = makeImage(rgba8, describe(CL_MEM_OBJECT_IMAGE3D, 6, 4, 3));
  EXPECT_EQ(imageInfo<size_t>(volume, CL_IMAGE_DEPTH), 3u);
  EXPECT_EQ(imageInfo<size_t>(volume, CL_IMAGE_ARRAY_SIZE), 0u);
  EXPECT_EQ(cl.clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, nullptr, nullptr), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clGetImageInfo(image, CL_MEM_SIZE, 0, nullptr, nullptr), CL_INVALID_VALUE);
}

TEST_F(CreateImageTest, RefusesBadDescriptors) {
  EXPECT_EQ(createCode(&rgba8, nullptr), CL_INVALID_IMAGE_DESCRIPTOR);
  const auto refused = [&](auto&& change, cl_int expected = CL_INVALID_IMAGE_DESCRIPTOR) {
    cl_image_desc desc = plane;
    change(desc);
    EXPECT_EQ(createCode(&rgba8, &desc), expected);
  };
  refused([](auto& d) { d.image_type = CL_MEM_OBJECT_BUFFER; });
  refused([](auto& d) { d.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER; });
  refused([](auto& d) { d.image_width = 0; });
  refused([](auto& d) { d.image_height = 0; });
  refused([](auto& d) { d.image_type = CL_MEM_OBJECT_IMAGE3D; });
  refused([](auto& d) { d.num_mip_levels = 99; });
  refused([](auto& d) { d.num_samples = 1; });
  refused([](auto& d) { d.image_row_pitch = 64; });  // without a host pointer
  refused([](auto& d) { d.image_width = SIZE_MAX; }, CL_INVALID_IMAGE_SIZE);
  refused([&](auto& d) { d.mem_object = foreign<cl_mem>(cl_context(context)); });
}

TEST_F(CreateImageTest, RefusesBadFormatsAndFlags) {
  const cl_image_format mixed{CL_RGB, CL_FLOAT}, padded{CL_Rx, CL_UNORM_INT8};
  EXPECT_EQ(createCode(nullptr, &plane), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  EXPECT_EQ(createCode(&mixed, &plane), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  EXPECT_EQ(createCode(&padded, &plane), CL_IMAGE_FORMAT_NOT_SUPPORTED);
  EXPECT_EQ(createCode(&padded, &plane, CL_MEM_READ_ONLY), CL_IMAGE_FORMAT_NOT_SUPPORTED);
  EXPECT_EQ(createCode(&rgba8, &plane, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(&rgba8, &plane, CL_MEM_COPY_HOST_PTR), CL_INVALID_HOST_PTR);
  EXPECT_EQ(createCode(&rgba8, &plane, 0, host.data()), CL_INVALID_HOST_PTR);
  cl_int code = 1;
  const cl_mem_properties unknown[] = {1, 2, 0};
  EXPECT_EQ(cl.clCreateImageWithProperties(context, unknown, 0, &rgba8, &plane, nullptr, &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_PROPERTY);
  EXPECT_EQ(cl.clCreateImage(nullptr, 0, &rgba8, &plane, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
}

TEST_F(CreateImageTest, HonoursPitchesOfTheHost) {
  cl_image_desc desc = plane;
  desc.image_row_pitch = 64;
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i % 251);
  for (const cl_mem_flags flag : {CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR}) {
    const OwnedMem made = makeImage(rgba8ui, desc, flag, host.data());
    EXPECT_EQ(imageInfo<size_t>(made, CL_IMAGE_ROW_PITCH), 64u);
    const PixelData got = pixels(made, {1, 2, 0}, {3, 1, 1});
    EXPECT_TRUE(std::equal(got.begin(), got.end(), host.begin() + 2 * 64 + 4));
  }
  desc.image_row_pitch = 30;
  EXPECT_EQ(createCode(&rgba8ui, &desc, CL_MEM_COPY_HOST_PTR, host.data()),
            CL_INVALID_IMAGE_DESCRIPTOR);
  desc.image_row_pitch = 33;
  EXPECT_EQ(createCode(&rgba8ui, &desc, CL_MEM_COPY_HOST_PTR, host.data()),
            CL_INVALID_IMAGE_DESCRIPTOR);
}

TEST_F(CreateImageTest, OldFunctions) {
  cl_int code = 1;
  OwnedMem made(cl.clCreateImage2D(context, 0, &rgba8, 4, 3, 0, nullptr, &code));
  EXPECT_EQ(code, CL_SUCCESS);
  made = OwnedMem(cl.clCreateImage3D(context, 0, &rgba8, 4, 3, 2, 0, 0, nullptr, &code));
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(imageInfo<size_t>(made, CL_IMAGE_DEPTH), 2u);
  EXPECT_EQ(cl.clCreateImage3D(context, 0, &rgba8, 4, 0, 2, 0, 0, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_IMAGE_SIZE);
  EXPECT_EQ(cl.clCreateImage3D(context, CL_MEM_COPY_HOST_PTR, &rgba8, 4, 3, 2, 16, 47, host.data(),
                               &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_IMAGE_SIZE);
  const struct {
    size_t width, row_pitch;
    cl_mem_flags flags;
    void* data;
    cl_int code;
  } cases[] = {
      {0, 0, 0, nullptr, CL_INVALID_IMAGE_SIZE},
      {4, 32, 0, nullptr, CL_INVALID_IMAGE_SIZE},
      {4, 15, CL_MEM_COPY_HOST_PTR, host.data(), CL_INVALID_IMAGE_SIZE},
      {4, 18, CL_MEM_COPY_HOST_PTR, host.data(), CL_INVALID_IMAGE_SIZE},
      {4, 32, CL_MEM_COPY_HOST_PTR, host.data(), CL_SUCCESS},
      {4, 32, CL_MEM_COPY_HOST_PTR, nullptr, CL_INVALID_HOST_PTR},
  };
  for (const auto& [wide, pitch, flags, data, expected] : cases) {
    made = OwnedMem(cl.clCreateImage2D(context, flags, &rgba8, wide, 3, pitch, data, &code));
    EXPECT_EQ(code, expected) << wide << ' ' << pitch;
  }
}

TEST_F(CreateImageTest, SharesABuffer) {
  cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER, 16);
  desc.mem_object = buffer;
  const OwnedMem line = makeImage(r32ui, desc);
  desc = plane;
  desc.mem_object = buffer;
  desc.image_row_pitch = 64;
  const OwnedMem both = makeImage(rgba8ui, desc);
  write(buffer, counting());
  const auto bytes = counting();
  const PixelData first = pixels(line, {2, 0, 0}, {3, 1, 1});
  EXPECT_TRUE(std::equal(first.begin(), first.end(), bytes.begin() + 8));
  const PixelData second = pixels(both, {1, 3, 0}, {2, 1, 1});
  EXPECT_TRUE(std::equal(second.begin(), second.end(), bytes.begin() + 3 * 64 + 4));
  EXPECT_EQ(imageInfo<cl_mem>(both, CL_IMAGE_BUFFER), cl_mem(buffer));
  EXPECT_EQ(info<cl_mem>(cl.clGetMemObjectInfo, cl_mem(both), CL_MEM_ASSOCIATED_MEMOBJECT),
            cl_mem(buffer));
  desc.image_row_pitch = buffer_bytes;
  EXPECT_EQ(createCode(&rgba8ui, &desc), CL_INVALID_IMAGE_DESCRIPTOR);
  desc.image_row_pitch = 64;
  EXPECT_EQ(createCode(&rgba8ui, &desc, CL_MEM_COPY_HOST_PTR, host.data()), CL_INVALID_VALUE);
  desc.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
  EXPECT_EQ(createCode(&rgba8ui, &desc), CL_INVALID_IMAGE_DESCRIPTOR);
}

TEST_F(CreateImageTest, ViewsAnImageAsSrgb) {
  const OwnedMem linear = makeImage(rgba8, plane);
  put(linear, {0, 0, 0}, {width, height, 1}, counting(width * height * 4));
  cl_image_desc desc = plane;
  desc.mem_object = linear;
  const cl_image_format srgb{CL_sRGBA, CL_UNORM_INT8}, swapped{CL_BGRA, CL_UNORM_INT8};
  const OwnedMem view = makeImage(srgb, desc, CL_MEM_READ_ONLY);
  EXPECT_EQ(pixels(view, {0, 0, 0}, {width, height, 1}), counting(width * height * 4));
  EXPECT_EQ(createCode(&swapped, &desc), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  desc.image_width = width - 1;
  EXPECT_EQ(createCode(&srgb, &desc, CL_MEM_READ_ONLY), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
}

TEST_F(CreateImageTest, ListsFormats) {
  const auto read = formats(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D);
  EXPECT_TRUE(has(read, rgba8));
  EXPECT_TRUE(has(read, {CL_DEPTH, CL_FLOAT}));
  EXPECT_TRUE(has(read, {CL_sRGBA, CL_UNORM_INT8}));
  EXPECT_TRUE(has(formats(CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D), {CL_sRGBA, CL_UNORM_INT8}));
  EXPECT_FALSE(
      has(formats(CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_OBJECT_IMAGE2D), {CL_sRGBA, CL_UNORM_INT8}));
  EXPECT_FALSE(has(formats(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE3D), {CL_DEPTH, CL_FLOAT}));
  EXPECT_TRUE(has(formats(CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_OBJECT_IMAGE3D), r32ui));
  for (const cl_image_format& format : read)
    EXPECT_EQ(createCode(&format, &plane, CL_MEM_READ_ONLY), CL_SUCCESS);
  const auto ask = [&](cl_context in, cl_mem_flags flags, cl_mem_object_type type, cl_uint n) {
    cl_image_format one;
    return cl.clGetSupportedImageFormats(in, flags, type, n, &one, nullptr);
  };
  EXPECT_EQ(ask(nullptr, 0, CL_MEM_OBJECT_IMAGE2D, 1), CL_INVALID_CONTEXT);
  EXPECT_EQ(ask(context, cl_mem_flags{1} << 40, CL_MEM_OBJECT_IMAGE2D, 1), CL_INVALID_VALUE);
  // No image can be created with these, so there is no format for one.
  EXPECT_EQ(ask(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D, 1),
            CL_INVALID_VALUE);
  EXPECT_EQ(ask(context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, CL_MEM_OBJECT_IMAGE2D, 1),
            CL_INVALID_VALUE);
  EXPECT_EQ(
      ask(context, CL_MEM_KERNEL_READ_AND_WRITE | CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 1),
      CL_SUCCESS);
  EXPECT_EQ(ask(context, 0, CL_MEM_OBJECT_BUFFER, 1), CL_INVALID_VALUE);
  EXPECT_EQ(ask(context, 0, CL_MEM_OBJECT_IMAGE2D, 0), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
