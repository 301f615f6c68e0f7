// clEnqueueReadImage, clEnqueueWriteImage, clEnqueueFillImage, clEnqueueCopyImage,
// clEnqueueCopyImageToBuffer, clEnqueueCopyBufferToImage.
#include "tests/conformance/image_fixture.h"

namespace weft::conformance {
namespace {

class ImageTransferTest : public ImageTest {
 protected:
  static constexpr Triple zero{0, 0, 0}, all{width, height, 1};

  cl_int copy(cl_mem from, cl_mem to, const Triple& at, const Triple& target,
              const Triple& region) const {
    return cl.clEnqueueCopyImage(queue, from, to, at.data(), target.data(), region.data(), 0,
                                 nullptr, nullptr);
  }
  cl_int fill(cl_mem to, const void* colour, const Triple& at, const Triple& region) const {
    return cl.clEnqueueFillImage(queue, to, colour, at.data(), region.data(), 0, nullptr, nullptr);
  }
  // One pixel of a grid of rows of `width` pixels of four bytes.
  static size_t at(size_t x, size_t y) { return (y * width + x) * 4; }
};

TEST_F(ImageTransferTest, WritesAndReadsBoxes) {
  put(image, zero, all, PixelData(width * height * 4, 1));
  put(image, {2, 1, 0}, {3, 2, 1}, counting(24));
  EXPECT_EQ(pixels(image, {2, 1, 0}, {3, 2, 1}), counting(24));
  PixelData expected(width * height * 4, 1);
  for (size_t row = 0; row < 2; ++row)
    std::memcpy(&expected[at(2, 1 + row)], counting(24).data() + row * 12, 12);
  EXPECT_EQ(pixels(image, zero, all), expected);
}

TEST_F(ImageTransferTest, HonoursPitches) {
  const OwnedMem volume = makeImage(r32ui, describe(CL_MEM_OBJECT_IMAGE3D, 4, 3, 2));
  const auto source = counting(4 * 3 * 2 * 4);
  put(volume, zero, {4, 3, 2}, source);
  std::vector<unsigned char> to(400, 0xee);
  ASSERT_EQ(readCode(volume, {1, 1, 0}, {2, 2, 2}, 20, 100, to.data()), CL_SUCCESS);
  std::vector<unsigned char> expected(400, 0xee);
  for (size_t z = 0; z < 2; ++z)
    for (size_t y = 0; y < 2; ++y)
      std::memcpy(&expected[z * 100 + y * 20], &source[((z * 3 + y + 1) * 4 + 1) * 4], 8);
  EXPECT_EQ(to, expected);
}

TEST_F(ImageTransferTest, LayersOfALineHaveTheSlicePitch) {
  const OwnedMem lines = makeImage(r32ui, describe(CL_MEM_OBJECT_IMAGE1D_ARRAY, 4, 0, 3));
  const auto source = counting(48);
  put(lines, zero, {4, 3, 1}, source);
  std::vector<unsigned char> to(100, 0xee);
  ASSERT_EQ(readCode(lines, {1, 1, 0}, {2, 2, 1}, 16, 40, to.data()), CL_SUCCESS);
  std::vector<unsigned char> expected(100, 0xee);
  for (size_t layer = 0; layer < 2; ++layer)
    std::memcpy(&expected[layer * 40], &source[(layer + 1) * 16 + 4], 8);
  EXPECT_EQ(to, expected);
}

TEST_F(ImageTransferTest, RefusesBadBoxesAndPitches) {
  EXPECT_EQ(readCode(image, zero, {width + 1, 1, 1}), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, {0, height, 0}, {1, 1, 1}), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, {0, 0, 1}, {1, 1, 1}), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, zero, {1, 1, 2}), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, zero, {0, 1, 1}), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, {SIZE_MAX, 0, 0}, {2, 1, 1}), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, zero, {2, 2, 1}, 7), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, zero, {2, 2, 1}, 8, 16), CL_INVALID_VALUE);
  EXPECT_EQ(readCode(image, zero, {2, 2, 1}, SIZE_MAX), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueReadImage(queue, image, CL_TRUE, nullptr, all.data(), 0, 0, host.data(), 0,
                                  nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueReadImage(queue, image, CL_TRUE, zero.data(), all.data(), 0, 0, nullptr, 0,
                                  nullptr, nullptr),
            CL_INVALID_VALUE);
}

TEST_F(ImageTransferTest, RefusesOtherObjects) {
  const OwnedQueue elsewhere = makeQueue(other_context);
  EXPECT_EQ(readCode(buffer, zero, all), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(readCode(nullptr, zero, all), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clEnqueueReadImage(elsewhere, image, CL_TRUE, zero.data(), all.data(), 0, 0,
                                  host.data(), 0, nullptr, nullptr),
            CL_INVALID_CONTEXT);
  const OwnedMem hidden =
      makeImage(rgba8ui, describe(CL_MEM_OBJECT_IMAGE2D, width, height), CL_MEM_HOST_NO_ACCESS);
  EXPECT_EQ(readCode(hidden, zero, all), CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clEnqueueWriteImage(queue, hidden, CL_TRUE, zero.data(), all.data(), 0, 0,
                                   host.data(), 0, nullptr, nullptr),
            CL_INVALID_OPERATION);
}

TEST_F(ImageTransferTest, FillsBoxes) {
  put(image, zero, all, counting(width * height * 4));
  const cl_uint colour[4] = {1, 2, 300, 4};
  ASSERT_EQ(fill(image, colour, {1, 2, 0}, {3, 2, 1}), CL_SUCCESS);
  PixelData expected = counting(width * height * 4);
  for (size_t y = 2; y < 4; ++y)
    for (size_t x = 1; x < 4; ++x) std::memcpy(&expected[at(x, y)], "\x01\x02\xff\x04", 4);
  EXPECT_EQ(pixels(image, zero, all), expected);
  ASSERT_EQ(fill(image, colour, zero, all), CL_SUCCESS);
  EXPECT_EQ(pixels(image, {width - 1, height - 1, 0}, {1, 1, 1}), (PixelData{1, 2, 255, 4}));
  EXPECT_EQ(fill(image, nullptr, zero, all), CL_INVALID_VALUE);
  EXPECT_EQ(fill(image, colour, zero, {width, height + 1, 1}), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, colour, zero, all), CL_INVALID_MEM_OBJECT);
}

TEST_F(ImageTransferTest, CopiesBetweenShapes) {
  const OwnedMem layers = makeImage(rgba8ui, describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, width, 4, 3));
  put(image, zero, all, counting(width * height * 4));
  ASSERT_EQ(copy(image, layers, {2, 1, 0}, {1, 0, 2}, {3, 2, 1}), CL_SUCCESS);
  EXPECT_EQ(pixels(layers, {1, 0, 2}, {3, 2, 1}), pixels(image, {2, 1, 0}, {3, 2, 1}));
  const OwnedMem floats =
      makeImage({CL_R, CL_FLOAT}, describe(CL_MEM_OBJECT_IMAGE2D, width, height));
  EXPECT_EQ(copy(image, floats, zero, zero, {1, 1, 1}), CL_IMAGE_FORMAT_MISMATCH);
  EXPECT_EQ(copy(image, layers, zero, {0, 3, 0}, {1, 2, 1}), CL_INVALID_VALUE);
  EXPECT_EQ(copy(image, buffer, zero, zero, {1, 1, 1}), CL_INVALID_MEM_OBJECT);
}

// The rows of a view of a buffer may have others of that buffer between them.
TEST_F(ImageTransferTest, CopiesBetweenTheRowsOfAView) {
  cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE2D, 3, 4);
  desc.image_row_pitch = 256;
  desc.mem_object = buffer;
  const OwnedMem view = makeImage(rgba8ui, desc);
  const Triple region{3, 4, 1};
  write(buffer, counting());
  auto expected = counting();
  const auto from = [&](size_t offset) {
    return cl.clEnqueueCopyBufferToImage(queue, buffer, view, offset, zero.data(), region.data(), 0,
                                         nullptr, nullptr);
  };
  const auto to = [&](size_t offset) {
    return cl.clEnqueueCopyImageToBuffer(queue, view, buffer, zero.data(), region.data(), offset, 0,
                                         nullptr, nullptr);
  };
  ASSERT_EQ(from(100), CL_SUCCESS);
  ASSERT_EQ(to(300), CL_SUCCESS);
  for (size_t i = 0; i < 48; ++i)
    expected[300 + i] = expected[i / 12 * 256 + i % 12] = expected[100 + i];
  EXPECT_EQ(contents(buffer), expected);
  EXPECT_EQ(from(250), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(to(250), CL_MEM_COPY_OVERLAP);
}

TEST_F(ImageTransferTest, CopiesWithinAnImageUnlessBoxesMeet) {
  put(image, zero, all, counting(width * height * 4));
  ASSERT_EQ(copy(image, image, zero, {4, 1, 0}, {4, 3, 1}), CL_SUCCESS);
  EXPECT_EQ(pixels(image, {4, 1, 0}, {4, 3, 1}), pixels(image, zero, {4, 3, 1}));
  EXPECT_EQ(copy(image, image, zero, {3, 2, 0}, {4, 3, 1}), CL_MEM_COPY_OVERLAP);
}

TEST_F(ImageTransferTest, CopiesToAndFromBuffers) {
  put(image, zero, all, counting(width * height * 4));
  const Triple origin{1, 1, 0}, region{2, 3, 1};
  ASSERT_EQ(cl.clEnqueueCopyImageToBuffer(queue, image, buffer, origin.data(), region.data(), 64, 0,
                                          nullptr, nullptr),
            CL_SUCCESS);
  const PixelData expected = pixels(image, origin, region);
  const auto bytes = contents(buffer);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes.begin() + 64));
  const Triple target{5, 0, 0};
  ASSERT_EQ(cl.clEnqueueCopyBufferToImage(queue, buffer, image, 64, target.data(), region.data(), 0,
                                          nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(pixels(image, target, region), expected);
  EXPECT_EQ(cl.clEnqueueCopyImageToBuffer(queue, image, buffer, origin.data(), region.data(),
                                          buffer_bytes - 23, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueCopyBufferToImage(queue, image, image, 0, target.data(), region.data(), 0,
                                          nullptr, nullptr),
            CL_INVALID_MEM_OBJECT);
}

TEST_F(ImageTransferTest, EventsSayWhatTheyWere) {
  OwnedEvent event;
  const cl_uint colour[4] = {};
  ASSERT_EQ(
      cl.clEnqueueFillImage(queue, image, colour, zero.data(), all.data(), 0, nullptr, event.out()),
      CL_SUCCESS);
  EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_TYPE),
            cl_command_type{CL_COMMAND_FILL_IMAGE});
  ASSERT_EQ(cl.clEnqueueReadImage(queue, image, CL_TRUE, zero.data(), all.data(), 0, 0, host.data(),
                                  0, nullptr, event.out()),
            CL_SUCCESS);
  EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_TYPE),
            cl_command_type{CL_COMMAND_READ_IMAGE});
}

}  // namespace
}  // namespace weft::conformance
