// Integers and branches that some device's code computes otherwise than they are written.
#include <algorithm>
#include <random>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t count = 512;

// Random numbers, and many near the ends.
std::vector<cl_ulong> numbers(unsigned seed) {
  std::mt19937_64 random(seed);
  const cl_ulong ends[] = {0,
                           1,
                           2,
                           ~cl_ulong{0},
                           0x7f,
                           0x80,
                           0x7fff,
                           0x8000,
                           0x7fffffff,
                           0x80000000,
                           0xffffffff,
                           0x100000000,
                           0xff,
                           0xffff,
                           cl_ulong{1} << 63,
                           (cl_ulong{1} << 63) - 1};
  std::vector<cl_ulong> made(count);
  for (size_t i = 0; i < count; ++i)
    made[i] = i % 3 == 0 ? random() : ends[random() % std::size(ends)];
  return made;
}

template <class T>
cl_ulong distance(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<Unsigned>(a > b ? static_cast<Unsigned>(a) - static_cast<Unsigned>(b)
                                     : static_cast<Unsigned>(b) - static_cast<Unsigned>(a));
}

template <class T>
cl_ulong clamped(cl_long value) {
  return static_cast<cl_ulong>(static_cast<cl_long>(
      std::clamp<cl_long>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
}

class IntegerForms : public Programs {
 protected:
  // Of `expression` of a and b, and k, the work-item's number.
  std::vector<cl_ulong> values(const std::string& type, const std::string& expression) {
    const OwnedKernel k = kernel(
        built("kernel void k(global const ulong* x, global const ulong* y, global ulong* o) {\n"
              "  size_t k = get_global_id(0); " +
              type + " a = (" + type + ")x[k], b = (" + type + ")y[k];\n  o[k] = " + expression +
              "; }\n"),
        "k");
    const OwnedMem a = upload(x), b = upload(y), out = upload(std::vector<cl_ulong>(count));
    set(k, a, b, out);
    run(k, {{count}});
    return download<cl_ulong>(out);
  }

  template <class T>
  void check(const std::string& type) {
    const auto distances = values(type, "abs_diff(a, b)");
    const auto sums = values(type, "abs_diff(a, b) + (ulong)y[k]");
    for (size_t i = 0; i < count; ++i) {
      const cl_ulong expected = distance(static_cast<T>(x[i]), static_cast<T>(y[i]));
      ASSERT_EQ(distances[i], expected) << type << " " << x[i] << " " << y[i];
      ASSERT_EQ(sums[i], expected + y[i]) << type << " " << x[i] << " " << y[i];
    }
    if constexpr (sizeof(T) <= 4) {
      const auto added = values(type, "(long)add_sat(a, b)");
      const auto subtracted = values(type, "(long)sub_sat(a, b)");
      for (size_t i = 0; i < count; ++i) {
        const auto a = cl_long{static_cast<T>(x[i])}, b = cl_long{static_cast<T>(y[i])};
        ASSERT_EQ(added[i], clamped<T>(a + b)) << type << " " << a << " " << b;
        ASSERT_EQ(subtracted[i], clamped<T>(a - b)) << type << " " << a << " " << b;
      }
    }
  }

  const std::vector<cl_ulong> x = numbers(1), y = numbers(2);
};

TEST_F(IntegerForms, DistancesAndSaturatedSums) {
  check<cl_char>("char");
  check<cl_uchar>("uchar");
  check<cl_short>("short");
  check<cl_ushort>("ushort");
  check<cl_int>("int");
  check<cl_uint>("uint");
  check<cl_long>("long");
  check<cl_ulong>("ulong");
}

// The largest and smallest of three, some of them negatives or magnitudes.
TEST_F(IntegerForms, ExtremaOfNegatives) {
  const auto check = [&](const char* type, auto narrowed) {
    using T = decltype(narrowed);
    const std::string name = type;
    const auto negative = [](T a) {
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    };
    const auto magnitude = [&](T a) { return a < 0 ? negative(a) : a; };
    const auto largest = values(name, "(long)max(max(a, (" + name + ")-b), (" + name + ")(a + b))");
    const auto smallest =
        values(name, "(long)min(min(a, (" + name + ")-b), (" + name + ")(a + b))");
    const auto magnitudes = values(name, "(long)max((" + name + ")abs(a), (" + name + ")abs(b))");
    const auto twice = values(name, "(long)max((" + name + ")abs(a), (" + name + ")(a << 1))");
    for (size_t i = 0; i < count; ++i) {
      const T a = static_cast<T>(x[i]), b = static_cast<T>(y[i]);
      const T sum = static_cast<T>(x[i] + y[i]);
      const auto is = [](const std::vector<cl_ulong>& found, size_t at, T expected) {
        return found[at] == static_cast<cl_ulong>(static_cast<cl_long>(expected));
      };
      ASSERT_TRUE(is(largest, i, std::max(std::max(a, negative(b)), sum)))
          << name << " " << a << " " << b;
      ASSERT_TRUE(is(smallest, i, std::min(std::min(a, negative(b)), sum)))
          << name << " " << a << " " << b;
      ASSERT_TRUE(is(magnitudes, i, std::max(magnitude(a), magnitude(b))))
          << name << " " << a << " " << b;
      ASSERT_TRUE(is(twice, i, std::max(magnitude(a), static_cast<T>(x[i] << 1))))
          << name << " " << a;
    }
  };
  check("char", cl_char{});
  check("short", cl_short{});
  check("int", cl_int{});
  check("long", cl_long{});
}

TEST_F(IntegerForms, MasksOfBits) {
  for (const int bit : {0, 1, 30, 31, 32, 33, 62, 63}) {
    const std::string place = std::to_string(bit);
    const auto masks = values("ulong", "-((a >> " + place + ") & 1)");
    const auto chosen = values("ulong", "b & -((a >> " + place + ") & 1)");
    const auto others = values("ulong", "(a & (1ul << " + place + ")) ? 0 : b");
    for (size_t i = 0; i < count; ++i) {
      const cl_ulong mask = x[i] >> bit & 1 ? ~cl_ulong{0} : 0;
      ASSERT_EQ(masks[i], mask) << bit << " of " << x[i];
      ASSERT_EQ(chosen[i], mask & y[i]) << bit << " of " << x[i];
      ASSERT_EQ(others[i], ~mask & y[i]) << bit << " of " << x[i];
    }
  }
}

TEST_F(IntegerForms, UpperHalvesOfIds) {
  const auto upper = [](cl_ulong a, cl_ulong b) {
    return static_cast<cl_ulong>(static_cast<unsigned __int128>(a) * b >> 64);
  };
  constexpr cl_ulong golden = 0x9e3779b97f4a7c15;
  const auto of_ids = values("ulong", "mul_hi((ulong)k, 0x9e3779b97f4a7c15ul)");
  const auto of_sums = values("ulong", "mul_hi((ulong)get_local_id(0) * 3 + 7, a) + b");
  const auto of_signed = values("long", "mul_hi((long)k - 9, a)");
  const auto of_narrow = values("ulong", "mul_hi((ulong)(uint)k, a)");
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(of_ids[i], upper(i, golden)) << i;
    ASSERT_EQ(of_narrow[i], upper(i, x[i])) << i;
    const __int128 product = (__int128{static_cast<cl_long>(i)} - 9) * static_cast<cl_long>(x[i]);
    ASSERT_EQ(of_signed[i], static_cast<cl_ulong>(product >> 64)) << i;
  }
  const auto ids = values("ulong", "get_local_id(0)");
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(of_sums[i], upper(ids[i] * 3 + 7, x[i]) + y[i]) << i;
}

// LLVM's vectoriser divides where the first lane does.
TEST_F(IntegerForms, QuotientsOfTheGroupInAddresses) {
  const OwnedKernel k = kernel(
      built("kernel void k(global int* o, global const int* in) {\n"
            "  uint n = get_local_size(0), l = get_local_id(0), g = get_group_id(0); int v = -1;\n"
            "  local int s[64]; s[l] = l * 3 + g;\n"
            "  barrier(CLK_LOCAL_MEM_FENCE);\n"
            "  if (l & 3) v = s[g % n];\n"
            "  if (l & 1) v += in[5 * g / n];\n"
            "  for (uint t = 0; t < 40; ++t) if (in[t] & 1) v += in[g / (n - 1)] ^ t;\n"
            "  o[get_global_id(0)] = v; }\n"),
      "k");
  std::vector<cl_int> in(64);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<cl_int>(i * i % 31);
  const OwnedMem inputs = upload(in);
  for (const cl_uint n : {3u, 5u, 8u, 13u, 20u, 32u, 64u}) {
    const cl_uint groups = 9;
    const OwnedMem out = upload(std::vector<cl_int>(size_t{n} * groups));
    set(k, out, inputs);
    run(k, {{size_t{n} * groups}, {n}});
    const auto got = download<cl_int>(out);
    for (cl_uint g = 0; g < groups; ++g)
      for (cl_uint l = 0; l < n; ++l) {
        cl_int v = l & 3 ? static_cast<cl_int>(g % n * 3 + g) : -1;
        if (l & 1) v += in[5 * g / n];
        for (cl_int t = 0; t < 40; ++t)
          if (in[static_cast<size_t>(t)] & 1) v += in[g / (n - 1)] ^ t;
        ASSERT_EQ(got[g * n + l], v) << "local size " << n << ", group " << g << ", item " << l;
      }
  }
}

// break, continue and return out of scopes with arrays, in loops with and without a known end.
TEST_F(IntegerForms, WaysOutOfScopes) {
  const OwnedKernel k = kernel(
      built("int search(global const ulong* x, int i, int n) {\n"
            "  for (int t = 0; t < n; ++t) {\n"
            "    int p[9]; int sum = 0;\n"
            "    for (int j = 0; j < 9; ++j) { p[j] = (int)(x[(i + t * 7 + j) % 512] & 255);\n"
            "                                  sum += p[j]; }\n"
            "    if (sum % 5 == 0) continue;\n"
            "    int most = 0, found = -1;\n"
            "    for (int j = 0; j < 9; ++j) { if (p[j] == 0) continue;\n"
            "      most += p[j]; found = j; if (most * 2 >= sum) break; }\n"
            "    if (found == i % 9) return t * 16 + found;\n"
            "    int steps = 0;\n"
            "    while (true) { int q[2] = {sum, found}; int r = q[steps & 1] + steps;\n"
            "      if (r % 3 == 0) break; if (++steps > 4) break; sum += r; }\n"
            "    if (steps == 3) return -sum;\n"
            "  }\n"
            "  return -1; }\n"
            "kernel void k(global const ulong* x, global const ulong* y, global int* o) {\n"
            "  int i = get_global_id(0); o[i] = search(x, i, 1 + (int)(y[i] & 7)); }\n"),
      "k");
  const OwnedMem a = upload(x), b = upload(y), out = upload(std::vector<cl_int>(count));
  set(k, a, b, out);
  run(k, {{count}});
  const auto search = [&](int i, int n) {
    for (int t = 0; t < n; ++t) {
      int p[9], sum = 0, most = 0, found = -1, steps = 0;
      for (int j = 0; j < 9; ++j) sum += p[j] = static_cast<int>(x[(i + t * 7 + j) % count] & 255);
      if (sum % 5 == 0) continue;
      for (int j = 0; j < 9 && (found < 0 || most * 2 < sum); ++j)
        if (p[j] != 0) most += p[j], found = j;
      if (found == i % 9) return t * 16 + found;
      while (true) {
        const int r = (steps & 1 ? found : sum) + steps;
        if (r % 3 == 0 || ++steps > 4) break;
        sum += r;
      }
      if (steps == 3) return -sum;
    }
    return -1;
  };
  const auto got = download<cl_int>(out);
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(got[i], search(static_cast<int>(i), 1 + static_cast<int>(y[i] & 7))) << i;
}

// Neighbours in a window that are clamped to an image's edges, and values that a number chooses.
TEST_F(IntegerForms, ClampedNeighbours) {
  constexpr int w = 32, h = 16;
  const OwnedKernel k = kernel(
      built(
          "kernel void k(global const ulong* a, global int* o, int w, int h) {\n"
          "  int x = get_global_id(0), y = get_global_id(1), s = 0;\n"
          "  for (int i = -3; i <= 3; ++i) { int d = 0;\n"
          "    for (int v = -1; v <= 1; ++v) for (int u = -2; u <= 2; ++u) {\n"
          "      int p = (int)(a[clamp(y + v, 0, h - 1) * w + clamp(x + i + u, 0, w - 1)] & 15);\n"
          "      d += (p == 0 ? x : p == 1 ? y : p == 2 ? i : p) * (u + 3 * v); }\n"
          "    s += d * d; }\n"
          "  o[y * w + x] = s; }\n"),
      "k");
  const OwnedMem in = upload(x), out = upload(std::vector<cl_int>(count));
  set(k, in, out, cl_int{w}, cl_int{h});
  run(k, {{w, h}});
  const auto got = download<cl_int>(out);
  for (int row = 0; row < h; ++row)
    for (int column = 0; column < w; ++column) {
      int s = 0;
      for (int i = -3; i <= 3; ++i) {
        int d = 0;
        for (int v = -1; v <= 1; ++v)
          for (int u = -2; u <= 2; ++u) {
            const int at = std::clamp(row + v, 0, h - 1) * w + std::clamp(column + i + u, 0, w - 1);
            const auto p = static_cast<int>(x[at] & 15);
            d += (p == 0 ? column : p == 1 ? row : p == 2 ? i : p) * (u + 3 * v);
          }
        s += d * d;
      }
      ASSERT_EQ(got[row * w + column], s) << column << ", " << row;
    }
}

}  // namespace
}  // namespace weft::e2e
