// What lanes load from and store to places of their own.
#include <sys/mman.h>
#include <unistd.h>

#include <regex>

#include <gtest/gtest.h>
#include <llvm/Analysis/TargetTransformInfo.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

// They come in words, of which any byte may be the first.
TEST(Gathers, BytesAndHalfWordsFromAnywhere) {
  const char* const source =
      "kernel void pick(global int* out, global const char* bytes, global const ushort* halves,\n"
      "                 global const int* from, local uchar* table) {\n"
      "  int g = get_global_id(0), l = get_local_id(0), at = from[g];\n"
      "  for (int i = l; i < 64; i += get_local_size(0)) table[i] = i * 7;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  out[g] = at > 40 ? -1 : bytes[at] + halves[at] * 256 + (table[at + 7] << 24) + bytes[at * "
      "2];\n"
      "}\n";
  constexpr size_t items = 75, before = 8, room = 128;
  std::vector<int8_t> bytes(room);
  std::vector<uint16_t> halves(room);
  std::vector<int> out(items), from(items);
  for (size_t i = 0; i < room; ++i) {
    bytes[i] = static_cast<int8_t>(i * 37 + 11);
    halves[i] = static_cast<uint16_t>(i * 4099 + 5);
  }
  for (size_t i = 0; i < items; ++i) from[i] = static_cast<int>(i * 29 % 51) - 4;
  const Program program(source, true, compiler::Vectorising::always);
  for (size_t shift = 0; shift < 4; ++shift) {
    const int8_t* first_byte = bytes.data() + before + shift;
    const uint16_t* first_half = halves.data() + before + shift;
    program.run("pick", {1, {items, 1, 1}, {25, 1, 1}, {0, 0, 0}},
                {Program::buffer(out.data()), Program::buffer(first_byte),
                 Program::buffer(first_half), Program::buffer(from.data()), Program::local(64)});
    for (size_t g = 0; g < items; ++g) {
      const int at = from[g];
      const auto table = static_cast<uint8_t>((at + 7) * 7);
      const uint32_t sum = static_cast<uint32_t>(first_byte[at]) + first_half[at] * 256u +
                           (uint32_t{table} << 24) + static_cast<uint32_t>(first_byte[at * 2]);
      ASSERT_EQ(out[g], at > 40 ? -1 : static_cast<int>(sum)) << g << " from " << shift;
    }
  }
}

// An array's element of a vector of lanes lies between those of others, be it the only vector at
// work or, as arithmetic of that length would have it, one of two.
TEST(Gathers, PrivateArraysInLongArithmetic) {
  std::string source =
      "kernel void mix(global uint* out, global const uint* in) {\n"
      "  int g = get_global_id(0); uint x = in[g], p[8];\n"
      "  for (int i = 0; i < 8; ++i) p[i] = x * i + g;\n"
      "  if (p[x & 7] & 1) p[(x >> 3) & 7] = x ^ 5;\n"
      "  for (int i = 0; i < 8; ++i) x = x * 31 + p[i];\n";
  for (int round = 0; round < 20; ++round)
    source += "  x ^= x << " + std::to_string(1 + round % 13) + "; x = x * " +
              std::to_string(2 * round + 3) + " + (x >> " + std::to_string(1 + round % 7) + ");\n";
  source += "  out[g] = x;\n}\n";
  constexpr size_t items = 200;
  std::vector<uint32_t> in(items);
  for (size_t i = 0; i < items; ++i) in[i] = static_cast<uint32_t>(i * i * 2654435761u);
  const auto results = [&](compiler::Vectorising mode) {
    std::vector<uint32_t> out(items);
    Program(source, true, mode)
        .run("mix", {1, {items, 1, 1}, {100, 1, 1}, {0, 0, 0}},
             {Program::buffer(out.data()), Program::buffer(in.data())});
    return out;
  };
  const auto lanes = results(compiler::Vectorising::never);
  EXPECT_EQ(results(compiler::Vectorising::automatic), lanes);
  EXPECT_EQ(results(compiler::Vectorising::always), lanes);
}

// Vectors of the source at addresses that are anywhere.
TEST(Gathers, ScatteredRows) {
  const char* const source =
      "kernel void pick(global int* out, global const int2* two, global const float4* four,\n"
      "                 global const short8* eight, global const uchar4* bytes,\n"
      "                 global const int* from, int n) {\n"
      "  int g = get_global_id(0), sum = 0;\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    int at = from[g + i];\n"
      "    if (at >= 0) sum = sum * 3 + two[at].y - (int)four[at].z + eight[at].s5 + bytes[at].w;\n"
      "    short8 all = eight[from[i + 2 * g] & 31];\n"
      "    sum += all.s0 ^ all.s7;\n"
      "  }\n"
      "  out[g] = sum;\n}\n";
  const int count = 75, n = 9, rows = 64;
  std::vector<int> two(2 * rows), out(count), from(2 * count + n);
  std::vector<float> four(4 * rows);
  std::vector<int16_t> eight(8 * rows);
  std::vector<uint8_t> bytes(4 * rows);
  for (size_t i = 0; i < two.size(); ++i) two[i] = static_cast<int>(i * 31 % 97);
  for (size_t i = 0; i < four.size(); ++i) four[i] = static_cast<float>(i * 17 % 89);
  for (size_t i = 0; i < eight.size(); ++i) eight[i] = static_cast<int16_t>(i * 13 % 83);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 11 % 251);
  // Nothing may be read for lanes that do not run.
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = i % 3 ? static_cast<int>(i * 41 % rows) : std::numeric_limits<int>::min();
  Program(source, true, compiler::Vectorising::always)
      .run("pick", {1, {count, 1, 1}, {25, 1, 1}, {0, 0, 0}},
           {Program::buffer(out.data()), Program::buffer(two.data()), Program::buffer(four.data()),
            Program::buffer(eight.data()), Program::buffer(bytes.data()),
            Program::buffer(from.data()), Program::value(n)});
  for (size_t g = 0; g < count; ++g) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const int at = from[g + i];
      if (at >= 0) {
        const auto row = static_cast<size_t>(at);
        sum =
            sum * 3 + static_cast<uint32_t>(two[2 * row + 1] - static_cast<int>(four[4 * row + 2]) +
                                            eight[8 * row + 5] + bytes[4 * row + 3]);
      }
      const auto row = static_cast<size_t>(from[i + 2 * g] & 31);
      sum += static_cast<uint32_t>(eight[8 * row] ^ eight[8 * row + 7]);
    }
    ASSERT_EQ(out[g], static_cast<int>(sum)) << g;
  }
}

// Each lane loads such a vector whole, whatever memory it is in, and two words as one number.
TEST(Gathers, RowsAreLoadedWhole) {
  const char* const source =
      "kernel void four(global float* out, global const float4* rows, global const int* from) {\n"
      "  size_t g = get_global_id(0);\n"
      "  float4 row = rows[from[g]];\n"
      "  out[g] = row.x * row.y + row.z * row.w;\n}\n"
      "kernel void constants(global float* out, constant float4* rows, global const int* from) {\n"
      "  size_t g = get_global_id(0);\n"
      "  float4 row = rows[from[g]];\n"
      "  out[g] = row.x * row.y + row.z * row.w;\n}\n"
      "kernel void two(global float* out, global const float2* rows, global const int* from) {\n"
      "  size_t g = get_global_id(0);\n"
      "  float2 row = rows[from[g]];\n"
      "  out[g] = row.x * row.y;\n}\n";
  for (const char* kernel : {"four", "constants"}) {
    const std::string text = optimisedText(source, kernel, compiler::Vectorising::always);
    EXPECT_TRUE(std::regex_search(text, std::regex("load <4 x float>"))) << kernel;
    EXPECT_EQ(text.find("masked.gather"), std::string::npos) << kernel;
  }
  const std::string two = optimisedText(source, "two", compiler::Vectorising::always);
  EXPECT_FALSE(std::regex_search(two, std::regex("masked\\.gather\\.v\\d+f32"))) << two;
}

// The sum of two numbers of 64 bits as one of 32, which shifts extend again.
TEST(Gathers, NotOfNarrowedSums) {
  const char* const source = R"(
    kernel void mean(global const float* in, global float* out, int n) {
      const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
      float sum = 0;
      for (int i = 0; i < n; ++i) sum += in[(y + i) * w + x];
      out[y * w + x] = sum;
    })";
  const std::string text = optimisedText(source, "mean", compiler::Vectorising::always);
  EXPECT_TRUE(std::regex_search(text, std::regex("store <\\d+ x float>"))) << text;
}

// A loop of them has as many as the program: of many updates processors lose sight.
TEST(Gathers, LoopsThatUpdateStayRolled) {
  const char* const source = R"(
    kernel void count(global const uint* in, global uint* out, int n) {
      uint mine[16] = {0};
      for (int i = 0; i < n; ++i) ++mine[in[i * get_global_size(0) + get_global_id(0)] & 15];
      uint sum = 0;
      for (int i = 0; i < 16; ++i) sum = sum * 3 + mine[i];
      out[get_global_id(0)] = sum;
    })";
  const std::string text = optimisedText(source, "count", compiler::Vectorising::always);
  const std::regex update("call void @llvm\\.masked\\.scatter");
  EXPECT_LE(std::distance(std::sregex_iterator(text.begin(), text.end(), update), {}), 2) << text;
}

// Lanes of a diagonal are not taken for perhaps neighbours, of which there would be whole vectors.
TEST(Gathers, DiagonalsAreNeverTested) {
  const char* const source = R"(
    kernel void diagonal(global const int* more, global int* all, int n, int d) {
      const int row = get_global_id(0) + 1, column = d - row, i = row * n + column;
      if (column < 1) return;
      all[i] = all[i - n - 1] * more[i] + all[i - 1] * all[i - n];
    }
    kernel void columns(global const int* more, global int* all, int n, int d) {
      const int i = get_global_id(0) * n + d;
      all[i] += more[i] * more[i];
    })";
  const std::regex whole("= load <\\d+ x i32>");
  const auto text = [&](const char* kernel, auto mode) {
    return optimisedText(source, kernel, mode);
  };
  using compiler::Vectorising;
  EXPECT_FALSE(std::regex_search(text("diagonal", Vectorising::always), whole));
  EXPECT_TRUE(std::regex_search(text("columns", Vectorising::always), whole));
  // So its vectors do not seem to pay.
  EXPECT_EQ(text("diagonal", Vectorising::automatic).find("masked.gather"), std::string::npos);
}

// Without instructions for that, a gather of some lanes only would be a branch for each of them.
TEST(Gathers, OfSomeLanes) {
  const char* const source = R"(
    kernel void sums(global const int* places, global const float* x, global float* y, int n) {
      const size_t i = get_global_id(0);
      float sum = 0;
      for (int k = 0; k < n; ++k) {
        const int place = places[k * get_global_size(0) + i];
        if (place >= 0) sum += x[place];
      }
      y[i] = sum;
    })";
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module = compileOpenCl(context, source);
  const llvm::TargetTransformInfo machine =
      hostMachine().getTargetTransformInfo(*module->getFunction("sums"));
  const unsigned lanes = static_cast<unsigned>(
      machine.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() /
      32);
  const bool has_gathers = machine.isLegalMaskedGather(
      llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), lanes), llvm::Align(4));
  const std::string text = optimisedText(source, "sums", compiler::Vectorising::always);
  EXPECT_EQ(std::regex_search(text, std::regex("masked\\.gather.*<\\d+ x i1> %")), has_gathers);
  constexpr int turns = 5, items = 45;
  std::vector<int> places(turns * items);
  std::vector<float> x(items), y(items, -1), wanted(items, 0);
  for (int i = 0; i < items; ++i) x[i] = static_cast<float>(i * i);
  for (int i = 0; i < turns * items; ++i) places[i] = i * 7 % 5 == 0 ? -1000000 : i * 11 % items;
  for (int i = 0; i < turns * items; ++i)
    if (places[i] >= 0) wanted[i % items] += x[places[i]];
  Program(source, true, compiler::Vectorising::always)
      .run("sums", {1, {items, 1, 1}, {items, 1, 1}, {0, 0, 0}},
           {Program::buffer(places.data()), Program::buffer(x.data()), Program::buffer(y.data()),
            Program::value(turns)});
  EXPECT_EQ(y, wanted);
}

// Where no masks load bytes a vector is read whole, but only if none of it may not be there: here
// the page behind the text is not, nor is anything where no lane reads.
TEST(Gathers, BytesOfSomeLanes) {
  const char* const source = R"(
    kernel void match(global const uchar* text, global const ushort* wide, global int* length,
                      int most) {
      const int i = get_global_id(0);
      int k = 0;
      while (i + k < most && text[i + k] == 'a' && wide[i + k] == 7) ++k;
      length[i] = k;
    })";
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto memory = [&] {
    void* const start =
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(start, MAP_FAILED);
    EXPECT_EQ(mprotect(static_cast<char*>(start) + 2 * page, page, PROT_NONE), 0);
    return static_cast<char*>(start);
  };
  char *const texts = memory(), *const words = memory();
  const Program program(source, true, compiler::Vectorising::always);
  for (const int most : {300, 150, 37, 5, 1}) {
    auto* const text = texts + 2 * page - most;
    auto* const wide = reinterpret_cast<uint16_t*>(words + 2 * page) - most;
    for (int i = 0; i < most; ++i) {
      text[i] = i % 23 == 22 ? 'b' : 'a';
      wide[i] = i % 31 == 30 ? 8 : 7;
    }
    const uint32_t items = 320;  // some of which are beyond it all
    std::vector<int> length(items, -1);
    program.run("match", {1, {items, 1, 1}, {64, 1, 1}, {0, 0, 0}},
                {Program::buffer(text), Program::buffer(wide), Program::buffer(length.data()),
                 Program::value(most)});
    for (int i = 0; i < static_cast<int>(items); ++i) {
      int k = 0;
      while (i + k < most && text[i + k] == 'a' && wide[i + k] == 7) ++k;
      ASSERT_EQ(length[i], k) << i << " of " << most;
    }
  }
  munmap(texts, 3 * page);
  munmap(words, 3 * page);
}

// Not what the stack has, which may be numbers that take a processor long.
TEST(Gathers, LanesThatDoNotRunLoadZeros) {
  if (!hostMachine().getTargetFeatureString().contains("+avx512f")) GTEST_SKIP() << "needs AVX-512";
  const std::string text = optimisedText(
      "kernel void products(global const float* x, global float* out, int n, int d) {\n"
      "  int i = get_global_id(0), j = get_global_id(1);\n"
      "  if (j > i) return;\n"
      "  float sum = 0;\n"
      "  for (int k = 0; k < d; k++) sum += x[i * d + k] * x[j * d + k];\n"
      "  out[i * n + j] = sum;\n}\n",
      "products");
  ASSERT_NE(text.find("%nothing"), std::string::npos);
  EXPECT_TRUE(
      std::regex_search(text, std::regex("store <\\d+ x float> zeroinitializer, ptr %nothing")));
}

}  // namespace
}  // namespace weft::test
