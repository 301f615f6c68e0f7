// Fields of records that lie side by side: lanes load them as whole vectors, some lanes as masked
// ones, and take them apart.
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/guarded_buffer.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr uint64_t items = 48, group = 24;

// A kernel that goes through the first n records and adds up some fields, some of them only where
// others are large.
class RecordKernel {
 public:
  explicit RecordKernel(uint64_t seed) : random_(seed) {
    fields_ = 2 + below(4);
    type_ = pick<5>({"int", "uint", "long", "short", "uchar"});
  }

  uint64_t bytes(uint64_t records) const { return records * fields_ * size(); }

  std::string text(const std::string& name) {
    const std::string counter = pick<4>({"int", "uint", "long", "ulong"});
    std::string text = "typedef struct { " + type_ + " f[" + std::to_string(fields_) + "]; } P_" +
                       name + ";\n" + "kernel void " + name + "(global const " + type_ +
                       "* in, global int* out, int n, int limit) {\n  global const P_" + name +
                       "* records = (global const P_" + name + "*)in;\n  uint sum = 0;\n";
    text += "  for (" + counter + " i = " + pick<2>({"get_global_id(0)", "get_local_id(0)"}) +
            "; i < n; i += " + pick<3>({"get_global_size(0)", "get_local_size(0)", "31"}) +
            ") {\n" + condition(2) + "  }\n  out[get_global_id(0)] = sum;\n}\n";
    return text;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  template <size_t N>
  std::string pick(const std::array<const char*, N>& from) {
    return from[below(N)];
  }
  size_t size() const {
    if (type_ == "long") return 8;
    return type_ == "short" ? 2 : type_ == "uchar" ? 1 : 4;
  }

  std::string field() {
    const std::string number = std::to_string(below(fields_));
    if (below(2) == 0) return "records[i].f[" + number + "]";
    return "in[i * " + std::to_string(fields_) + " + " + number + "]";
  }
  std::string condition(unsigned depth) {
    std::string text;
    for (uint64_t i = 0, count = 1 + below(3); i < count; ++i)
      text += "    sum = sum * 3 + (uint)" + field() + ";\n";
    if (depth == 0) return text;
    const std::string joined = pick<3>({" || ", " && ", " ^ "});
    text += "    if ((((int)" + field() + " & 63) > limit)" + joined + "(((int)" + field() +
            " & 31) < limit)) {\n" + condition(depth - 1) + "    }\n";
    if (below(2) == 0) text += "    else {\n" + condition(0) + "    }\n";
    return text;
  }

  std::mt19937_64 random_;
  uint64_t fields_;
  std::string type_;
};

TEST(Records, RandomLoops) {
  constexpr uint64_t programs = 4, kernels = 8;
  for (uint64_t p = 0; p < programs; ++p) {
    std::string source;
    for (uint64_t k = 0; k < kernels; ++k)
      source += RecordKernel(p * kernels + k).text("k" + std::to_string(k));
    const Program lanes(source, true, compiler::Vectorising::never);
    const Program vectors(source, true, compiler::Vectorising::always);
    for (uint64_t k = 0; k < kernels; ++k)
      for (const int records : {1, 17, 100, 131}) {
        const GuardedBuffer in(RecordKernel(p * kernels + k).bytes(static_cast<uint64_t>(records)));
        const auto results = [&](const Program& program) {
          std::vector<int> out(items);
          program.run("k" + std::to_string(k), {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
                      {Program::buffer(in.begin()), Program::buffer(out.data()),
                       Program::value(records), Program::value(13)});
          return out;
        };
        ASSERT_EQ(results(vectors), results(lanes))
            << records << " records\n"
            << RecordKernel(p * kernels + k).text("k" + std::to_string(k));
      }
  }
}

// Places that wrap between lanes, of which only those behind the end run.
TEST(Records, PlacesThatWrap) {
  const char* source = R"(
    kernel void wraps(global const uint* in, global uint* out, uint from) {
      uint i = from + get_global_id(0);
      uint sum = 0;
      for (int turn = 0; turn < 2; ++turn, i += 48)
        if (i * 4u < 4u * 96u) sum += in[i * 4u] * 3 + in[i * 4u + 2u];
      out[get_global_id(0)] = sum;
    })";
  const Program program(source, true, compiler::Vectorising::always);
  const GuardedBuffer in(4 * 96 * sizeof(uint32_t));
  const auto* numbers = static_cast<const uint32_t*>(in.begin());
  for (const uint32_t before : {0u, 1u, 5u, 15u, 16u, 31u}) {
    std::vector<uint32_t> out(items);
    const uint32_t from = (1u << 30) - before;
    program.run("wraps", {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
                {Program::buffer(in.begin()), Program::buffer(out.data()), Program::value(from)});
    for (uint32_t item = 0; item < items; ++item) {
      uint32_t sum = 0;
      for (uint32_t turn = 0; turn < 2; ++turn)
        if (const uint32_t place = (from + item + turn * 48) * 4; place < 4 * 96)
          sum += numbers[place] * 3 + numbers[place + 2];
      ASSERT_EQ(out[item], sum) << before << " lanes before the end, item " << item;
    }
  }
}

// The condition's second part loads what the first did not.
TEST(Records, SomeLanesLoadWholeVectors) {
  const std::string source = R"(
    typedef struct { float x, y, z, w; } Point;
    kernel void count(global const Point* points, global int* out, int n, float limit) {
      int found = 0;
      for (int i = get_global_id(0); i < n; i += get_global_size(0))
        if (points[i].x + points[i].z > limit || points[i].y * points[i].w > limit) ++found;
      out[get_global_id(0)] = found;
    })";
  const std::string text = optimisedText(source, "count");
  EXPECT_TRUE(std::regex_search(text, std::regex("masked\\.load\\.v\\d+f32"))) << text;
}

// Two elements more than numbers of 32 bits tell.
TEST(Records, FarFromEachOtherAreGathered) {
  const std::string text = optimisedText(R"(
    kernel void far(global const float* in, global float* out) {
      const size_t g = get_global_id(0);
      out[g] = in[g * 4294967298UL];
    })",
                                         "far", compiler::Vectorising::always);
  EXPECT_NE(text.find("masked.gather"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::test
