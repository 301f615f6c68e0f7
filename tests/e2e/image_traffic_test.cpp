// How many bytes of images a kernel on another device brings over: as many as have to move, worked
// out by hand.
#include <random>

#include "tests/e2e/counted_traffic.h"

namespace weft::e2e {
namespace {

constexpr size_t pixels = 1024, pixel_bytes = sizeof(cl_uint), bytes = pixels * pixel_bytes;

// Images of 1024 pixels of 4 bytes.
constexpr cl_image_desc line{CL_MEM_OBJECT_IMAGE1D, pixels, 0, 0, 0, 0, 0, 0, 0, {nullptr}};
constexpr cl_image_desc lines{CL_MEM_OBJECT_IMAGE1D_ARRAY, 128, 0, 0, 8, 0, 0, 0, 0, {nullptr}};
constexpr cl_image_desc plane{CL_MEM_OBJECT_IMAGE2D, 32, 32, 0, 0, 0, 0, 0, 0, {nullptr}};
constexpr cl_image_desc planes{CL_MEM_OBJECT_IMAGE2D_ARRAY, 32, 8, 0, 4, 0, 0, 0, 0, {nullptr}};
constexpr cl_image_desc volume{CL_MEM_OBJECT_IMAGE3D, 16, 16, 4, 0, 0, 0, 0, 0, {nullptr}};

// kernel void k(read_only T in, write_only T out, sampler_t s, global uint* b). The images and the
// buffer, which has as many bytes, are valid on another device; (x, y, z) is the work-item's id.
struct Pattern {
  const char* name;
  const char* body;
  Range range;
  size_t moved;
  const cl_image_desc& image = plane;
};

void PrintTo(const Pattern& pattern, std::ostream* out) { *out << pattern.name; }

#define XY "(int2)(x, y)"

const Pattern patterns[] = {
    {"Copy", "write_imageui(out, " XY ", read_imageui(in, " XY "));", {{32, 32}}, bytes},
    {"RowsOfACopy",
     "write_imageui(out, " XY ", read_imageui(in, s, " XY "));",
     {{32, 8}, {}, {0, 8}},
     8 * 128},
    {"PartOfRows",
     "write_imageui(out, " XY ", read_imageui(in, " XY "));",
     {{16, 8}, {}, {8, 4}},
     8 * 64},
    {"Fill", "write_imageui(out, " XY ", (uint4)(7));", {{32, 32}}, 0},
    {"Guarded",
     "if (y < 10) write_imageui(out, " XY ", read_imageui(in, " XY "));",
     {{32, 32}},
     10 * 128},
    {"GuardedByTheSize",
     "if (x < get_image_width(out) && y < get_image_height(out))"
     "  write_imageui(out, " XY ", read_imageui(in, " XY "));",
     {{64, 64}},
     bytes},
    {"GuardedByData",
     "if (read_imageui(in, " XY ").x & 1) write_imageui(out, " XY ", (uint4)(1));",
     {{32, 32}},
     2 * bytes},
    {"ClampedStencil",
     "write_imageui(out, " XY ", read_imageui(in, s, (int2)(x - 1, y - 1)) +"
     "  read_imageui(in, s, " XY " + (int2)(1, 1)));",
     {{32, 8}, {}, {0, 8}},
     6 * 128 + 4 * 124},
    {"ClampedStencilAtTheEdge",
     "const sampler_t edge = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;"
     "uint4 sum = 0;"
     "for (int i = -2; i <= 2; ++i) sum += read_imageui(in, edge, (int2)(x, y + i));"
     "write_imageui(out, " XY ", sum);",
     {{32, 8}},
     10 * 128},
    {"RowsInLoops",
     "uint4 sum = 0;"
     "for (int i = 0; i < 32; ++i) sum += read_imageui(in, (int2)(i, x));"
     "for (int i = 0; i < 32; ++i) write_imageui(out, (int2)(i, x), sum + (uint4)(i));",
     {{8}},
     8 * 128},
    {"Functions", "put(out, " XY ", get(in, s, " XY " + 1) + 1);", {{32, 8}}, 8 * 124},
    {"ANamesake", "write_image_below(out, " XY ", (uint4)(5));", {{32, 8}}, 0},
    {"BeyondTheImage",
     "write_imageui(out, (int2)(x + 16, y + 24), read_imageui(in, (int2)(x, y + 24)));",
     {{32, 32}},
     8 * 128},
    {"Nowhere", "write_imageui(out, (int2)(x, y - 40), (uint4)(1));", {{32, 8}}, 0},
    {"PlacesFromData",
     "write_imageui(out, " XY ", read_imageui(in, (int2)(x, read_imageui(in, " XY ").x & 31)));",
     {{32, 8}},
     bytes},
    {"WritesToPlacesFromData",
     "write_imageui(out, (int2)(x, (y + (read_imageui(in, " XY ").x & 1)) & 31), (uint4)(1));",
     {{32, 8}},
     8 * 128 + 9 * 128},
    {"FloatCoordinates",
     "write_imageui(out, " XY ", read_imageui(in, s, (float2)(x + 0.5f, y + 0.5f)));",
     {{32, 8}},
     bytes},
    {"FromABuffer", "write_imageui(out, " XY ", (uint4)(b[y * 32 + x]));", {{32, 8}}, 1024},
    {"ToABuffer", "b[y * 32 + x] = read_imageui(in, " XY ").x;", {{32, 8}}, 1024},
    {"Line", "write_imageui(out, x, read_imageui(in, x));", {{256}, {}, {128}}, 1024, line},
    {"Lines",
     "write_imageui(out, " XY ", read_imageui(in, s, " XY "));",
     {{128, 2}, {}, {0, 3}},
     1024,
     lines},
    {"Planes",
     "write_imageui(out, (int4)(x, y, z, 0), read_imageui(in, s, (int4)(x, y, z + 1, 0)));",
     {{32, 8, 2}},
     2048,
     planes},
    {"Volume",
     "write_imageui(out, (int4)(x, y, z, 0), read_imageui(in, (int4)(x, y, z, 0)));",
     {{16, 16, 1}, {}, {0, 0, 2}},
     1024,
     volume},
};

const char* typeOf(const cl_image_desc& image) {
  switch (image.image_type) {
    case CL_MEM_OBJECT_IMAGE1D:
      return "image1d_t";
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return "image1d_array_t";
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return "image2d_array_t";
    case CL_MEM_OBJECT_IMAGE3D:
      return "image3d_t";
    default:
      return "image2d_t";
  }
}

class ImageDevices : public CountedTraffic {
 protected:
  void SetUp() override {
    CountedTraffic::SetUp();
    if (IsSkipped()) return;
    cl_int code = 1;
    sampler = OwnedSampler(
        cl.clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code));
    ASSERT_EQ(code, CL_SUCCESS);
  }
  static std::vector<cl_uint> randomValues(uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<cl_uint> values(pixels);
    for (cl_uint& value : values) value = static_cast<cl_uint>(random());
    return values;
  }
  // An image with contents that are on device 0.
  OwnedMem scattered(const cl_image_desc& desc, uint32_t seed) const {
    const cl_image_format format{CL_R, CL_UNSIGNED_INT32};
    cl_int code = 1;
    OwnedMem image(cl.clCreateImage(context, 0, &format, &desc, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    const auto values = randomValues(seed);
    const size_t origin[3] = {0, 0, 0};
    EXPECT_EQ(cl.clEnqueueWriteImage(queues[0], image, CL_TRUE, origin, regionOf(desc).data(), 0, 0,
                                     values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return image;
  }
  OwnedMem scatteredBuffer(uint32_t seed) const {
    OwnedMem buffer = makeBuffer(CL_MEM_READ_WRITE, bytes);
    const auto values = randomValues(seed);
    EXPECT_EQ(cl.clEnqueueWriteBuffer(queues[0], buffer, CL_TRUE, 0, bytes, values.data(), 0,
                                      nullptr, nullptr),
              CL_SUCCESS);
    return buffer;
  }
  static std::array<size_t, 3> regionOf(const cl_image_desc& desc) {
    const bool lines = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t height = std::max<size_t>(desc.image_height, 1);
    const size_t deep = std::max({desc.image_depth, desc.image_array_size, size_t{1}});
    return {desc.image_width, lines ? deep : height, lines ? 1 : deep};
  }
  // The contents of `out` and of the buffer after a run on a device, and what moved there.
  std::vector<cl_uint> result(cl_kernel kernel, const cl_image_desc& image, const Range& range,
                              size_t device, size_t& moved) {
    const OwnedMem in = scattered(image, 1), out = scattered(image, 2);
    const OwnedMem buffer = scatteredBuffer(3);
    set(kernel, in, out, static_cast<cl_sampler>(sampler), buffer);
    const size_t before = bytesMovedTo(device);
    EXPECT_EQ(
        cl.clEnqueueNDRangeKernel(queues[device], kernel, static_cast<cl_uint>(range.global.size()),
                                  range.offset.empty() ? nullptr : range.offset.data(),
                                  range.global.data(), nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
    moved = bytesMovedTo(device) - before;
    std::vector<cl_uint> values(pixels);
    const size_t origin[3] = {0, 0, 0};
    EXPECT_EQ(cl.clEnqueueReadImage(queues[device], out, CL_TRUE, origin, regionOf(image).data(), 0,
                                    0, values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    values.resize(2 * pixels);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queues[device], buffer, CL_TRUE, 0, bytes, &values[pixels], 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }

  OwnedSampler sampler;
};

std::string sourceOf(const cl_image_desc& image, const std::string& body) {
  const std::string type = typeOf(image);
  return "uint get(read_only image2d_t i, sampler_t s, int2 at) {"
         " return read_imageui(i, s, at).x; }\n"
         "void put(write_only image2d_t i, int2 at, uint v) { write_imageui(i, at, (uint4)(v)); }\n"
         "void __attribute__((overloadable, noinline))\n"
         "write_image_below(write_only image2d_t i, int2 at, uint4 v) {"
         " write_imageui(i, at + (int2)(0, 1), v); }\n"
         "kernel void k(read_only " +
         type + " in, write_only " + type +
         " out, sampler_t s, global uint* b) {\n"
         "  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n" +
         body + "}";
}

class ImageTraffic : public ImageDevices, public testing::WithParamInterface<Pattern> {};

TEST_P(ImageTraffic, IsTheLeast) {
  const Pattern& p = GetParam();
  const OwnedKernel k = kernel(built(sourceOf(p.image, p.body), "-cl-std=CL3.0"), "k");
  size_t at_home = 0, moved = 0;
  const auto expected = result(k, p.image, p.range, 0, at_home);
  EXPECT_EQ(result(k, p.image, p.range, 1, moved), expected);
  EXPECT_EQ(at_home, 0u);
  EXPECT_EQ(moved, p.moved);
}

INSTANTIATE_TEST_SUITE_P(, ImageTraffic, testing::ValuesIn(patterns),
                         [](const auto& info) { return std::string(info.param.name); });

// Kernels on planes that read at any places and write each pixel with a value of its place alone.
class RandomImageKernel {
 public:
  explicit RandomImageKernel(uint32_t seed) : random_(seed) {}

  std::string body() {
    std::string code =
        "const sampler_t border = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
        "int i = 0; uint4 v = 0;\n";
    if (below(3) == 0) code += "if (" + value(2) + " < " + value(1) + ") return;\n";
    const bool loops = below(2) == 0;
    if (loops) code += "for (; i < " + std::to_string(1 + below(6)) + "; ++i) {\n";
    for (unsigned reads = 1 + below(3); reads > 0; --reads) code += "v += " + read() + ";\n";
    if (below(2) == 0) code += "if (v.x & 1) v += " + read() + ";\n";
    if (loops) code += "}\n";
    const bool own = below(2) == 0;  // no two work-items write the same pixel
    code += "const int2 t = " + (own ? near() : place()) + ";\n";
    if (own && below(4) == 0) code += "if ((v.x & 3) != 0) ";
    if (below(3) == 0) code += "if (" + value(2) + " < " + value(1) + ") ";
    code += "write_imageui(out, t, " +
            std::string(own ? "v + (uint4)(t.x)" : "read_imageui(in, s, t) + (uint4)(t.x * 3)") +
            ");\n";
    if (below(3) == 0) code += "if (x < 32 && y < 32) b[y * 32 + x] = v.x;\n";
    return code;
  }
  size_t length() { return 4 * (1 + below(10)); }
  size_t offset() { return below(5); }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  std::string number(int low, unsigned count) {
    return "(" + std::to_string(low + static_cast<int>(below(count))) + ")";
  }
  std::string value(unsigned depth) {
    constexpr const char* leaves[] = {"x", "y", "i", "(int)get_local_id(0)",
                                      "(int)get_group_id(1)"};
    if (depth == 0 || below(4) == 0) return below(3) ? leaves[below(5)] : number(-8, 48);
    const std::string a = value(depth - 1), b = value(depth - 1);
    switch (below(8)) {
      case 0:
        return "(" + a + " - " + b + ")";
      case 1:
        return "(" + a + " * " + number(-1, 5) + ")";
      case 2:
        return "(" + a + " & " + number(1, 63) + ")";
      case 3:
        return "min(" + a + ", " + b + ")";
      case 4:
        return "clamp(" + a + ", 0, " + number(1, 40) + ")";
      case 5:
        return "(" + a + " / " + number(1, 4) + ")";
      case 6:
        return "(" + a + " > " + b + " ? " + a + " : " + number(0, 8) + ")";
      default:
        return "(" + a + " + " + b + ")";
    }
  }
  std::string near() { return "(int2)(x + " + number(-2, 5) + ", y + " + number(-2, 5) + ")"; }
  std::string place() { return below(2) ? near() : "(int2)(" + value(2) + ", " + value(2) + ")"; }
  std::string read() {
    constexpr const char* ways[] = {"(in, ", "(in, s, ", "(in, border, "};
    if (below(8) == 0) return "read_imageui(in, s, convert_float2(" + place() + ") + 0.5f)";
    return std::string("read_imageui") + ways[below(3)] + place() + ")";
  }

  std::mt19937 random_;
};

class RandomImageTraffic : public ImageDevices {};

TEST_F(RandomImageTraffic, IsEnough) {
  for (uint32_t seed = 1; seed <= 25; ++seed) {
    RandomImageKernel random(seed);
    const std::string source = sourceOf(plane, random.body());
    const Range range{{random.length(), random.length()}, {}, {random.offset(), random.offset()}};
    const OwnedKernel k = kernel(built(source, "-cl-std=CL3.0"), "k");
    size_t at_home = 0, moved = 0;
    const auto expected = result(k, plane, range, 0, at_home);
    ASSERT_EQ(result(k, plane, range, 1, moved), expected) << seed << '\n' << source;
  }
}

}  // namespace
}  // namespace weft::e2e
