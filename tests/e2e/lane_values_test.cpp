// What one work-item does is its own, however many run as the lanes of a vector: its order of
// accesses, values that others do not have, ids that are out of range for those that do not run.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t count = 256;

class LaneValues : public Programs {
 protected:
  using Expected = std::function<cl_int(cl_int)>;

  // Of `k`, whose first argument is `out`, of which work-items may leave elements as they are: 0.
  template <class... A>
  void expect(const OwnedKernel& k, const std::vector<size_t>& local, const Expected& expected,
              const A&... arguments) {
    const OwnedMem out = upload(std::vector<cl_int>(count));
    set(k, out, arguments...);
    run(k, {{count}, local});
    const std::vector<cl_int> values = download<cl_int>(out);
    for (cl_int i = 0; i < cl_int{count}; ++i)
      ASSERT_EQ(values[static_cast<size_t>(i)], expected(i))
          << "work-item " << i << " in groups of " << local[0];
  }
  OwnedKernel kernelOf(const std::string& source) {
    program_ = built(source.c_str(), "-cl-std=CL3.0");
    return kernel(program_, "k");
  }

 private:
  OwnedProgram program_;
};

TEST_F(LaneValues, WhereOthersHaveNone) {
  const OwnedKernel k = kernelOf(R"(
    int work(int n, int m) { int u = m; for (int i = 0; i < n; ++i) u = u * 3 + i; return u; }
    kernel void k(global int* out, int n, int m, local int* shared) {
      int l = get_local_id(0), v;
      if (l == 5) v = work(n, m);
      shared[l] = l;
      barrier(CLK_LOCAL_MEM_FENCE);
      out[get_global_id(0)] = l == 5 ? v : shared[l ^ 1];
    })");
  cl_int work = 7;
  for (cl_int i = 0; i < 9; ++i) work = work * 3 + i;
  for (const size_t local : {64u, 20u, 8u}) {
    const auto size = static_cast<cl_int>(local);
    expect(
        k, {local}, [&](cl_int i) { return i % size == 5 ? work : (i % size) ^ 1; }, 9, 7,
        Local{(local + 1) * sizeof(cl_int)});
  }
}

// Of accesses that lie between each other's, in memory of all kinds.
TEST_F(LaneValues, AccessesStayInOrder) {
  const std::string access = "int p = t[2*i]; t[2*i + which[g]] = p + 1; int q = t[2*i + 1];";
  const std::string head =
      "kernel void k(global int* out, global int* x, global const int* which, local int* shared) {"
      "  int g = get_global_id(0), i = g;";
  const std::string tail = "  out[g] = p * 10 + q; }";
  const std::string in_local =
      "  i = get_local_id(0); local int* t = shared; t[2*i] = x[2*g]; t[2*i + 1] = x[2*g + 1];"
      "  barrier(CLK_LOCAL_MEM_FENCE);" +
      access + "  barrier(CLK_LOCAL_MEM_FENCE);";
  std::vector<cl_int> which(count), x(2 * count);
  for (size_t i = 0; i < count; ++i) which[i] = i % 3 == 0;
  for (size_t i = 0; i < 2 * count; ++i) x[i] = static_cast<cl_int>(i * 37 % 101);
  const OwnedMem choice = upload(which);
  for (const std::string& body : {"  global int* t = x;" + access, in_local}) {
    const OwnedKernel k = kernelOf(head + body + tail);
    for (const size_t local : {64u, 16u, 8u}) {
      const auto expected = [&](cl_int item) {
        const auto i = static_cast<size_t>(item);
        return x[2 * i] * 10 + (which[i] ? x[2 * i] + 1 : x[2 * i + 1]);
      };
      expect(k, {local}, expected, upload(x), choice, Local{2 * local * sizeof(cl_int)});
    }
  }
}

// Those that are seen only when short loops are unrolled, or when vectors are taken apart.
TEST_F(LaneValues, AccessesOfShortLoopsAndOfVectorsStayInOrder) {
  const OwnedKernel sorting = kernelOf(R"(
    kernel void k(global int* out, global int* x) {
      size_t g = get_global_id(0); global int* a = x + 3 * g;
      for (int c = 0; c < 2; ++c) {
        int m = c;
        for (int j = c + 1; j < 3; ++j) if (a[j] < a[m]) m = j;
        int t = a[c]; a[c] = a[m]; a[m] = t;
      }
      out[g] = a[0] + 100 * a[1] + 10000 * a[2];
    })");
  std::vector<cl_int> x(4 * count);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<cl_int>(i * 37 % 97);
  const auto sorted = [&](cl_int item) {
    std::array<cl_int, 3> a{};
    std::copy_n(x.begin() + 3 * item, 3, a.begin());
    std::ranges::sort(a);
    return a[0] + 100 * a[1] + 10000 * a[2];
  };
  for (const size_t local : {64u, 16u, 8u}) expect(sorting, {local}, sorted, upload(x));

  const OwnedKernel vectors = kernelOf(R"(
    kernel void k(global int* out, global int* x, global const int* which) {
      size_t g = get_global_id(0); global int4* v = (global int4*)x;
      int4 a = v[g];
      x[4*g + which[g]*2] = a.x * 3 + a.y;
      int4 b = v[g];
      int4 c = a * b + a;
      out[g] = c.x + c.y + c.z + c.w;
    })");
  std::vector<cl_int> which(count);
  for (size_t i = 0; i < count; ++i) which[i] = i % 3 == 0;
  const auto summed = [&](cl_int item) {
    std::array<cl_int, 4> a{};
    std::copy_n(x.begin() + 4 * item, 4, a.begin());
    std::array<cl_int, 4> b = a;
    b[item % 3 == 0 ? 2 : 0] = a[0] * 3 + a[1];
    cl_int sum = 0;
    for (size_t i = 0; i < 4; ++i) sum += a[i] * b[i] + a[i];
    return sum;
  };
  const OwnedMem choice = upload(which);
  for (const size_t local : {64u, 16u, 8u}) expect(vectors, {local}, summed, upload(x), choice);
}

// Where two groups run at once, each has its own.
TEST_F(LaneValues, FieldsWithAnnotations) {
  const OwnedKernel k = kernelOf(R"(
    #define NOTED __attribute__((annotate("noted")))
    typedef struct { int unused; int value NOTED; } Field;
    NOTED kernel void k(global int* out, global const int* a, global const Field* b) {
      local int left[16][16], right[16][17];
      int x = get_local_id(0), y = get_local_id(1), g = get_global_id(0), sum NOTED = 0;
      left[y][x] = a[y * 16 + x];
      right[y][x] = b[g].value;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
      out[get_global_id(1) * get_global_size(0) + g] = sum;
    })");
  constexpr size_t width = 64, height = 32;
  std::vector<cl_int> a(256), b(2 * width), want(width * height);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<cl_int>(i * 37 % 101);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<cl_int>(i * 53 % 89);
  for (size_t i = 0; i < want.size(); ++i)
    for (size_t place = 0; place < 16; ++place)
      want[i] += a[i / width % 16 * 16 + place] * b[2 * (i % width) + 1];
  const OwnedMem out = upload(std::vector<cl_int>(want.size())), left = upload(a),
                 right = upload(b);
  set(k, out, left, right);
  run(k, {{width, height}, {16, 16}});
  EXPECT_EQ(download<cl_int>(out), want);
}

TEST_F(LaneValues, TilesOfNoArgument) {
  const OwnedKernel k = kernelOf(R"(
    kernel void k(global int* out) {
      local int left[16][16], right[16][17];
      int x = get_local_id(0), y = get_local_id(1), g = get_global_id(0), sum = 0;
      left[y][x] = y * 16 + x;
      right[y][x] = g;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
      out[get_global_id(1) * get_global_size(0) + g] = sum;
    })");
  constexpr size_t width = 80, height = 32;
  std::vector<cl_int> want(width * height);
  for (size_t i = 0; i < want.size(); ++i)
    want[i] = static_cast<cl_int>((i / width % 16 * 256 + 120) * (i % width));
  const OwnedMem out = upload(std::vector<cl_int>(want.size()));
  set(k, out);
  run(k, {{width, height}, {16, 16}});
  EXPECT_EQ(download<cl_int>(out), want);
}

TEST_F(LaneValues, LargePrivateArraysAreTheirOwn) {
  const OwnedKernel k = kernelOf(R"(
    kernel void k(global int* out, global const int* to, global const int* from) {
      int g = get_global_id(0), t[400];
      t[to[g]] = g * 3;
      t[to[g] + 1] = 5;
      out[g] = t[from[g]] + t[from[g] + 1];
    })");
  std::vector<cl_int> places(count);
  for (size_t i = 0; i < count; ++i) places[i] = static_cast<cl_int>(i % 7);
  const OwnedMem to = upload(places), from = upload(places);
  for (const size_t local : {64u, 16u})
    expect(k, {local}, [](cl_int i) { return i * 3 + 5; }, to, from);
}

// What all of them would do alike, when all have left a loop whose condition is long and stands
// before its body.
TEST_F(LaneValues, NobodyIsLeftInALoop) {
  const auto loop = [&](const std::string& value) {
    return kernelOf(
        "kernel void k(global int* out, int n) {"
        "  for (int k = 0; k < (int)(max((uint)min(n, (int)get_global_id(0)),"
        "                                (uint)get_global_linear_id()) & 3u); ++k)"
        "    out[k] = " +
        value + "; }");
  };
  const OwnedKernel sum = loop("k + 5"), quotient = loop("12 / (3 - k)");
  for (const size_t local : {64u, 16u, 8u, 4u}) {
    expect(sum, {local}, [](cl_int i) { return i < 3 ? i + 5 : 0; }, 100);
    expect(quotient, {local}, [](cl_int i) { return i < 3 ? 12 / (3 - i) : 0; }, 100);
  }
}

TEST_F(LaneValues, DivisorsThatAreChosen) {
  const OwnedKernel by_flag = kernelOf(R"(
    kernel void k(global int* out, int n, int flag) {
      int g = get_global_id(0);
      out[g] = g / (flag == 0 ? 1 : n) + (uint)g % (flag == 0 ? 1u : (uint)n);
    })");
  for (const cl_int flag : {0, 1})
    expect(by_flag, {64}, [&](cl_int i) { return flag == 0 ? i : i / 7 + i % 7; }, 7, flag);
  const OwnedKernel guarded = kernelOf(R"(
    kernel void k(global int* out, int n) {
      int g = get_global_id(0) - 100;
      out[g + 100] = g / (n == 0 || (n == -1 && g == INT_MIN) ? 1 : n);
    })");
  for (const cl_int n : {0, 7, -1})
    expect(guarded, {64}, [&](cl_int i) { return (i - 100) / (n == 0 ? 1 : n); }, n);
}

// A first lane that does not run has the number without the bit that was to be added to it.
TEST_F(LaneValues, ButterfliesAcrossVectors) {
  const OwnedKernel k = kernelOf(R"(
    kernel void k(global int* out, global const int* in) {
      int i = get_global_id(0);
      if ((i & 4) == 0) {
        int x = in[i], y = in[i + 4];
        out[i] = x + y;
        out[i + 4] = x - y;
      }
    })");
  std::vector<cl_int> in(count);
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<cl_int>(i * 37 % 101);
  const OwnedMem source = upload(in);
  const auto expected = [&](cl_int item) {
    const auto i = static_cast<size_t>(item);
    return (i & 4) == 0 ? in[i] + in[i + 4] : in[i - 4] - in[i];
  };
  for (const size_t local : {64u, 20u, 5u}) expect(k, {local}, expected, source);
}

TEST_F(LaneValues, IndicesThatBecomePositiveWithinARow) {
  const OwnedKernel k = kernelOf(R"(
    kernel void k(global int* out, int off, long n) {
      int j = (int)get_global_id(0) - off;
      if (j >= 0) { if ((long)j - n < 0) out[get_global_id(0)] = j + 1; }
    })");
  for (const cl_int off : {0, 5, 20, 70})
    expect(
        k, {64}, [&](cl_int i) { return i >= off && i - off < 50 ? i - off + 1 : 0; }, off,
        cl_long{50});
}

TEST_F(LaneValues, AskedForByFunctionsThatStay) {
  constexpr cl_int calls = 400;
  std::string source = R"(
    __attribute__((noinline)) int mixed(int x) {
      const int group = get_group_id(0), item = get_local_id(0), width = get_local_size(0);
      for (int i = 0; i <= item % 3; ++i) {
        x = x * 5 + group * width + i;
        x ^= (x >> 7 & 0xff) + (int)get_global_id(0) % 13;
        if (x & 1) x += (item ^ i) * 3 - group;
        else x -= width + (int)get_num_groups(0);
      }
      return x & 0xffff;
    }
    kernel void k(global int* out) {
      int x = get_global_size(0);)";
  for (cl_int i = 0; i < calls; ++i) source += "\nx = mixed(x + " + std::to_string(i) + ");";
  const OwnedKernel k = kernelOf(source + "\nout[get_global_id(0)] = x; }");
  for (const cl_int size : {64, 16}) {
    const auto mixed = [&](cl_int x, cl_int id) {
      const cl_int group = id / size, item = id % size;
      for (cl_int i = 0; i <= item % 3; ++i) {
        x = x * 5 + group * size + i;
        x ^= (x >> 7 & 0xff) + id % 13;
        x = (x & 1) != 0 ? x + (item ^ i) * 3 - group : x - size - cl_int{count} / size;
      }
      return x & 0xffff;
    };
    expect(k, {static_cast<size_t>(size)}, [&](cl_int id) {
      cl_int x = count;
      for (cl_int i = 0; i < calls; ++i) x = mixed(x + i, id);
      return x;
    });
  }
}

}  // namespace
}  // namespace weft::e2e
