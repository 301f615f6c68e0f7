// cl_khr_mipmap_image and cl_khr_mipmap_image_writes: levels of images in commands and in kernels.
#include <CL/cl_ext.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tests/conformance/image_fixture.h"
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

using Four = std::array<size_t, 4>;

constexpr cl_image_format rgba_float{CL_RGBA, CL_FLOAT};

class MipMaps : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    size_t size = 0;
    cl.clGetDeviceInfo(testDevice(), CL_DEVICE_EXTENSIONS, 0, nullptr, &size);
    std::string text(size, '\0');
    cl.clGetDeviceInfo(testDevice(), CL_DEVICE_EXTENSIONS, size, text.data(), nullptr);
    if (text.find("cl_khr_mipmap_image_writes") == std::string::npos)
      GTEST_SKIP() << "the device has no mip-mapped images";
  }

  cl_int createCode(cl_image_desc desc, cl_uint levels, const cl_image_format& format = rgba8ui,
                    cl_mem_flags flags = 0, void* data = nullptr) const {
    desc.num_mip_levels = levels;
    cl_int code = 1;
    const OwnedMem made(cl.clCreateImage(context, flags, &format, &desc, data, &code));
    EXPECT_EQ(made == nullptr, code != CL_SUCCESS);
    return code;
  }
  OwnedMem make(cl_image_desc desc, cl_uint levels, const cl_image_format& format = rgba8ui) const {
    desc.num_mip_levels = levels;
    cl_int code = 1;
    OwnedMem made(cl.clCreateImage(context, 0, &format, &desc, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  cl_int writeCode(cl_mem image, const Four& origin, const Triple& region, const void* data) const {
    return cl.clEnqueueWriteImage(queue, image, CL_TRUE, origin.data(), region.data(), 0, 0, data,
                                  0, nullptr, nullptr);
  }
  std::vector<cl_uchar4> read(cl_mem image, const Four& origin, const Triple& region) const {
    std::vector<cl_uchar4> data(region[0] * region[1] * region[2]);
    EXPECT_EQ(cl.clEnqueueReadImage(queue, image, CL_TRUE, origin.data(), region.data(), 0, 0,
                                    data.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return data;
  }
  OwnedSampler sampler(const std::vector<cl_sampler_properties>& properties) const {
    cl_int code = 1;
    OwnedSampler made(cl.clCreateSamplerWithProperties(context, properties.data(), &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
};

// Values that say where they are.
std::vector<cl_uchar4> marked(size_t count, size_t level) {
  std::vector<cl_uchar4> data(count);
  for (size_t i = 0; i < count; ++i)
    data[i] = {{cl_uchar(i), cl_uchar(i >> 8), cl_uchar(level), 7}};
  return data;
}

bool same(const std::vector<cl_uchar4>& a, const std::vector<cl_uchar4>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// A kind of image, which coordinate of an origin is its level, and the sizes of its levels.
struct Kind {
  cl_image_desc desc;
  size_t place;
  std::vector<Triple> sizes;
  const char* type;
  const char* coordinate;  // of work-item `at`
};
const Kind kinds[] = {
    {describe(CL_MEM_OBJECT_IMAGE1D, 13),
     1,
     {{13, 1, 1}, {6, 1, 1}, {3, 1, 1}, {1, 1, 1}},
     "image1d_t",
     "at.x"},
    {describe(CL_MEM_OBJECT_IMAGE1D_ARRAY, 5, 0, 3),
     2,
     {{5, 3, 1}, {2, 3, 1}, {1, 3, 1}},
     "image1d_array_t",
     "at.xy"},
    {describe(CL_MEM_OBJECT_IMAGE2D, 7, 12),
     2,
     {{7, 12, 1}, {3, 6, 1}, {1, 3, 1}, {1, 1, 1}},
     "image2d_t",
     "at.xy"},
    {describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, 6, 4, 3),
     3,
     {{6, 4, 3}, {3, 2, 3}, {1, 1, 3}},
     "image2d_array_t",
     "(at.x, at.y, at.z, 0)"},
    {describe(CL_MEM_OBJECT_IMAGE3D, 9, 4, 5),
     3,
     {{9, 4, 5}, {4, 2, 2}, {2, 1, 1}, {1, 1, 1}},
     "image3d_t",
     "(at.x, at.y, at.z, 0)"},
};

size_t countOf(const Triple& size) { return size[0] * size[1] * size[2]; }

Four at(const Kind& kind, size_t level) {
  Four origin{};
  origin[kind.place] = level;
  return origin;
}

TEST_F(MipMaps, LevelsAreAreasOfTheirOwn) {
  for (const Kind& kind : kinds) {
    const auto levels = static_cast<cl_uint>(kind.sizes.size());
    const OwnedMem image = make(kind.desc, levels);
    EXPECT_EQ(info<cl_uint>(cl.clGetImageInfo, cl_mem(image), CL_IMAGE_NUM_MIP_LEVELS), levels);
    EXPECT_EQ(info<size_t>(cl.clGetImageInfo, cl_mem(image), CL_IMAGE_WIDTH), kind.sizes[0][0]);
    for (size_t level = levels; level-- > 0;) {
      const Triple& size = kind.sizes[level];
      EXPECT_EQ(writeCode(image, at(kind, level), size, marked(countOf(size), level).data()),
                CL_SUCCESS)
          << kind.type << " " << level;
      EXPECT_EQ(writeCode(image, at(kind, level), {size[0] + 1, size[1], size[2]}, kinds),
                CL_INVALID_VALUE)
          << "beyond level " << level;
    }
    for (size_t level = 0; level < levels; ++level)
      EXPECT_TRUE(same(read(image, at(kind, level), kind.sizes[level]),
                       marked(countOf(kind.sizes[level]), level)))
          << kind.type << " " << level;
    EXPECT_EQ(writeCode(image, at(kind, levels), {1, 1, 1}, kinds), CL_INVALID_MIP_LEVEL);
  }
}

TEST_F(MipMaps, RefusedDescriptors) {
  const cl_image_desc plane = describe(CL_MEM_OBJECT_IMAGE2D, 8, 5);
  EXPECT_EQ(createCode(plane, 1), CL_SUCCESS);
  EXPECT_EQ(createCode(plane, 4), CL_SUCCESS);
  EXPECT_EQ(createCode(plane, 5), CL_SUCCESS) << "the last two are of one pixel";
  EXPECT_EQ(createCode(plane, 17), CL_INVALID_IMAGE_DESCRIPTOR);
  std::vector<cl_uchar4> pixels(100);
  EXPECT_EQ(createCode(plane, 2, rgba8ui, CL_MEM_COPY_HOST_PTR, pixels.data()),
            CL_INVALID_IMAGE_DESCRIPTOR);
  const OwnedMem buffer = makeBuffer(0, 4096, nullptr);
  cl_image_desc line = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER, 64);
  line.mem_object = buffer;
  EXPECT_EQ(createCode(line, 1), CL_SUCCESS);
  EXPECT_EQ(createCode(line, 2), CL_INVALID_IMAGE_DESCRIPTOR);
  EXPECT_EQ(info<cl_uint>(cl.clGetImageInfo, cl_mem(make(plane, 0)), CL_IMAGE_NUM_MIP_LEVELS), 0u);
}

TEST_F(MipMaps, CopiesFillsAndMaps) {
  const Kind& kind = kinds[2];
  const OwnedMem image = make(kind.desc, 4);
  const auto whole = marked(7 * 12, 0);
  ASSERT_EQ(writeCode(image, at(kind, 0), kind.sizes[0], whole.data()), CL_SUCCESS);
  // From the first level to the second, and on to a buffer.
  const Four from{2, 3, 0}, to{1, 2, 1};
  const Triple part{2, 3, 1};
  ASSERT_EQ(cl.clEnqueueCopyImage(queue, image, image, from.data(), to.data(), part.data(), 0,
                                  nullptr, nullptr),
            CL_SUCCESS);
  const Four again{1, 2, 0};
  EXPECT_EQ(cl.clEnqueueCopyImage(queue, image, image, from.data(), again.data(), part.data(), 0,
                                  nullptr, nullptr),
            CL_MEM_COPY_OVERLAP);
  const OwnedMem buffer = upload(std::vector<cl_uchar4>(6));
  ASSERT_EQ(cl.clEnqueueCopyImageToBuffer(queue, image, buffer, to.data(), part.data(), 0, 0,
                                          nullptr, nullptr),
            CL_SUCCESS);
  std::vector<cl_uchar4> expected;
  for (size_t y = 3; y < 6; ++y)
    for (size_t x = 2; x < 4; ++x) expected.push_back(whole[y * 7 + x]);
  EXPECT_TRUE(same(download<cl_uchar4>(buffer), expected));
  // A fill of the third level, and the buffer's first pixel into the last.
  const cl_uint colour[] = {9, 8, 7, 6};
  const Triple column{1, 3, 1}, one{1, 1, 1};
  ASSERT_EQ(cl.clEnqueueFillImage(queue, image, colour, at(kind, 2).data(), column.data(), 0,
                                  nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(cl.clEnqueueCopyBufferToImage(queue, buffer, image, 0, at(kind, 3).data(), one.data(),
                                          0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_TRUE(
      same(read(image, at(kind, 2), column), std::vector<cl_uchar4>(3, cl_uchar4{{9, 8, 7, 6}})));
  EXPECT_TRUE(same(read(image, at(kind, 3), one), {expected[0]}));
  size_t row_pitch = 0, slice_pitch = 0;
  cl_int code = 1;
  auto* mapped = static_cast<cl_uchar4*>(
      cl.clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, to.data(),
                           part.data(), &row_pitch, &slice_pitch, 0, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(row_pitch, 3 * sizeof(cl_uchar4));
  EXPECT_EQ(std::memcmp(mapped + 3, &expected[2], sizeof(cl_uchar4)), 0) << "the second row";
  mapped[0].s[0] = 200;
  ASSERT_EQ(cl.clEnqueueUnmapMemObject(queue, image, mapped, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(read(image, to, one)[0].s[0], 200);
  EXPECT_TRUE(same(read(image, at(kind, 0), kind.sizes[0]), whole)) << "other levels stay";
}

TEST_F(MipMaps, KernelsReadAndWriteLevels) {
  for (const Kind& kind : kinds) {
    const bool layers = std::strstr(kind.type, "array") != nullptr;
    const std::string coordinate = kind.coordinate;
    const size_t dimensions = coordinate == "at.x" ? 1 : coordinate == "at.xy" ? 2 : 4;
    const auto vector = [&](const char* scalar) {
      return dimensions == 1 ? std::string(scalar) : scalar + std::to_string(dimensions);
    };
    const std::string cast =
        "(" + vector("int") + ")(" +
        (dimensions == 4 ? coordinate.substr(1, coordinate.size() - 2) : coordinate) + ")";
    const OwnedProgram program = built(
        "kernel void copy(read_only " + std::string(kind.type) + " from, write_only " + kind.type +
            " to, sampler_t sampler, int level, global int* counts) {\n"
            "  int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n  " +
            vector("int") + " place = " + cast + ";\n  uint4 v = read_imageui(from, sampler, " +
            "convert_" + vector("float") + "(place)" + (layers ? "" : " + 0.5f") +
            ", (float)level);\n" +
            "  v.w += 1; write_imageui(to, place, level, v);\n"
            "  if (level == 0 && !any(at)) { counts[0] = get_image_num_mip_levels(from);\n"
            "    counts[1] = get_image_num_mip_levels(to); } }\n",
        "-cl-std=CL3.0");
    const OwnedKernel copy = kernel(program, "copy");
    const auto levels = static_cast<cl_uint>(kind.sizes.size());
    const OwnedMem from = make(kind.desc, levels), to = make(kind.desc, levels);
    const OwnedMem counts = upload(std::vector<cl_int>(2));
    const OwnedSampler plain =
        sampler({CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_FILTER_MODE, CL_FILTER_NEAREST,
                 CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_CLAMP_TO_EDGE, 0});
    for (cl_uint level = 0; level < levels; ++level) {
      const Triple& size = kind.sizes[level];
      ASSERT_EQ(writeCode(from, at(kind, level), size, marked(countOf(size), level).data()),
                CL_SUCCESS);
      set(copy, from, to, cl_sampler(plain), cl_int(level), counts);
      run(copy, {{size[0], size[1], size[2]}});
    }
    for (cl_uint level = 0; level < levels; ++level) {
      auto expected = marked(countOf(kind.sizes[level]), level);
      for (cl_uchar4& pixel : expected) pixel.s[3] = 8;
      EXPECT_TRUE(same(read(to, at(kind, level), kind.sizes[level]), expected))
          << kind.type << " " << level;
    }
    EXPECT_EQ(download<cl_int>(counts), (std::vector<cl_int>{cl_int(levels), cl_int(levels)}));
  }
}

// Of an image each of whose levels has its number as colour.
class LevelsOfDetail : public MipMaps {
 protected:
  void SetUp() override {
    MipMaps::SetUp();
    if (IsSkipped()) return;
    image = make(describe(CL_MEM_OBJECT_IMAGE2D, 16, 8), 5, rgba_float);
    for (size_t level = 0; level < 5; ++level) {
      const Four origin{0, 0, level};
      const Triple region{16u >> level, std::max<size_t>(8u >> level, 1), 1};
      const cl_float colour[] = {float(level), 0, 0, 1};
      ASSERT_EQ(cl.clEnqueueFillImage(queue, image, colour, origin.data(), region.data(), 0,
                                      nullptr, nullptr),
                CL_SUCCESS);
    }
    program = built(
        "constant sampler_t own = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT |\n"
        "  CLK_FILTER_NEAREST;\n"
        "kernel void detail(read_only image2d_t i, sampler_t s, global float* data) {\n"
        "  size_t n = get_global_id(0);\n"
        "  data[n] = read_imagef(i, s, (float2)(0.3f), data[n]).x; }\n"
        "kernel void of_source(read_only image2d_t i, global float* data) {\n"
        "  size_t n = get_global_id(0);\n"
        "  data[n] = read_imagef(i, own, (float2)(0.3f), data[n]).x; }\n"
        "kernel void gradient(read_only image2d_t i, sampler_t s, global float* data) {\n"
        "  size_t n = get_global_id(0);\n"
        "  data[n] = read_imagef(i, s, (float2)(0.3f), (float2)(data[n], 0),\n"
        "                        (float2)(0, 0.125f)).x; }\n",
        "-cl-std=CL3.0");
  }
  std::vector<float> levels(const char* name, std::vector<float> details,
                            const std::vector<cl_sampler_properties>& properties) {
    const OwnedKernel k = kernel(program, name);
    const OwnedMem data = upload(details);
    const OwnedSampler made = sampler(properties);
    if (std::strcmp(name, "of_source") == 0)
      set(k, image, data);
    else
      set(k, image, cl_sampler(made), data);
    run(k, {{details.size()}});
    return download<float>(data);
  }

  OwnedMem image;
  OwnedProgram program;
};

cl_sampler_properties bits(float value) { return std::bit_cast<cl_uint>(value); }

TEST_F(LevelsOfDetail, ChooseTheNearestLevel) {
  const std::vector<float> details = {-3, 0, 0.4f, 0.6f, 1, 2.75f, 4, 9, INFINITY};
  const std::vector<float> expected = {0, 0, 0, 1, 1, 3, 4, 4, 4};
  EXPECT_EQ(levels("detail", details, {0}), expected);
  EXPECT_EQ(levels("of_source", details, {0}), expected);
}

TEST_F(LevelsOfDetail, MixTwoLevels) {
  const std::vector<float> details = {-3, 0, 0.25f, 1, 2.75f, 3.5f, 9};
  EXPECT_EQ(levels("detail", details, {CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_FILTER_LINEAR, 0}),
            (std::vector<float>{0, 0, 0.25f, 1, 2.75f, 3.5f, 4}));
}

TEST_F(LevelsOfDetail, AreClampedByTheSampler) {
  const std::vector<float> details = {-3, 0, 1, 2.25f, 9};
  EXPECT_EQ(levels("detail", details,
                   {CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_FILTER_LINEAR, CL_SAMPLER_LOD_MIN_KHR,
                    bits(0.5f), CL_SAMPLER_LOD_MAX_KHR, bits(2.5f), 0}),
            (std::vector<float>{0.5f, 0.5f, 1, 2.25f, 2.5f}));
}

TEST_F(LevelsOfDetail, FollowFromGradients) {
  // Texels of 1/16 across and 1/8 down: at least one row a step.
  EXPECT_EQ(levels("gradient", {0, 1 / 16.0f, 1 / 8.0f, 1 / 4.0f, 1, 100}, {0}),
            (std::vector<float>{0, 0, 1, 2, 4, 4}));
}

TEST_F(MipMaps, SamplersTellTheirLevels) {
  const auto ask = [](cl_sampler of, cl_sampler_info name) {
    return info<cl_float>(cl.clGetSamplerInfo, of, name);
  };
  const OwnedSampler plain = sampler({0});
  EXPECT_EQ(ask(plain, CL_SAMPLER_LOD_MIN_KHR), 0.0f);
  EXPECT_EQ(ask(plain, CL_SAMPLER_LOD_MAX_KHR), MAXFLOAT);
  EXPECT_EQ(
      info<cl_filter_mode>(cl.clGetSamplerInfo, cl_sampler(plain), CL_SAMPLER_MIP_FILTER_MODE_KHR),
      cl_filter_mode{CL_FILTER_NEAREST});
  const OwnedSampler made = sampler({CL_SAMPLER_LOD_MIN_KHR, bits(1.25f), CL_SAMPLER_LOD_MAX_KHR,
                                     bits(3), CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_FILTER_LINEAR, 0});
  EXPECT_EQ(ask(made, CL_SAMPLER_LOD_MIN_KHR), 1.25f);
  EXPECT_EQ(ask(made, CL_SAMPLER_LOD_MAX_KHR), 3.0f);
  EXPECT_EQ(
      info<cl_filter_mode>(cl.clGetSamplerInfo, cl_sampler(made), CL_SAMPLER_MIP_FILTER_MODE_KHR),
      cl_filter_mode{CL_FILTER_LINEAR});
  cl_int code = 1;
  const cl_sampler_properties wrong[] = {CL_SAMPLER_MIP_FILTER_MODE_KHR, 7, 0};
  EXPECT_EQ(cl.clCreateSamplerWithProperties(context, wrong, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::e2e
