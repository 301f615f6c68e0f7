// Vectors of lanes that are all inside of a kernel's bounds need no masks; where masks are slow
// they are tested for that, and only lanes at the edge have them.
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

const char* const kernels = R"(
  kernel void line(global const uchar* in, global uchar* out, int count, int most) {
    int i = get_global_id(0);
    if (i < count) out[i] = in[i] * 3 + 1;
  }
  kernel void plane(global const uchar* in, global uchar* out, int width, int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1) return;
    const int i = y * width + x;
    out[i] = in[i] * 3 + in[i - 1] + in[i + width];
  }
  kernel void rows(global const uchar* in, global uchar* out, int width, int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (y >= height) return;
    if (x >= width) return;
    uchar sum = 1;
    for (int k = 0; k <= x % 5; ++k) sum += in[y * width + k] * k;
    out[y * width + x] = sum;
  }
  kernel void first(global const uchar* in, global uchar* out, int count, int most) {
    if (get_local_id(0) == most) out[get_global_id(0)] = in[get_global_id(0)] * 3 + 1;
  })";

constexpr compiler::Vectorising always = compiler::Vectorising::always;
constexpr int most_bytes = 200 * 40;

std::vector<uint8_t> bytes() {
  std::vector<uint8_t> result(most_bytes);
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<uint8_t>(i * 41 ^ i >> 5);
  return result;
}

struct Launch {
  const char* kernel;
  NdRange range;
  int first, second;
};

std::vector<uint8_t> run(const Program& program, const Launch& launch) {
  const std::vector<uint8_t> in = bytes();
  std::vector<uint8_t> out(most_bytes, 255);
  program.run(launch.kernel, launch.range,
              {Program::buffer(in.data()), Program::buffer(out.data()),
               Program::value(launch.first), Program::value(launch.second)});
  return out;
}

// What the kernel writes for one work-item, if it writes at all.
bool reference(const Launch& launch, const std::vector<uint8_t>& in, int x, int y, size_t& place,
               uint8_t& value) {
  const std::string kernel = launch.kernel;
  place = static_cast<size_t>(kernel == "plane" || kernel == "rows" ? y * launch.first + x : x);
  const uint8_t* here = in.data() + place;
  if (kernel == "line") {
    if (x >= launch.first) return false;
    value = static_cast<uint8_t>(*here * 3 + 1);
  } else if (kernel == "plane") {
    if (x < 1 || x >= launch.first - 1 || y < 1 || y >= launch.second - 1) return false;
    value = static_cast<uint8_t>(*here * 3 + here[-1] + here[launch.first]);
  } else if (kernel == "rows") {
    if (x >= launch.first || y >= launch.second) return false;
    value = 1;
    for (int k = 0; k <= x % 5; ++k) value += static_cast<uint8_t>(in[y * launch.first + k] * k);
  } else {
    if (x % static_cast<int>(launch.range.local[0]) != launch.second) return false;
    value = static_cast<uint8_t>(*here * 3 + 1);
  }
  return true;
}

TEST(Bounds, LanesBeyondThemDoNothing) {
  const Program program(kernels, true, always);
  const std::vector<uint8_t> in = bytes();
  std::vector<Launch> runs;
  for (const int count : {0, 1, 7, 64, 90, 150, 192}) {
    runs.push_back({"line", {1, {192, 1, 1}, {64, 1, 1}, {0, 0, 0}}, count, 0});
    runs.push_back({"first", {1, {192, 1, 1}, {64, 1, 1}, {0, 0, 0}}, 0, count});
    for (const int height : {1, 2, 13, 40})
      for (const char* kernel : {"plane", "rows"})
        runs.push_back({kernel, {2, {192, 40, 1}, {48, 8, 1}, {0, 0, 0}}, count, height});
  }
  for (const Launch& each : runs) {
    std::vector<uint8_t> wanted(most_bytes, 255);
    for (int y = 0; y < static_cast<int>(each.range.global[1]); ++y)
      for (int x = 0; x < static_cast<int>(each.range.global[0]); ++x) {
        size_t place = 0;
        uint8_t value = 0;
        if (reference(each, in, x, y, place, value)) wanted[place] = value;
      }
    EXPECT_EQ(run(program, each), wanted) << each.kernel << ' ' << each.first << ' ' << each.second;
  }
}

// With AVX-512 masks cost nothing.
TEST(Bounds, NeedNoMasksInside) {
  const std::string features = hostMachine().getTargetFeatureString().str() + ",";
  const bool has_masks = features.find("+avx512vl,") != std::string::npos;
  for (const char* kernel : {"line", "plane", "rows"}) {
    const std::string text = optimisedText(kernels, kernel, always);
    EXPECT_EQ(std::regex_search(text, std::regex("masked\\.store")), has_masks) << kernel;
    EXPECT_TRUE(std::regex_search(text, std::regex("store <\\d+ x i8>")) || has_masks) << kernel;
  }
}

}  // namespace
}  // namespace weft::test
