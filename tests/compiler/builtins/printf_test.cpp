// OpenCL C 6.15.14: the packing of the calls in cl/printf.cl and the formatter behind it.
#include "core/printf.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "core/ports/launch.h"
#include "tests/compiler/builtins/program.h"

namespace weft::test {
namespace {

std::string printed;

void collect(const char* format, const void* arguments, uint64_t bytes) {
  formatPrintf(format, {static_cast<const std::byte*>(arguments), bytes}, printed);
}

class Printf : public testing::Test {
 protected:
  static const Program& program() {
    static const Program instance("printf");
    return instance;
  }
  void SetUp() override { printed.clear(); }
};

TEST_F(Printf, NoArguments) {
  program().get<void()>("hello")();
  EXPECT_EQ(printed, "hello\n");
}

TEST_F(Printf, Scalars) {
  program().get<void(int, int8_t, uint8_t, int16_t, int64_t, float, double)>("scalars")(
      42, -3, 200, -300, 1ll << 40, 1.5f, -2.25);
  EXPECT_EQ(printed,
            "42 -3 200 -300 1099511627776 1.500 -2.25 z|   42|42   |00042|+42|2a|0X2A|52|"
            "-2.250000e+00|%\n");
}

TEST_F(Printf, Vectors) {
  program().get<void()>("all_vectors")();
  EXPECT_EQ(printed,
            "-1,2,-3,4|-5,6|7,-8,9|1,ff,10,ffffffff|-1,2|0.500000,-1.500000,2.000000,inf|0.2,-0.8|"
            " 1.00, 2.50,-3.25\n");
}

TEST_F(Printf, Strings) {
  int target = 0;
  program().get<void(int*)>("strings")(&target);
  char expected[128];
  std::snprintf(expected, sizeof expected, "[abc] [     right] [l   ] [cu] %p\n",
                static_cast<void*>(&target));
  EXPECT_EQ(printed, expected);
}

TEST_F(Printf, EveryCallOfALoop) {
  program().get<void(int)>("branches")(8);
  EXPECT_EQ(printed, "1,3,5,7,");
}

std::string format(const char* text, std::span<const std::byte> packed = {}) {
  std::string out;
  formatPrintf(text, packed, out);
  return out;
}

template <class T>
std::vector<std::byte> pack(PrintfKind kind, const std::vector<T>& elements) {
  const PrintfArgument head{kind, sizeof(T), 0, static_cast<uint32_t>(elements.size())};
  std::vector<std::byte> bytes(sizeof head + (elements.size() * sizeof(T) + 7) / 8 * 8);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, elements.data(), elements.size() * sizeof(T));
  return bytes;
}

TEST(PrintfFormat, WhatIsNoConversionStaysAsItIs) {
  EXPECT_EQ(format("100% sure %y %"), "100% sure %y %");
  EXPECT_EQ(format("%v5d"), "%v5d");
  EXPECT_EQ(format("%99999999999999999999d"), "%99999999999999999999d");
}

TEST(PrintfFormat, MissingAndDamagedArguments) {
  EXPECT_EQ(format("%d %s"), "%d %s");
  auto packed = pack<int32_t>(PrintfKind::integer, {7});
  packed.resize(10);  // cut off
  EXPECT_EQ(format("%d", packed), "%d");
  EXPECT_EQ(format("%v4d", pack<int32_t>(PrintfKind::integer, {7})), "%v4d");
  EXPECT_EQ(format("%s", pack<int32_t>(PrintfKind::integer, {7})), "%s");
}

TEST(PrintfFormat, LengthModifiersCutScalars) {
  EXPECT_EQ(format("%hhd", pack<int32_t>(PrintfKind::integer, {0x1ff})), "-1");
  EXPECT_EQ(format("%hhu", pack<int32_t>(PrintfKind::integer, {0x1ff})), "255");
  EXPECT_EQ(format("%hx", pack<int32_t>(PrintfKind::integer, {0x12345})), "2345");
  EXPECT_EQ(format("%lu", pack<int64_t>(PrintfKind::integer, {-1})), "18446744073709551615");
}

TEST(PrintfFormat, HalfAndInlineStrings) {
  EXPECT_EQ(format("%v4hf", pack<uint16_t>(PrintfKind::floating, {0x3c00, 0xc000, 0x7c00, 1})),
            "1.000000,-2.000000,inf,0.000000");
  EXPECT_EQ(format("<%s>", pack<char>(PrintfKind::string, {'a', 'b'})), "<ab>");
  EXPECT_EQ(format("<%s>", pack<const char*>(PrintfKind::pointer, {nullptr})), "<(null)>");
}

TEST(PrintfFormat, ConcurrentLinesDoNotMix) {
  testing::internal::CaptureStdout();
  const auto packed = pack<int32_t>(PrintfKind::integer, {1234567});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) printToStdout("line %d end\n", packed.data(), packed.size());
    });
  for (std::thread& thread : threads) thread.join();
  std::fflush(stdout);
  const std::string output = testing::internal::GetCapturedStdout();
  std::string expected;
  for (int i = 0; i < 2000; ++i) expected += "line 1234567 end\n";
  EXPECT_EQ(output, expected);
}

}  // namespace

// What the lowering to lanes would put in place of the query.
extern "C" __attribute__((visibility("default"))) const port::HostServices* __weft_host_services() {
  static const port::HostServices services{collect};
  return &services;
}

}  // namespace weft::test
