#include "tests/compiler/passes/random_kernel.h"

#include <random>
#include <utility>
#include <vector>

namespace weft::test {
namespace {

class Generator {
 public:
  Generator(std::string name, uint64_t seed) : name_(std::move(name)), random_(seed) {
    wild_ = chance(20);
  }

  std::string program() {
    for (unsigned i = 0; i < helpers_; ++i) helper(i);
    line("kernel void " + name_ +
         "(global uint* out, global const uint* in, uint n, uint m, local uint* shared) {");
    line("local atomic_uint counter;");
    prepare("get_global_linear_id()", "0");
    line("shared[l] = g; if (l == 0) *(local uint*)&counter = 0; barrier(CLK_LOCAL_MEM_FENCE);");
    in_kernel_ = true;
    statements(3 + below(3), 2 + below(2));
    finish();
    line("}");
    return text_;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::string number(unsigned n) { return std::to_string(below(n)); }
  void line(const std::string& text) { text_ += text + "\n"; }

  // What kernel and helpers start with: ids, variables of several types, an array.
  void prepare(const std::string& g, const std::string& first) {
    line("const uint l = get_local_linear_id(), g = " + g + ";");
    line("const uint ls = get_local_size(0) * get_local_size(1) * get_local_size(2);");
    line("uint v0 = " + first +
         " + g, v1 = l * 7 + n; ulong v2 = g * 0x100000001ul; uchar v3 = l;");
    line("bool v4 = g & 1; uint3 v5 = (uint3)(g, n, l); uint p[8] = {g, l, n, 3, 4, 5, 6, m};");
    line("uint u0 = n, u1 = m * 3, d = 0, fuel = 6;");
  }
  void finish() {
    line("out[g * 3 + 0] = v0 ^ v1 * 3 ^ (uint)v2 * 5 ^ v3 * 7 ^ v4 * 11 ^ (uint)(v2 >> 32);");
    line("out[g * 3 + 1] = v5.x ^ v5.y * 3 ^ v5.z * 5 ^ u0 * 7 ^ u1 * 11 ^ d * 13 ^ fuel * 17;");
    line("uint hash = 0; for (uint i = 0; i < 8; ++i) hash = hash * 31 + p[i];");
    line("out[g * 3 + 2] = hash;");
  }

  // An expression that is the same for all work-items of a group.
  std::string uniform(unsigned depth = 2) {
    if (depth == 0 || chance(35)) {
      unsigned pick = below(7);
      if (pick == 0) return "u0";
      if (pick == 1) return "u1";
      if (pick == 2) return "n";
      if (pick == 3) return "(uint)get_group_id(0)";
      if (pick == 4) return "d";
      if (pick == 5 && !counters_.empty()) return counters_[below(counters_.size())];
      return number(9) + "u";
    }
    return combine(uniform(depth - 1), uniform(depth - 1));
  }
  std::string divergent(unsigned depth = 2) {
    if (depth == 0 || chance(25)) {
      switch (below(11)) {
        case 0:
          return "v0";
        case 1:
          return "v1";
        case 2:
          return "(uint)v2";
        case 3:
          return "v3";
        case 4:
          return "v4";
        case 5:
          return "v5." + std::string(1, "xyz"[below(3)]);
        case 6:
          return "l";
        case 7:
          return "g";
        case 8:
          return "in[" + divergent(0) + " & 63]";
        case 9:
          return "p[" + divergent(0) + " & 7]";
        default:
          return uniform(1);
      }
    }
    return combine(divergent(depth - 1), divergent(depth - 1));
  }
  std::string combine(const std::string& a, const std::string& b) {
    static const char* const operators[] = {" + ", " - ", " * ", " ^ ",
                                            " & ", " | ", " < ", " == "};
    if (chance(10)) return "(" + a + " % 3 ? " + b + " : " + number(100) + "u)";
    if (chance(10)) return "(" + a + " >> (" + b + " & 15))";
    return "(uint)(" + a + operators[below(8)] + b + ")";
  }
  // A condition under which barriers may stand.
  std::string condition() {
    return "(" + (wild_ ? divergent() : uniform()) + ") % 3 == " + number(3);
  }
  std::string divergentCondition() { return "(" + divergent() + ") % 4 == " + number(4); }

  void statements(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) statement(depth);
  }
  void block(unsigned depth) {
    statements(1 + below(3), depth);
    line("}");
  }
  void statement(unsigned depth) {
    unsigned pick = below(depth == 0 ? 50 : 100);
    if (pick < 18) return assignment();
    if (pick < 24) return line("u" + number(2) + " = " + uniform() + ";");
    if (pick < 32) return barrier();
    if (pick < 42) return exchange();
    if (pick < 45) return call();
    if (pick < 48) return leave();
    if (pick < 50) return divergentCode();
    if (pick < 66) return conditional(depth - 1);
    if (pick < 88) return loop(depth - 1);
    if (pick < 94) return jump(depth - 1);
    return choice(depth - 1);
  }
  void assignment() {
    switch (below(7)) {
      case 0:
        return line("v2 = v2 * 3 + " + divergent() + ";");
      case 1:
        return line("v3 = " + divergent() + ";");
      case 2:
        return line("v4 = (" + divergent() + ") & 4;");
      case 3:
        return line("v5." + std::string(1, "xyz"[below(3)]) + " += " + divergent() + ";");
      case 4:
        return line("p[" + divergent(1) + " & 7] = " + divergent() + ";");
      default:
        return line("v" + number(2) + " = " + divergent(3) + ";");
    }
  }
  void barrier() {
    static const char* const barriers[] = {
        "barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_GLOBAL_MEM_FENCE);",
        "work_group_barrier(CLK_LOCAL_MEM_FENCE);",
        "work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);"};
    line(barriers[below(4)]);
  }
  // Every use of shared memory is behind a barrier and followed by one.
  void exchange() {
    if (wild_) return barrier();
    if (in_kernel_ && chance(30)) {
      line("__opencl_atomic_fetch_add(&counter, " + divergent() +
           ", memory_order_relaxed, memory_scope_work_group); barrier(CLK_LOCAL_MEM_FENCE);");
      line("d = *(local uint*)&counter; barrier(CLK_LOCAL_MEM_FENCE);");
      return;
    }
    line("shared[l] = " + divergent() + "; barrier(CLK_LOCAL_MEM_FENCE);");
    line("v" + number(2) + " ^= shared[(l + " + number(70) +
         ") % ls]; barrier(CLK_LOCAL_MEM_FENCE);");
  }
  void call() {
    if (!in_kernel_) return assignment();
    line("v" + number(2) + " += helper" + number(helpers_) + name_ + "(shared, in, " +
         divergent(1) + ", " + uniform(1) + ", " + uniform(1) + ", p);");
  }
  void leave() {
    unsigned pick = below(4);
    bool in_loop = loops_ > 0;
    std::string condition_here =
        in_kernel_ && pick < 2 && !in_loop ? divergentCondition() : condition();
    if (pick < 2 && in_loop)
      return line("if (" + condition_here + ") " + (pick ? "break;" : "continue;"));
    line("if (" + condition_here + ") {");
    if (in_kernel_) finish();
    line(in_kernel_ ? "return; }" : "return v0 ^ v5.y; }");
  }
  void divergentCode() {
    std::string i = "j" + std::to_string(names_++);
    line("for (uint " + i + " = 0; " + i + " < (" + divergent() + ") % 5; ++" + i + ") {");
    assignment();
    if (chance(50)) line("if (" + divergentCondition() + ") break;");
    assignment();
    line("}");
  }
  void conditional(unsigned depth) {
    line("if (" + condition() + ") {");
    block(depth);
    if (chance(50)) {
      line("else {");
      block(depth);
    }
  }
  void loop(unsigned depth) {
    std::string i = "i" + std::to_string(names_++);
    std::string bound = "(" + (wild_ && chance(50) ? divergent() : uniform()) + ") % 4";
    line("uint " + i + " = 0;");
    unsigned shape = below(3);
    const std::string limit = "b" + i;
    line("uint " + limit + " = " + bound + ";");
    line(shape == 0   ? "for (; " + i + " < " + limit + "; ++" + i + ") {"
         : shape == 1 ? "while (" + i + "++ < " + limit + ") {"
                      : "do {");
    if (!wild_) counters_.push_back(i);
    ++loops_;
    statements(1 + below(3), depth);
    --loops_;
    if (!wild_) counters_.pop_back();
    line(shape == 2 ? "} while (" + i + "++ < " + limit + ");" : "}");
  }
  // Jumps backward and forward, also into the middle of loops: irreducible control flow.
  void jump(unsigned depth) {
    std::string label = "label" + std::to_string(names_++);
    std::string test = "if (fuel > 0 && " + condition() + ") { --fuel; goto " + label + "; }";
    std::string i = "i" + std::to_string(names_++);
    unsigned shape = below(3);
    line("uint " + i + " = 0;");
    if (shape == 0) line(label + ":;");
    if (shape == 1) line(test);
    if (shape == 2) line(test + " for (; " + i + " < 2; ++" + i + ") {");
    statements(1, depth);
    if (shape == 2) line(label + ":; ++" + i + ";");
    statements(1, depth);
    if (shape == 0) line(test);
    if (shape == 1) line(label + ":;");
    if (shape == 2) line("}");
  }
  void choice(unsigned depth) {
    line("switch ((" + (wild_ ? divergent() : uniform()) + ") % 4) {");
    unsigned loops = std::exchange(loops_, 0);
    for (unsigned i = 0; i < 3; ++i) {
      line(i == 2 ? "default: {" : "case " + std::to_string(i) + ": {");
      block(depth);
      if (chance(70)) line("break;");
    }
    loops_ = loops;
    line("}");
  }
  void helper(unsigned index) {
    line("uint helper" + std::to_string(index) + name_ +
         "(local uint* shared, global const uint* in, uint v, uint n, uint m, uint* q) {");
    prepare("get_global_linear_id()", "v");
    line("q[n & 7] += v1;");
    statements(2, 2);
    line("q[v & 7] ^= v0;");
    line("return v0 + v1 + v3 + v5.x + p[v & 7];");
    line("}");
  }

  std::string name_;
  std::mt19937_64 random_;
  std::string text_;
  bool wild_ = false;
  bool in_kernel_ = false;
  unsigned helpers_ = 2, loops_ = 0, names_ = 0;
  std::vector<std::string> counters_;
};

}  // namespace

std::string randomKernel(const std::string& name, uint64_t seed) {
  return Generator(name, seed).program();
}

}  // namespace weft::test
