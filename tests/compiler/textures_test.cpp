// Twins of kernels that read images through textures: what is in the PTX, and what they take.
#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "core/ports/launch.h"
#include "core/ports/native_images.h"
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;
using test::count;

class TextureTwins : public test::CompilerTest {
 protected:
  static port::CompileRequest textured(const std::string& source) {
    port::CompileRequest made = request(source, "-cl-std=CL3.0");
    made.target = {port::TargetKind::nvptx, "sm_80", port::native_images_feature};
    made.features.images = true;
    made.features.feature_macros.emplace_back("__opencl_c_read_write_images");
    return made;
  }
};

constexpr char reading[] = R"(
  constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
  float4 inner(read_only image2d_t image, sampler_t sampler, float2 at) {
    return read_imagef(image, sampler, at);
  }
  kernel void sample(read_only image2d_t a, read_only image2d_t b, sampler_t s, global float4* out,
                     read_only image3d_t volume) {
    out[0] = inner(a, linear, out[1].xy) + inner(b, s, out[1].yz) + read_imagef(a, (int2)(3, 4)) +
             read_imagef(volume, s, out[1]);
  }
  kernel void integers(read_only image1d_t a, sampler_t s, global int4* out) {
    out[0] = read_imagei(a, s, 1.5f) + convert_int4(read_imageui(a, 3));
  }
  kernel void neither(read_only image1d_buffer_t a, read_write image2d_t b, global float4* out) {
    out[0] = read_imagef(a, 0) + read_imagef(b, (int2)(0));
  }
  kernel void print(read_only image2d_t image, sampler_t sampler) {
    printf("%f", read_imagef(image, sampler, (float2)(0, 0)).x);
  }
)";

TEST_F(TextureTwins, AreOfKernelsThatReadImages) {
  const port::CompileRequest wanted = textured(reading);
  const auto result = compiler().build(wanted);
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  ASSERT_EQ(image.kernels.size(), 4u);
  const auto native = [&](const char* name) {
    return image.kernels[image.find(name).value()].native;
  };
  const NativeImages sample = native("sample");
  EXPECT_EQ(sample.symbol, "weft_kernel_sample$images");
  ASSERT_EQ(sample.images.size(), 3u);
  // Texels of all, and what filters planes: a literal and an argument.
  ASSERT_EQ(sample.samplers.size(), 3u);
  EXPECT_EQ(std::ranges::count(sample.samplers, NativeSampler{false, port::sampler_filter_nearest}),
            1);
  EXPECT_EQ(std::ranges::count(sample.samplers, NativeSampler{true, 2}), 1);
  for (const NativeImage& one : sample.images)
    EXPECT_EQ(std::popcount(one.samplers), one.argument == 4 ? 1 : 2);
  EXPECT_EQ(native("integers").images.size(), 1u);
  EXPECT_EQ(native("integers").samplers.size(), 1u);
  for (const char* name : {"neither", "print"}) EXPECT_EQ(native(name).symbol, "") << name;
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  for (const char* part : {".visible .entry weft_kernel_sample$images(", "tex.2d.v4.f32.f32",
                           "tex.2d.v4.f32.s32", "tex.2d.v4.s32.s32", "tex.2d.v4.u32.s32"})
    EXPECT_TRUE(contains(text, part)) << part << text;
  // Five textures, and the launch behind them.
  EXPECT_TRUE(contains(text, ".param .u64 weft_kernel_sample$images_param_9"));
  EXPECT_TRUE(contains(
      text, "weft_kernel_sample$images_param_10[" + std::to_string(sizeof(port::GpuLaunch)) + "]"));
}

TEST_F(TextureTwins, AreNotWhereNobodyAsksForThem) {
  port::CompileRequest wanted = textured(reading);
  wanted.target.features = "";
  const auto result = compiler().build(wanted);
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  for (const KernelInfo& info : image.kernels) EXPECT_EQ(info.native.symbol, "");
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_FALSE(contains(text, "tex."));
}

TEST_F(TextureTwins, HaveNamesOfTheirOwn) {
  std::string source;
  for (const char* name : {"f$images$", "f$images", "f"})
    source += "kernel void " + std::string(name) +
              "(read_only image2d_t i, global float4* out) { *out = read_imagef(i, (int2)(0)); }\n";
  const auto result = compiler().build(textured(source));
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  std::set<std::string> symbols;
  for (const KernelInfo& kernel : image.kernels) {
    EXPECT_NE(kernel.native.symbol, "") << kernel.name;
    symbols.insert({kernel.symbol, kernel.native.symbol});
  }
  EXPECT_EQ(symbols.size(), 6u);
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  for (const std::string& symbol : symbols) {
    EXPECT_TRUE(contains(text, ".entry " + symbol + "(")) << symbol;
    EXPECT_FALSE(contains(symbol, ".")) << symbol;  // PTX knows none in names
  }
}

// A texture is chosen as any number is.
TEST_F(TextureTwins, MayChooseBetweenImages) {
  const auto result = compiler().build(textured(
      "kernel void f(read_only image2d_t a, read_only image2d_t b, global float4* out, int c) {"
      "  *out = c ? read_imagef(a, (int2)(0)) : read_imagef(b, (int2)(0)); }"));
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  EXPECT_EQ(image.kernels.at(0).native.images.size(), 2u);
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  const size_t read = text.find("tex.2d.v4.f32.s32");
  ASSERT_NE(read, std::string::npos);
  // "{%f1, ...}, [%rd1, {...": the register is one of a selection or of a parameter.
  const size_t handle = text.find('[', read) + 1;
  const std::string of = text.substr(handle, text.find(',', handle) - handle);
  EXPECT_TRUE(contains(text, "selp.b64 \t" + of) || contains(text, "ld.param.u64 \t" + of)) << text;
}

// Handles are parameters, of which not every GPU takes more than 4096 bytes.
TEST_F(TextureTwins, HaveNoMoreParametersThanKernelsMay) {
  std::string parameters, sum;
  for (int i = 0; i < 68; ++i) {
    const std::string name = "i" + std::to_string(i);
    parameters += "read_only image2d_t " + name + ", ";
    sum += " + read_imagef(" + name + ", (int2)(0))";
  }
  const port::CompileRequest wanted =
      textured("kernel void f(" + parameters + "global float4* out) { *out = 0" + sum + "; }");
  const auto result = compiler().build(wanted);
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_EQ(readImage(result.image).value_or(Image{}).kernels.at(0).native.symbol, "");
}

// Each of so many functions calls the next one twice.
std::string treeOf(int functions) {
  std::string text =
      "float4 f0(read_only image2d_t i, int n) { return read_imagef(i, (int2)(n, 1)); }";
  for (int i = 1; i < functions; ++i) {
    const std::string below = "f" + std::to_string(i - 1);
    text += "__attribute__((noinline)) float4 f" + std::to_string(i) +
            "(read_only image2d_t i, int n) { return " + below + "(i, n) * " + below +
            "(i, n + 3); }";
  }
  return text + "kernel void f(read_only image2d_t i, global float4* out) { *out = f" +
         std::to_string(functions - 1) + "(i, 0); }";
}

// Every call in a twin down to the reads is inlined, which of many takes minutes.
TEST_F(TextureTwins, AreNotWhereTooMuchWouldBeInlined) {
  const auto hasTwin = [&](int functions) {
    const auto result = compiler().build(textured(treeOf(functions)));
    EXPECT_TRUE(result.ok) << result.log;
    return !readImage(result.image).value_or(Image{}).kernels.at(0).native.symbol.empty();
  };
  EXPECT_TRUE(hasTwin(5));
  EXPECT_FALSE(hasTwin(12));
  EXPECT_FALSE(hasTwin(40));
}

TEST_F(TextureTwins, FormatsThatAreRareAreFunctions) {
  const std::string copy =
      "kernel void NAME(read_only image2d_t a, write_only image2d_t b, sampler_t s) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  write_imagef(b, at, read_imagef(a, s, at)); }\n";
  std::string both;
  for (const std::string name : {"one", "two"}) {
    std::string text = copy;
    both += text.replace(text.find("NAME"), 4, name);
  }
  const auto result = compiler().build(textured(both));
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_EQ(count(text, ".func"), 2) << text;
  EXPECT_GE(count(text, "weft_store_any"), 5) << "of two kernels and their twins";
}

}  // namespace
}  // namespace weft
