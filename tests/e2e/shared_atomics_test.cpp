// Atomics of all work-items on a few integers, in launches that all of the device's threads share.
#include <algorithm>
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t items = 1 << 18, counters = 64;
// Enough that the device knows how long a launch takes.
constexpr int rounds = 12;

class SharedAtomics : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    std::mt19937 random(3);
    std::generate_n(std::back_inserter(values), items, std::ref(random));
    input = upload(values);
  }
  // With the arguments set.
  void launch(const OwnedKernel& kernel) const {
    for (int i = 0; i < rounds; ++i) ASSERT_EQ(enqueue(kernel, {{items}}), CL_SUCCESS);
  }
  // Counts values in `expected` as the kernels below do.
  void count(cl_uint* expected) const {
    for (const cl_uint value : values) expected[value % counters] += rounds;
  }
  template <class T, class Apply>
  void check(const std::string& operation, const std::string& type, Apply&& apply) {
    const OwnedProgram program =
        built("kernel void each(global const uint* in, global volatile " + type +
              "* sums) { uint value = in[get_global_id(0)]; " + operation +
              "(&sums[value % 64], (" + type + ")(value * 2654435761u)); }");
    const OwnedKernel each = kernel(program, "each");
    std::vector<T> expected(counters);
    for (size_t i = 0; i < counters; ++i) expected[i] = T(values[i] * 7919u);
    const OwnedMem sums = upload(expected);
    set(each, input, sums);
    launch(each);
    for (int round = 0; round < rounds; ++round)
      for (const cl_uint value : values) {
        T& one = expected[value % counters];
        one = apply(one, T(value * 2654435761u));
      }
    EXPECT_EQ(download<T>(sums), expected) << operation << " of " << type;
  }

  static constexpr const char* counting = R"(
    kernel void each(global const uint* in, global volatile uint* sums) {
      atomic_inc(&sums[in[get_global_id(0)] % 64]);
    }
    kernel void seeing(global const uint* in, global volatile uint* sums, global const uint* same,
                       global uint* seen) {
      atomic_inc(&sums[in[get_global_id(0)] % 64]);
      if (same[get_global_id(0) % 64] != 0) seen[0] = 1;
    })";
  std::vector<cl_uint> values;
  OwnedMem input;
};

TEST_F(SharedAtomics, OfEveryKind) {
  check<cl_uint>("atomic_add", "uint", [](cl_uint a, cl_uint b) { return a + b; });
  check<cl_uint>("atomic_sub", "uint", [](cl_uint a, cl_uint b) { return a - b; });
  check<cl_uint>("atomic_and", "uint", [](cl_uint a, cl_uint b) { return a & b; });
  check<cl_uint>("atomic_or", "uint", [](cl_uint a, cl_uint b) { return a | b; });
  check<cl_uint>("atomic_xor", "uint", [](cl_uint a, cl_uint b) { return a ^ b; });
  check<cl_uint>("atomic_min", "uint", [](cl_uint a, cl_uint b) { return std::min(a, b); });
  check<cl_uint>("atomic_max", "uint", [](cl_uint a, cl_uint b) { return std::max(a, b); });
  check<cl_int>("atomic_min", "int", [](cl_int a, cl_int b) { return std::min(a, b); });
  check<cl_int>("atomic_max", "int", [](cl_int a, cl_int b) { return std::max(a, b); });
}

TEST_F(SharedAtomics, OfLongIntegers) {
  const std::string extensions = deviceString(CL_DEVICE_EXTENSIONS);
  if (extensions.find("cl_khr_int64_base_atomics") == std::string::npos)
    GTEST_SKIP() << "no 64-bit atomics";
  check<cl_ulong>("atom_add", "ulong", [](cl_ulong a, cl_ulong b) { return a + b; });
  check<cl_ulong>("atom_sub", "ulong", [](cl_ulong a, cl_ulong b) { return a - b; });
}

// No OpenCL C, but the compiler takes them.
TEST_F(SharedAtomics, OfShortIntegers) {
  if (!(deviceInfo<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU))
    GTEST_SKIP() << "not all GPUs can";
  check<cl_ushort>("__sync_fetch_and_add", "ushort",
                   [](cl_ushort a, cl_ushort b) { return cl_ushort(a + b); });
  check<cl_uchar>("__sync_fetch_and_add", "uchar",
                  [](cl_uchar a, cl_uchar b) { return cl_uchar(a + b); });
}

TEST_F(SharedAtomics, OfWhatIsReadAsWell) {
  const OwnedProgram program = built(counting);
  const OwnedKernel seeing = kernel(program, "seeing");
  std::vector<cl_uint> expected(counters);
  const OwnedMem sums = upload(expected), seen = upload(std::vector<cl_uint>{0});
  set(seeing, input, sums, sums, seen);
  launch(seeing);
  count(expected.data());
  EXPECT_EQ(download<cl_uint>(sums), expected);
  EXPECT_EQ(download<cl_uint>(seen)[0], 1u);
}

// What is beside it stays.
TEST_F(SharedAtomics, OfAPartOfABuffer) {
  const OwnedProgram program = built(counting);
  const OwnedKernel each = kernel(program, "each");
  const size_t before = deviceInfo<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8 / sizeof(cl_uint);
  std::vector<cl_uint> expected(before + 2 * counters, 5);
  const OwnedMem whole = upload(expected);
  const cl_buffer_region region{before * sizeof(cl_uint), counters * sizeof(cl_uint)};
  cl_int code = 1;
  const OwnedMem part(cl.clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  set(each, input, part);
  launch(each);
  count(expected.data() + before);
  EXPECT_EQ(download<cl_uint>(whole), expected);
}

}  // namespace
}  // namespace weft::e2e
