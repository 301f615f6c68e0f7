// Elements that lanes store one by one, side by side.
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr size_t items = 75, most_fields = 9;

// A record of a few fields, stored in any order, of which some may be left out, stored twice, or
// read again in between.
class RecordWriter {
 public:
  explicit RecordWriter(uint64_t seed) : random_(seed) {
    fields_ = 2 + below(most_fields - 1);
    stride_ = below(4) == 0 ? fields_ + 1 : fields_;
    type_ = pick<5>({"uchar", "ushort", "uint", "float", "ulong"});
  }
  const std::string& type() const { return type_; }

  std::string kernel(const std::string& name) {
    const std::string index = pick<3>({"int", "uint", "size_t"});
    std::string text = "kernel void " + name + "(global const uint* in, global " + type_ +
                       "* out, uint limit) {\n  const " + index +
                       " i = get_global_id(0);\n  const uint x = in[i];\n";
    if (below(2)) text += "  if (x % 5 > limit) return;\n";
    const bool by_pointer = below(2);
    const std::string first = "i * " + std::to_string(stride_);
    if (by_pointer) text += "  global " + type_ + "* p = out + " + first + ";\n";
    std::vector<size_t> order(fields_);
    for (size_t i = 0; i < fields_; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    if (below(4) == 0) order.pop_back();
    if (below(4) == 0) order.push_back(order.front());
    for (const size_t field : order) {
      const std::string at = std::to_string(field);
      std::string value = "x * " + std::to_string(field + 3) + " + " + at;
      if (below(12) == 0) value += " + in[(i + " + at + ") % 75]";
      if (below(16) == 0) value += " + (uint)out[" + first + "]";
      text += (by_pointer ? "  p[" + at + "]" : "  out[" + first + " + " + at + "]") + " = (" +
              type_ + ")(" + value + ");\n";
    }
    return text + "}\n";
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  template <size_t N>
  std::string pick(const std::array<const char*, N>& from) {
    return from[below(N)];
  }

  std::mt19937_64 random_;
  size_t fields_, stride_;
  std::string type_;
};

std::vector<uint64_t> written(const Program& program, const std::string& kernel, uint32_t limit) {
  std::vector<uint32_t> in(items);
  for (size_t i = 0; i < items; ++i) in[i] = static_cast<uint32_t>(i * 37 % 89);
  std::vector<uint64_t> out(items * (most_fields + 1), 0x0101010101010101u);
  program.run(kernel, {1, {items, 1, 1}, {items, 1, 1}, {0, 0, 0}},
              {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(limit)});
  return out;
}

TEST(JoinedStores, RandomRecords) {
  constexpr uint64_t programs = 4, kernels = 12;
  for (uint64_t p = 0; p < programs; ++p) {
    std::string source;
    for (uint64_t k = 0; k < kernels; ++k)
      source += RecordWriter(p * kernels + k).kernel("k" + std::to_string(k));
    const Program lanes(source, true, compiler::Vectorising::never);
    const Program vectors(source, true, compiler::Vectorising::always);
    const Program chosen(source, true, compiler::Vectorising::automatic);
    for (uint64_t k = 0; k < kernels; ++k)
      for (const uint32_t limit : {5u, 2u}) {
        const std::string kernel = "k" + std::to_string(k);
        const auto expected = written(lanes, kernel, limit);
        ASSERT_EQ(written(vectors, kernel, limit), expected)
            << RecordWriter(p * kernels + k).kernel(kernel);
        ASSERT_EQ(written(chosen, kernel, limit), expected)
            << RecordWriter(p * kernels + k).kernel(kernel);
      }
  }
}

TEST(JoinedStores, AreOneBlock) {
  for (const char* stores :
       {"rgb[3 * i] = v; rgb[3 * i + 1] = v + 1; rgb[3 * i + 2] = v ^ 5;",
        "global uchar* p = rgb + i * 3; p[2] = v; p[0] = v + 1; p[1] = v ^ 5;"}) {
    const std::string text =
        optimisedText(std::string("kernel void k(global const uchar* y, global uchar* rgb) {\n"
                                  "  const int i = get_global_id(0); const uchar v = y[i];\n  ") +
                          stores + "}",
                      "k", compiler::Vectorising::automatic);
    // Three for each of the lanes that the processor prefers.
    EXPECT_TRUE(std::regex_search(text, std::regex("store <(12|24|48) x i8>"))) << text;
  }
}

}  // namespace
}  // namespace weft::test
