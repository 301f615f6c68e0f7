// Atomic operations that a row of lanes does to one object are done by one for all.
#include <algorithm>
#include <functional>
#include <numeric>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

enum class Running : uint8_t { all, some, turns };

struct Case {
  const char* operation;  // as in the names of the functions
  const char* type;
  uint64_t start;
  std::function<uint64_t(uint64_t, uint64_t)> apply;
};

const Case cases[] = {
    {"add", "uint", 7, std::plus<>()},
    {"add", "ulong", uint64_t{1} << 40, std::plus<>()},
    {"sub", "uint", 7, std::minus<>()},
    {"and", "uint", ~uint64_t{0}, std::bit_and<>()},
    {"or", "uint", 0, std::bit_or<>()},
    {"xor", "ulong", 5, std::bit_xor<>()},
    {"min", "uint", 0x80000000,
     [](uint64_t a, uint64_t b) { return std::min<uint32_t>(uint32_t(a), uint32_t(b)); }},
    {"max", "uint", 0,
     [](uint64_t a, uint64_t b) { return std::max<uint32_t>(uint32_t(a), uint32_t(b)); }},
    {"min", "int", 0x7fffffff,
     [](uint64_t a, uint64_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); }},
    {"max", "int", 0x80000000,
     [](uint64_t a, uint64_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); }},
};

// Does work-item `i` do so in its turn `turn`?
bool runs(Running running, uint32_t value, uint32_t turn) {
  if (running == Running::turns) return turn < value % 4;
  return turn == 0 && (running == Running::all || value % 3 == 0);
}

std::string source(const Case& row) {
  const std::string type = row.type;
  return "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
         "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
         "#define KERNEL(name, how) kernel void name(global const uint* in, global " +
         type + "* out) { const uint value = in[get_global_id(0)]; how UPDATE; }\n" +
         "#define UPDATE __opencl_atomic_fetch_" + row.operation + "((volatile global atomic_" +
         type + "*)out, (" + type + R"()value, memory_order_relaxed, memory_scope_device)
    KERNEL(all, )
    KERNEL(some, if (value % 3 == 0))
    KERNEL(turns, for (uint turn = 0; turn < value % 4; ++turn)))";
}

constexpr uint32_t group = 75, items = 3 * group + 2;
constexpr compiler::Vectorising always = compiler::Vectorising::always;

std::vector<uint32_t> words() {
  std::vector<uint32_t> result(items);
  for (uint32_t i = 0; i < items; ++i) result[i] = i * 2654435761u ^ i << 20;
  return result;
}

template <class T>
void check(const Case& row) {
  const std::vector<uint32_t> in = words();
  const Program program(source(row), true, always);
  for (const auto& [form, running] :
       {std::pair{"all", Running::all}, {"some", Running::some}, {"turns", Running::turns}}) {
    T wanted = static_cast<T>(row.start), value = wanted;
    for (const uint32_t each : in)
      for (uint32_t turn = 0; turn < 4; ++turn)
        if (runs(running, each, turn)) wanted = static_cast<T>(row.apply(wanted, each));
    program.run(form, {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
                {Program::buffer(in.data()), Program::buffer(&value)});
    EXPECT_EQ(value, wanted) << row.operation << ' ' << row.type << ' ' << form;
  }
}

TEST(UnitedAtomics, AreThoseOfEachLane) {
  for (const Case& row : cases)
    if (row.type == std::string("ulong"))
      check<uint64_t>(row);
    else
      check<uint32_t>(row);
}

const char* const tickets = R"(
  kernel void numbers(global const uint* in, global uint* count, global uint* old) {
    const size_t i = get_global_id(0);
    old[i] = __opencl_atomic_fetch_add((volatile global atomic_uint*)count, in[i] % 5,
                                       memory_order_relaxed, memory_scope_device);
  }
  kernel void chosen(global const uint* in, global uint* count, global uint* old) {
    const size_t i = get_global_id(0);
    if (in[i] % 3 == 0)
      old[i] = __opencl_atomic_fetch_add((volatile global atomic_uint*)count, 1,
                                         memory_order_relaxed, memory_scope_device);
  })";

// What was there before is what some order of the lanes gives.
TEST(UnitedAtomics, ReturnWhatWasThere) {
  const std::vector<uint32_t> in = words();
  const Program program(tickets, true, always);
  for (const bool chosen : {false, true}) {
    std::vector<uint32_t> old(items, ~0u);
    uint32_t count = 10;
    program.run(chosen ? "chosen" : "numbers", {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
                {Program::buffer(in.data()), Program::buffer(&count), Program::buffer(old.data())});
    std::vector<std::pair<uint32_t, uint32_t>> spans;  // from, and how many
    for (uint32_t i = 0; i < items; ++i) {
      const uint32_t length = chosen ? in[i] % 3 == 0 : in[i] % 5;
      if (length != 0)
        spans.emplace_back(old[i], length);
      else
        EXPECT_EQ(old[i] == ~0u, chosen);
    }
    std::sort(spans.begin(), spans.end());
    uint32_t next = 10;
    for (const auto& [from, length] : spans) {
      EXPECT_EQ(from, next);
      next = from + length;
    }
    EXPECT_EQ(count, next);
  }
}

TEST(UnitedAtomics, AreFew) {
  if (!hostMachine().getTargetFeatureString().contains("+avx2"))
    GTEST_SKIP() << "needs masked stores";
  const std::string text = optimisedText(tickets, "chosen", always);
  const std::regex atomic("atomicrmw");
  const auto count = std::distance(std::sregex_iterator(text.begin(), text.end(), atomic), {});
  EXPECT_GE(count, 1);
  EXPECT_LE(count, 4);
  EXPECT_TRUE(std::regex_search(text, std::regex("add <(8|16) x i32>")));
}

}  // namespace
}  // namespace weft::test
