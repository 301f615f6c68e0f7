// Random code with functions of sub-groups and work-groups, whose lanes part and meet again: where
// each sub-group is a vector it has to give what it gives where lanes go one by one.
#include <cstdlib>
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr unsigned programs = 8, items = 192;

class RandomLanes {
 public:
  explicit RandomLanes(unsigned seed) : random_(seed) {}

  std::string kernel() {
    static constexpr unsigned widths[] = {8, 16, 32};
    return "__attribute__((intel_reqd_sub_group_size(" + std::to_string(widths[below(3)]) +
           "))) kernel void k(global const int* in, global int* out) {\n"
           "  int i = get_global_id(0), v0 = in[i], v1 = in[i] * 3 + i, v3 = i;\n"
           "  int lane = get_sub_group_local_id(), members = get_sub_group_size(), v2 = lane;\n" +
           statements(4 + below(5), /*all_come=*/true, 1) +
           "  out[i] = v0 + v1 * 3 + v2 * 5 + v3 * 7;\n}\n";
  }

 private:
  using Format = std::pair<const char*, const char*>;  // before and behind the operand

  unsigned below(unsigned end) { return std::uniform_int_distribution(0u, end - 1)(random_); }
  bool rarely() { return below(5) < 2; }
  std::string variable() { return "v" + std::to_string(below(4)); }
  std::string operand() {
    switch (below(7)) {
      case 0:
        return std::to_string(below(30));
      case 1:
        return "(" + variable() + " + " + variable() + ")";
      case 2:
        return "(" + variable() + " ^ " + variable() + ")";
      case 3:
        return "(" + variable() + " >> 2)";
      case 4:
        return "min(" + variable() + ", lane)";
      case 5:
        return "(" + variable() + " & " + std::to_string(1 + below(63)) + ")";
      default:
        return variable();
    }
  }
  std::string condition() {
    static constexpr const char* comparisons[] = {" < ", " == ", " > "};
    return "(" + variable() + " & 3)" + comparisons[below(3)] + std::to_string(below(4));
  }

  // Of the lanes that come.
  std::string ofSome() {
    static constexpr Format formats[] = {
        {"sub_group_non_uniform_reduce_add(", ")"},
        {"sub_group_non_uniform_scan_inclusive_add(", ")"},
        {"sub_group_non_uniform_scan_exclusive_min(", ")"},
        {"(int)sub_group_non_uniform_reduce_xor((long)", " * 77)"},
        {"(int)sub_group_non_uniform_scan_inclusive_max((short)", ")"},
        {"sub_group_non_uniform_reduce_logical_or(1 & ", ")"},
        {"sub_group_clustered_reduce_add(", ", 4u)"},
        {"(int)sub_group_ballot(1 & ", ").x"},
        {"sub_group_broadcast_first(", ")"},
        {"sub_group_non_uniform_any(5 < ", ")"},
        {"sub_group_non_uniform_all(-5 < ", ")"},
        {"sub_group_non_uniform_all_equal(", ")"},
        {"sub_group_elect() + ", ""},
    };
    return with(formats[below(std::size(formats))]);
  }
  // Of all of them.
  std::string ofAll() {
    static constexpr Format formats[] = {
        {"sub_group_reduce_add(", ")"},
        {"sub_group_scan_inclusive_max(", ")"},
        {"sub_group_scan_exclusive_add(", ")"},
        {"(int)sub_group_reduce_min((long)", " << 20)"},
        {"sub_group_broadcast(", ", members - 1)"},
        {"sub_group_shuffle(", ", (uint)v0 % members)"},
        {"sub_group_shuffle(", ", (lane * 3 + 1) % members)"},
        {"sub_group_any(7 < ", ")"},
        {"sub_group_all(-7 < ", ")"},
        {"work_group_reduce_add(", ")"},
        {"work_group_scan_exclusive_max(", ")"},
        {"work_group_scan_inclusive_add(", ")"},
        {"work_group_broadcast(", ", 3)"},
    };
    return with(formats[below(std::size(formats))]);
  }
  std::string with(const Format& format) { return format.first + operand() + format.second; }

  std::string statements(unsigned count, bool all_come, unsigned depth) {
    constexpr unsigned deepest = 3;
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = below(8);
      if (kind < 3) {
        text += variable() + " = " + (all_come && !rarely() ? ofAll() : ofSome()) + ";\n";
      } else if (kind == 3 && depth < deepest) {
        text += "if (" + condition() + ") {\n" + statements(1 + below(3), false, depth + 1) + "}";
        if (rarely()) text += " else {\n" + statements(1 + below(2), false, depth + 1) + "}";
        text += "\n";
      } else if (kind == 4 && depth < deepest) {
        text += loop(all_come, depth);
      } else {
        text += variable() + " = " + operand() + ";\n";
      }
    }
    return text;
  }
  std::string loop(bool all_come, unsigned depth) {
    const bool alike = rarely();
    const std::string turn = "t" + std::to_string(depth), end = "e" + std::to_string(depth);
    std::string text = "{ int " + end + " = " + (alike ? "3" : "1 + (" + variable() + " & 3)") +
                       "; for (int " + turn + " = 0; " + turn + " < " + end + "; ++" + turn +
                       ") {\n" + statements(1 + below(3), all_come && alike, depth + 1);
    if (!(all_come && alike) && rarely())
      text += "if ((" + variable() + " & 15) == " + std::to_string(below(16)) + ") " +
              (rarely() ? "break;\n" : "continue;\n");
    return text + "} }\n";
  }

  std::mt19937 random_;
};

class RandomGroups : public Programs, public ::testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (deviceInfo<cl_device_type>(CL_DEVICE_TYPE) != CL_DEVICE_TYPE_CPU)
      GTEST_SKIP() << "the device has one form of them";
  }
  void TearDown() override {
    unsetenv("WEFT_VECTORIZE");
    Programs::TearDown();
  }
  std::vector<cl_int> results(const std::string& source, const char* vectors, size_t local) {
    setenv("WEFT_VECTORIZE", vectors, 1);
    const OwnedKernel k = kernel(built(source, "-cl-std=CL3.0"), "k");
    std::vector<cl_int> numbers(items);
    std::mt19937 random(7);
    for (cl_int& number : numbers) number = static_cast<cl_int>(random() % 100) - 50;
    const OwnedMem in = upload(numbers), out = upload(std::vector<cl_int>(items));
    set(k, in, out);
    run(k, {{items}, {local}});
    return download<cl_int>(out);
  }
};

TEST_P(RandomGroups, AreTheSameAsVectors) {
  for (unsigned i = 0; i < programs; ++i) {
    const std::string source = RandomLanes(GetParam() * programs + i).kernel();
    const size_t local = i % 3 == 0 ? 48 : i % 3 == 1 ? 64 : 12;
    ASSERT_EQ(results(source, "auto", local), results(source, "never", local))
        << "groups of " << local << "\n"
        << source;
  }
}

INSTANTIATE_TEST_SUITE_P(, RandomGroups, ::testing::Range(0u, 3u));

}  // namespace
}  // namespace weft::e2e
