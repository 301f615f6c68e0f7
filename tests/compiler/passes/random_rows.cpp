#include "tests/compiler/passes/random_rows.h"

#include <random>
#include <utility>
#include <vector>

namespace weft::test {
namespace {

class Generator {
 public:
  Generator(std::string name, uint64_t seed) : name_(std::move(name)), random_(seed) {}

  std::string program() {
    line("kernel void " + name_ +
         "(global uint* out, global const uint* in, uint n, uint m, local uint* shared) {");
    line("local atomic_uint counter;");
    line("const uint x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0);");
    line("const uint gy = get_global_id(1), l = get_local_linear_id();");
    line("const uint g = get_global_linear_id();");
    line("const uint ls = get_local_size(0) * get_local_size(1) * get_local_size(2);");
    const bool exchanges = chance(50);
    if (!exchanges && chance(50)) leave();
    if (exchanges)
      line("shared[l] = g; if (l == 0) *(local uint*)&counter = 0; barrier(CLK_LOCAL_MEM_FENCE);");
    line("uint u0 = n, c0 = gx * 3, c1 = in[gx & 63], r0 = gy + 5, r1 = in[gy & 63], v0 = g;");
    line("uint v1 = l * 7; ulong v2 = g * 0x100000001ul; uint p[8] = {gx, gy, n, 3, 4, 5, 6, m};");
    flat_ = exchanges;
    statements(4 + below(4), 3);
    line("out[g * 3] = v0 ^ c0 * 3 ^ r0 * 5; out[g * 3 + 1] = v1 ^ c1 * 3 ^ r1 * 5 ^ u0 * 7;");
    line("uint hash = v2 ^ v2 >> 32; for (uint i = 0; i < 8; ++i) hash = hash * 31 + p[i];");
    line("out[g * 3 + 2] = hash; }");
    return text_;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::string number(unsigned n) { return std::to_string(below(n)); }
  std::string pick(std::vector<std::string> choices) { return choices[below(choices.size())]; }
  void line(const std::string& text) { text_ += text + "\n"; }

  std::string combine(const std::string& a, const std::string& b) {
    if (chance(10)) return "(" + a + " % 3 ? " + b + " : " + number(100) + "u)";
    return "(uint)(" + a + pick({" + ", " - ", " * ", " ^ ", " & ", " | ", " < "}) + b + ")";
  }
  // The same for all work-items; in each column; in each row; anything.
  std::string uniform(unsigned depth = 1) {
    if (depth > 0 && chance(40)) return combine(uniform(depth - 1), uniform(depth - 1));
    if (!counters_.empty() && chance(40)) return counters_[below(counters_.size())];
    return pick({"n", "m", "u0", number(9) + "u", "(uint)get_group_id(1)"});
  }
  std::string column(unsigned depth = 2) {
    if (depth > 0 && chance(50)) return combine(column(depth - 1), column(depth - 1));
    return pick({"gx", "x", "c0", "c1", uniform(), "in[(gx + " + uniform() + ") & 63]",
                 "in[" + uniform() + " * 7 + x & 63]"});
  }
  std::string row(unsigned depth = 2) {
    if (depth > 0 && chance(50)) return combine(row(depth - 1), row(depth - 1));
    return pick({"gy", "y", "r0", "r1", uniform(), "in[(gy * 5 + " + uniform() + ") & 63]"});
  }
  std::string any(unsigned depth = 2) {
    if (depth > 0 && chance(60)) return combine(any(depth - 1), any(depth - 1));
    return pick({"v0", "v1", "(uint)v2", "g", "l", column(1), row(1), column(1), row(1),
                 "in[(gx + gy * 9) & 63]", "p[" + pick({column(0), row(0), uniform(0)}) + " & 7]",
                 "out[g * 3 + " + number(3) + "]"});
  }
  // What a row decides by its ids alone, so that it is known before it is run.
  std::string rowCondition() {
    return pick({"gy < m", "y > 1", "(gy & 3) == 1", "gy + n > 4 && y != 2", "gy % 5 < 4"});
  }
  std::string condition() {
    const unsigned choice = below(100);
    if (choice < 35) return "(" + column() + ") % 3 == " + number(3);
    if (choice < 55) return rowCondition();
    if (choice < 75) return "gx < n * 8 " + pick({"&& ", "|| "}) + rowCondition();
    if (choice < 90) return "(" + uniform() + ") % 3 == " + number(3);
    return "(" + any() + ") % 3 == " + number(3);
  }

  void leave() {
    line("if (gx >= n * 9 " + pick({"|| ", "&& ", "| "}) + rowCondition() + ") return;");
  }
  void statements(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) statement(depth);
  }
  void block(unsigned depth) {
    statements(1 + below(3), depth);
    line("}");
  }
  void statement(unsigned depth) {
    const unsigned choice = below(depth == 0 ? 60 : 100);
    if (choice < 40) return assignment();
    if (choice < 60) return flat_ ? exchange() : assignment();
    if (choice < 85) return loop(depth - 1);
    conditional(depth - 1);
  }
  void assignment() {
    switch (below(8)) {
      case 0:
        return line("c" + number(2) + " += " + column() + ";");
      case 1:
        return line("r" + number(2) + " = " + row() + ";");
      case 2:
        return line("v2 = v2 * 3 + " + any() + ";");
      case 3:
        return line("p[" + any(1) + " & 7] = " + any() + ";");
      case 4:
        return line("out[g * 3 + " + number(3) + "] = " + any() + ";");
      case 5:
        return line("v0 += " + column() + " * " + row() + ";");
      default:
        return line("v" + number(2) + " = " + any(3) + ";");
    }
  }
  // Every use of shared memory is behind a barrier and followed by one.
  void exchange() {
    const std::string barrier = " barrier(CLK_LOCAL_MEM_FENCE);";
    if (chance(30)) {
      line("__opencl_atomic_fetch_add(&counter, " + any() +
           ", memory_order_relaxed, memory_scope_work_group);" + barrier);
      return line("v0 ^= *(local uint*)&counter;" + barrier);
    }
    line("shared[l] = " + any() + ";" + barrier);
    line("v1 ^= shared[(" + pick({"l", "x", "y"}) + " + " + number(40) + ") % ls];" + barrier);
  }
  void loop(unsigned depth) {
    const std::string i = "i" + std::to_string(names_++);
    const unsigned choice = below(100);
    const bool same = choice < 70;
    const std::string bound = same ? uniform() : choice < 90 ? column(1) : row(1);
    line("const uint b" + i + " = (" + bound + ") % 5;");
    line("for (uint " + i + " = 0; " + i + " < b" + i + "; ++" + i + ") {");
    const bool flat = std::exchange(flat_, flat_ && same);
    counters_.push_back(i);
    block(depth);
    counters_.pop_back();
    flat_ = flat;
  }
  void conditional(unsigned depth) {
    const bool flat = std::exchange(flat_, false);
    line("if (" + condition() + ") {");
    block(depth);
    if (chance(40)) {
      line("else {");
      block(depth);
    }
    flat_ = flat;
  }

  std::string name_;
  std::mt19937_64 random_;
  std::string text_;
  bool flat_ = false;  // may there be a barrier?
  unsigned names_ = 0;
  std::vector<std::string> counters_;
};

}  // namespace

std::string randomRows(const std::string& name, uint64_t seed) {
  return Generator(name, seed).program();
}

}  // namespace weft::test
