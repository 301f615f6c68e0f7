#include "tests/compiler/passes/random_tiles.h"

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
    line("local uint both[512], own[512]; local ulong wide[512];");
    line("const uint x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0);");
    line("const uint gy = get_global_id(1), l = get_local_linear_id();");
    line("const uint g = get_global_linear_id();");
    line("const uint ls = get_local_size(0) * get_local_size(1) * get_local_size(2);");
    line("uint u0 = m, a0 = gy * 3, a1 = in[(y * 5 + x) & 63], v0 = g, v1 = in[gx & 63];");
    line("ulong v2 = g * 0x100000001ul;");
    statements(5 + below(5), 2);
    line("out[g * 3] = v0 ^ a0 * 3; out[g * 3 + 1] = v1 ^ a1 * 3 ^ u0 * 7;");
    line("out[g * 3 + 2] = v2 ^ v2 >> 32; }");
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
  // The same for all work-items; for those of one place in groups side by side; anything.
  std::string uniform(unsigned depth = 1) {
    if (depth > 0 && chance(40)) return combine(uniform(depth - 1), uniform(depth - 1));
    if (!counters_.empty() && chance(50)) return counters_[below(counters_.size())];
    return pick({"n", "m", "u0", number(9) + "u", "(uint)get_group_id(1)"});
  }
  std::string common(unsigned depth = 2) {
    if (depth > 0 && chance(50)) return combine(common(depth - 1), common(depth - 1));
    return pick({"x", "y", "l", "gy", "a0", "a1", uniform(), "in[(gy * 5 + x) & 63]",
                 "in[(x + " + uniform() + ") & 63]"});
  }
  std::string any(unsigned depth = 2) {
    if (depth > 0 && chance(60)) return combine(any(depth - 1), any(depth - 1));
    return pick({"v0", "v1", "(uint)v2", "g", "gx", "(uint)get_group_id(0)", common(1),
                 "in[(gx + gy * 9) & 63]", "in[" + common(0) + " * get_group_id(0) & 63]",
                 "out[g * 3 + " + number(3) + "]"});
  }

  void statements(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) statement(depth);
  }
  void block(unsigned depth) {
    statements(1 + below(3), depth);
    line("}");
  }
  void statement(unsigned depth) {
    const unsigned choice = below(depth == 0 ? 65 : 100);
    if (choice < 30) return assignment();
    if (choice < 65) return flat_ ? exchange() : assignment();
    if (choice < 88) return loop(depth - 1);
    conditional(depth - 1);
  }
  void assignment() {
    switch (below(5)) {
      case 0:
        return line("a" + number(2) + " = " + common(3) + ";");
      case 1:
        return line("v2 = v2 * 3 + " + any() + ";");
      case 2:
        return line("out[g * 3 + " + number(3) + "] = " + any() + ";");
      default:
        return line("v" + number(2) + " += " + any(3) + ";");
    }
  }
  // Every use of a tile is behind a barrier and followed by one.
  void exchange() {
    const std::string barrier = " barrier(CLK_LOCAL_MEM_FENCE);";
    const bool same = chance(60);
    const std::string tile = same ? pick({"both", "shared"}) : pick({"own", "wide"});
    // A tile that is the same at first may not be so for long.
    const bool differs = !same || (tile == "both" && chance(15));
    line(tile + "[l] = " + (differs ? any() : common()) + ";" + barrier);
    const std::string place = "[(" + (chance(60) ? common(1) : any(1)) + ") % ls]";
    const bool into_common = !differs && chance(40);
    if (into_common)
      line("a" + number(2) + " ^= " + tile + "[(l + " + uniform() + ") % ls];" + barrier);
    else
      line("v" + number(2) + " += " + tile + place + " * " + any(1) + ";" + barrier);
  }
  void loop(unsigned depth) {
    const std::string i = "i" + std::to_string(names_++);
    const bool same = chance(80);
    line("const uint b" + i + " = (" + (same ? uniform() : common(1)) + ") % 5;");
    line("for (uint " + i + " = 0; " + i + " < b" + i + "; ++" + i + ") {");
    const bool flat = std::exchange(flat_, flat_ && same);
    counters_.push_back(i);
    block(depth);
    counters_.pop_back();
    flat_ = flat;
  }
  void conditional(unsigned depth) {
    const bool same = chance(40);
    line("if ((" + (same ? uniform() : common(1)) + ") % 3 == " + number(3) + ") {");
    const bool flat = std::exchange(flat_, flat_ && same);
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
  bool flat_ = true;  // may there be a barrier?
  unsigned names_ = 0;
  std::vector<std::string> counters_;
};

}  // namespace

std::string randomTiles(const std::string& name, uint64_t seed) {
  return Generator(name, seed).program();
}

}  // namespace weft::test
