// OpenCL C 6.15.13: shuffle() and shuffle2() in an order that is known only when they run.
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t items = 64;

struct Shape {
  size_t from, to;  // elements
};

class Shuffles : public Programs, public testing::WithParamInterface<Shape> {
 protected:
  // T's elements, in the order of masks of U's.
  template <class T, class U>
  void compare(const std::string& type, const std::string& mask_type) {
    const auto [from, to] = GetParam();
    const std::string in = type + std::to_string(from), out = type + std::to_string(to),
                      mask = mask_type + std::to_string(to);
    const OwnedProgram program =
        built("kernel void k(global const " + in + "* a, global const " + in +
              "* b, global const " + mask + "* m, global " + out + "* one, global " + out +
              "* two) {\n"
              "  size_t i = get_global_id(0);\n"
              "  one[i] = shuffle(a[i], m[i]);\n"
              "  two[i] = shuffle2(a[i], b[i], m[i]);\n"
              "}");
    const OwnedKernel k = kernel(program, "k");
    std::mt19937 random(7);
    const auto numbers = [&]<class N>(size_t count, N) {
      std::vector<N> values(count);
      for (N& value : values) value = static_cast<N>(random());
      return values;
    };
    const auto a = numbers(items * from, T{}), b = numbers(items * from, T{});
    const auto m = numbers(items * to, U{});  // only their lower bits count
    const OwnedMem first = upload(a), second = upload(b), order = upload(m);
    const OwnedMem one = upload(std::vector<T>(items * to)),
                   two = upload(std::vector<T>(items * to));
    set(k, first, second, order, one, two);
    run(k, {{items}, {16}});
    const auto got = download<T>(one), got2 = download<T>(two);
    for (size_t i = 0; i < items * to; ++i) {
      const size_t item = i / to * from, place = m[i] % from, place2 = m[i] % (2 * from);
      ASSERT_EQ(got[i], a[item + place]) << type << " " << i;
      ASSERT_EQ(got2[i], place2 < from ? a[item + place2] : b[item + place2 - from])
          << type << " " << i;
    }
  }
};

TEST_P(Shuffles, TakeElementsInTheOrderOfTheMask) {
  compare<cl_char, cl_uchar>("char", "uchar");
  compare<cl_uchar, cl_uchar>("uchar", "uchar");
  compare<cl_short, cl_ushort>("short", "ushort");
  compare<cl_ushort, cl_ushort>("ushort", "ushort");
  compare<cl_int, cl_uint>("int", "uint");
}

INSTANTIATE_TEST_SUITE_P(Sizes, Shuffles,
                         testing::Values(Shape{2, 8}, Shape{4, 16}, Shape{8, 4}, Shape{8, 8},
                                         Shape{8, 16}, Shape{16, 8}, Shape{16, 16}),
                         [](const auto& info) {
                           return std::to_string(info.param.from) + "_to_" +
                                  std::to_string(info.param.to);
                         });

}  // namespace
}  // namespace weft::e2e
