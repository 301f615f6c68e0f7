// clEnqueueMapImage, and unmapping and migrating images.
#include "tests/conformance/image_fixture.h"

namespace weft::conformance {
namespace {

class ImageMapTest : public ImageTest {
 protected:
  static constexpr Triple zero{0, 0, 0}, all{width, height, 1};

  unsigned char* map(cl_mem m, cl_map_flags flags, const Triple& origin, const Triple& region,
                     cl_int* code) {
    row = slice = 99;
    return static_cast<unsigned char*>(cl.clEnqueueMapImage(queue, m, CL_TRUE, flags, origin.data(),
                                                            region.data(), &row, &slice, 0, nullptr,
                                                            nullptr, code));
  }
  cl_int mapCode(cl_mem m, cl_map_flags flags, const Triple& origin, const Triple& region) {
    cl_int code = 1;
    void* pointer = map(m, flags, origin, region, &code);
    EXPECT_EQ(pointer != nullptr, code == CL_SUCCESS);
    if (pointer) {
      EXPECT_EQ(unmap(m, pointer), CL_SUCCESS);
    }
    return code;
  }
  cl_int unmap(cl_mem m, void* pointer) {
    return cl.clEnqueueUnmapMemObject(queue, m, pointer, 0, nullptr, nullptr);
  }
  size_t row = 0, slice = 0;
};

TEST_F(ImageMapTest, ReadsAndWrites) {
  put(image, zero, all, counting(width * height * 4));
  cl_int code = 1;
  unsigned char* at = map(image, CL_MAP_READ | CL_MAP_WRITE, {2, 1, 0}, {3, 2, 1}, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(slice, 0u);
  EXPECT_EQ(std::memcmp(at + row, counting().data() + (2 * width + 2) * 4, 12), 0);
  std::memset(at, 7, 4);
  ASSERT_EQ(unmap(image, at), CL_SUCCESS);
  auto expected = counting(width * height * 4);
  std::fill_n(expected.begin() + (width + 2) * 4, 4, 7);
  EXPECT_EQ(pixels(image, zero, all), expected);
}

TEST_F(ImageMapTest, InvalidatingABoxKeepsTheRest) {
  put(image, zero, all, counting(width * height * 4));
  cl_int code = 1;
  unsigned char* at = map(image, CL_MAP_WRITE_INVALIDATE_REGION, {1, 1, 0}, {2, 2, 1}, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  auto expected = counting(width * height * 4);
  for (size_t y = 0; y < 2; ++y) {
    std::memset(at + y * row, 9, 8);
    std::fill_n(expected.begin() + ((y + 1) * width + 1) * 4, 8, 9);
  }
  ASSERT_EQ(unmap(image, at), CL_SUCCESS);
  EXPECT_EQ(pixels(image, zero, all), expected);
}

TEST_F(ImageMapTest, BoxesForWritingStandSideBySide) {
  cl_int code = 1;
  unsigned char* left = map(image, CL_MAP_WRITE, zero, {2, height, 1}, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(mapCode(image, CL_MAP_WRITE, {1, 1, 0}, {2, 1, 1}), CL_INVALID_OPERATION);
  EXPECT_EQ(mapCode(image, CL_MAP_WRITE_INVALIDATE_REGION, {0, height - 1, 0}, {width, 1, 1}),
            CL_INVALID_OPERATION);
  EXPECT_EQ(mapCode(image, CL_MAP_READ, {1, 1, 0}, {2, 1, 1}), CL_SUCCESS);
  EXPECT_EQ(mapCode(image, CL_MAP_WRITE, {2, 0, 0}, {2, height, 1}), CL_SUCCESS);
  ASSERT_EQ(unmap(image, left), CL_SUCCESS);
  EXPECT_EQ(mapCode(image, CL_MAP_WRITE, {1, 1, 0}, {2, 1, 1}), CL_SUCCESS);
}

TEST_F(ImageMapTest, AFailedBlockingMapLeavesNothing) {
  const OwnedEvent gate = makeUserEvent();
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -5), CL_SUCCESS);
  const cl_event waits = gate;
  cl_int code = 1;
  EXPECT_EQ(cl.clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, zero.data(), all.data(), &row,
                                 &slice, 1, &waits, nullptr, &code),
            nullptr);
  EXPECT_EQ(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(info<cl_uint>(cl.clGetMemObjectInfo, cl_mem(image), CL_MEM_MAP_COUNT), 0u);
  EXPECT_EQ(mapCode(image, CL_MAP_WRITE, zero, all), CL_SUCCESS);
}

TEST_F(ImageMapTest, SaysPitches) {
  const OwnedMem layers = makeImage(r32ui, describe(CL_MEM_OBJECT_IMAGE1D_ARRAY, 6, 0, 3));
  EXPECT_EQ(mapCode(layers, CL_MAP_READ, {1, 1, 0}, {2, 2, 1}), CL_SUCCESS);
  EXPECT_TRUE(isRowPitch(row, 24)) << row;
  EXPECT_EQ(slice, row);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_ROW_PITCH), 24u);
  EXPECT_EQ(imageInfo<size_t>(layers, CL_IMAGE_SLICE_PITCH), 24u);
  cl_int code = 1;
  const Triple one{1, 1, 1};
  EXPECT_EQ(cl.clEnqueueMapImage(queue, layers, CL_TRUE, CL_MAP_READ, zero.data(), one.data(), &row,
                                 nullptr, 0, nullptr, nullptr, &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero.data(), one.data(),
                                 nullptr, &slice, 0, nullptr, nullptr, &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
}

TEST_F(ImageMapTest, UsesTheApplicationsMemory) {
  cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE2D, width, height);
  desc.image_row_pitch = 48;
  const OwnedMem made = makeImage(rgba8ui, desc, CL_MEM_USE_HOST_PTR, host.data());
  cl_int code = 1;
  unsigned char* at = map(made, CL_MAP_READ, {1, 2, 0}, {1, 1, 1}, &code);
  EXPECT_EQ(at, host.data() + 2 * 48 + 4);
  EXPECT_EQ(row, 48u);
  EXPECT_EQ(unmap(made, at), CL_SUCCESS);
}

TEST_F(ImageMapTest, RefusesBadArguments) {
  EXPECT_EQ(mapCode(buffer, CL_MAP_READ, zero, all), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(mapCode(image, CL_MAP_READ, zero, {width, height, 2}), CL_INVALID_VALUE);
  EXPECT_EQ(mapCode(image, 1u << 20, zero, all), CL_INVALID_VALUE);
  const OwnedMem hidden =
      makeImage(rgba8ui, describe(CL_MEM_OBJECT_IMAGE2D, width, height), CL_MEM_HOST_NO_ACCESS);
  EXPECT_EQ(mapCode(hidden, CL_MAP_READ, zero, all), CL_INVALID_OPERATION);
  cl_int code = 1;
  EXPECT_EQ(
      cl.clEnqueueMapBuffer(queue, image, CL_TRUE, CL_MAP_READ, 0, 1, 0, nullptr, nullptr, &code),
      nullptr);
  EXPECT_EQ(code, CL_INVALID_MEM_OBJECT);
}

TEST_F(ImageMapTest, Migrates) {
  put(image, zero, all, counting(width * height * 4));
  const cl_mem handle = image;
  for (const cl_mem_migration_flags flags : {0, CL_MIGRATE_MEM_OBJECT_HOST})
    EXPECT_EQ(cl.clEnqueueMigrateMemObjects(queue, 1, &handle, flags, 0, nullptr, nullptr),
              CL_SUCCESS);
  EXPECT_EQ(pixels(image, zero, all), counting(width * height * 4));
}

}  // namespace
}  // namespace weft::conformance
