#include "tests/compiler/passes/random_accesses.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace weft::test {
namespace {

// An integer expression whose values are at most `bound` away from 0.
struct Expression {
  std::string text;
  std::string type;  // int, uint, long or ulong
  int64_t bound;
};

constexpr int64_t no_bound = int64_t{1} << 40, ids = 80, counter_limit = 130;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string kernel(const std::string& name) {
    text_ = "kernel void " + name +
            "(global int* a, global uchar* c, global int4* v, global const uint* data, int n, "
            "uint m, short s, global int* sink EXTRA) {\n  int sum = 0;\n";
    if (chance(30)) text_ += "  if (" + condition() + ") return;\n";
    for (unsigned i = 1 + below(3); i > 0; --i) statement(2);
    // What is read has to matter.
    line("sink[get_global_linear_id()] = sum;");
    text_ += "}\n";
    return text_;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <size_t N>
  std::string pick(const std::array<const char*, N>& from) {
    return from[below(N)];
  }
  std::string number(unsigned limit) { return std::to_string(below(limit)); }
  std::string dimension() { return std::to_string(chance(60) ? 0 : chance(70) ? 1 : 2); }

  Expression id() {
    constexpr std::array<const char*, 8> queries = {
        "get_global_id", "get_global_id",  "get_global_id",  "get_local_id",
        "get_group_id",  "get_local_size", "get_num_groups", "get_global_size"};
    const std::string query = pick(queries) + "(" + dimension() + ")";
    return as(pick<3>({"int", "uint", "ulong"}), {query, "ulong", ids});
  }
  Expression leaf() {
    switch (below(counters_.empty() ? 8 : 10)) {
      case 0:
        return {"n", "int", random_access_value_limit};
      case 1:
        return {"m", "uint", random_access_value_limit};
      case 2:
        return {"s", "int", random_access_value_limit};
      case 3:
        return {number(12), "int", 12};
      case 4:
        return {"(data[" + number(random_access_data_size) + "] & 15)", "uint", 15};
      case 8:
      case 9:
        return {"(int)" + counters_[below(counters_.size())], "int", counter_limit};
      default:
        return id();
    }
  }

  // Conversions keep values where the bound shows it.
  static Expression as(const std::string& type, const Expression& e) {
    if (type == e.type) return e;
    return {"(" + type + ")(" + e.text + ")", type, e.bound};
  }
  // To a type of few bits, which may wrap.
  Expression wrapped(const Expression& e) {
    switch (below(9)) {
      case 7:
        return {"(int)(" + as("uint", e).text + " & ((1u << (n & 7)) - 1))", "int", 127};
      case 8:
        return {"(int)(" + as("uint", e).text + " % (m + 1))", "int", random_access_value_limit};
      case 0:
        return {"(int)(uchar)(" + e.text + ")", "int", 255};
      case 1:
        return {"(int)(char)(" + e.text + ")", "int", 128};
      case 2:
        return {"(int)(ushort)(" + e.text + ")", "int", 65535};
      case 3:
        return {"(int)(" + as("uint", e).text + " % 97u)", "int", 96};
      case 4:
        return {"(int)(" + e.text + " & 63)", "int", 63};
      case 5:
        return {"(int)(" + as("uint", e).text + " >> 18)", "int", 1 << 14};
      default:
        return {"(int)(short)(" + e.text + ")", "int", 32768};
    }
  }
  // Signed arithmetic must not overflow.
  Expression operand(unsigned depth, const std::string& type, int64_t limit) {
    Expression e = expression(depth);
    if (e.bound > limit) e = wrapped(e);
    if (e.bound > limit) e = {"(" + e.text + " & 15)", "int", 15};
    return as(type, e);
  }

  Expression expression(unsigned depth) {
    if (depth == 0 || chance(20)) return leaf();
    const std::string type = pick<4>({"int", "uint", "long", "ulong"});
    const bool is_unsigned = type[0] == 'u';
    const auto joined = [](const Expression& x, const char* op, const Expression& y) {
      return "(" + x.text + " " + op + " " + y.text + ")";
    };
    const Expression x = operand(depth - 1, type, 1 << 14);
    const Expression y = operand(depth - 1, type, 1 << 14);
    switch (below(13)) {
      case 0:
        return {joined(x, "-", y), type, is_unsigned ? no_bound : x.bound + y.bound};
      case 1:
      case 2:
        return {joined(x, "*", y), type, is_unsigned ? no_bound : x.bound * y.bound};
      case 3:
        return {"(" + x.text + " / " + std::to_string(1 + below(7)) + ")", type,
                is_unsigned ? no_bound : x.bound};
      case 4:
        return {"(" + x.text + " % " + std::to_string(1 + below(20)) + ")", type, 20};
      case 5: {
        const std::string op = pick<4>({"<", ">", "<=", "=="});
        return {"(" + joined(x, op.c_str(), y) + " ? " + x.text + " : " + y.text + ")", type,
                is_unsigned ? no_bound : std::max(x.bound, y.bound)};
      }
      case 6:
        return {"(" + x.text + " >> " + number(4) + ")", type, is_unsigned ? no_bound : x.bound};
      case 7:
      case 8:
        return {either(pick<2>({"<", ">"}), x.text, y.text), type,
                is_unsigned ? no_bound : std::max(x.bound, y.bound)};
      case 9:
        return {joined(x, pick<3>({"&", "|", "^"}).c_str(), y), type,
                is_unsigned ? no_bound : 2 * std::max(x.bound, y.bound) + 1};
      case 10:
        return {"(" + x.text + " - " + x.text + " % " + std::to_string(1 + below(9)) + ")", type,
                is_unsigned ? no_bound : x.bound};
      default:
        return {joined(x, "+", y), type, is_unsigned ? no_bound : x.bound + y.bound};
    }
  }

  // The usual ones, and any.
  std::string index() {
    if (chance(45)) {
      const std::string d = dimension();
      constexpr std::array<const char*, 12> usual = {
          "get_global_id(0)",
          "(int)get_global_id(0)",
          "(uint)get_global_id(0)",
          "get_global_linear_id()",
          "(int)get_global_id(1) * n + (int)get_global_id(0)",
          "(uint)get_global_id(1) * m + (uint)get_global_id(0)",
          "get_global_id(1) * get_global_size(0) + get_global_id(0)",
          "2 * get_global_id(0)",
          "2 * get_global_id(0) + 1",
          "(int)get_global_id(0) - 1",
          "get_group_id(0) * get_local_size(0) + get_local_id(0)",
          "(get_group_id(1) * get_num_groups(0) + get_group_id(0)) * 8 + get_local_id(0)"};
      std::string text = pick(usual);
      if (!counters_.empty() && chance(50))
        text = "(" + text + ") * " + std::to_string(1 + below(6)) + " + " + counters_.back();
      return "(short)(" + text + ")" + (chance(30) ? " + " + number(20) : "");
    }
    Expression e = expression(2);
    if (e.bound > random_access_index_limit || chance(20)) e = wrapped(e);
    return e.text;
  }

  std::string condition() {
    const std::string op = pick<6>({"<", "<=", ">", ">=", "==", "!="});
    if (chance(50)) {
      const std::string type = pick<3>({"int", "uint", "ulong"});
      const Expression bound = chance(50) ? leaf() : Expression{number(60), "int", 60};
      return as(type, id()).text + " " + op + " " + as(type, bound).text;
    }
    if (chance(30)) {
      std::string first = condition();
      return "(" + first + ") " + pick<2>({"&&", "||"}) + " (" + condition() + ")";
    }
    const std::string type = pick<4>({"int", "uint", "long", "ulong"});
    const Expression x = operand(1, type, 1 << 20), y = operand(1, type, 1 << 20);
    return x.text + " " + op + " " + y.text;
  }

  void access() {
    const std::string pointer = pick<3>({"a", "c", "v"});
    const std::string place = "(" + pointer + ", " + index() + ")";
    if (chance(65))
      line("WRITE" + place + " = sum + " + number(9) + ";");
    else
      line("sum += " + std::string(pointer == "v" ? "all" : "") + "(READ" + place + ");");
  }

  // The lesser or greater of two.
  static std::string either(const std::string& op, const std::string& x, const std::string& y) {
    return "(" + x + " " + op + " " + y + " ? " + x + " : " + y + ")";
  }

  // Of a loop: an int from 0 to 40, and of the ids what a few of them multiply to.
  std::string limit() {
    constexpr std::array<const char*, 4> few = {"get_local_id", "get_group_id", "get_local_size",
                                                "get_num_groups"};
    const auto id = [&] { return "(int)" + pick(few) + "(" + dimension() + ")"; };
    const auto any = [&] { return "(" + as("int", leaf()).text + " & 15)"; };
    switch (below(6)) {
      case 0:
        return either("<", id() + " * " + id(), "40");
      case 1:
        return either("<", id() + " * " + std::to_string(1 + below(4)), any());
      case 2:
        return either(">", id(), any());
      case 3:
        return "((" + id() + " * " + id() + " + " + any() + ") % 40)";
      default:
        return any();
    }
  }

  void statement(unsigned depth) {
    const uint64_t kind = depth == 0 ? 0 : below(10);
    if (kind < 4) return access();
    if (kind < 7) {
      line("if (" + condition() + ") {");
      body(depth);
      if (chance(30)) {
        line("} else {");
        body(depth);
      }
      return line("}");
    }
    const std::string k = "k" + std::to_string(loops_++);
    constexpr std::array<const char*, 18> loops = {
        "for (int K = 0; K < L; ++K) {",
        "for (int K = L; K > 0; --K) {",
        "for (int K = 1; K <= L; K += 3) {",
        "for (int K = 0; K != L; ++K) {",
        "for (int K = get_local_id(0); K < L; K += get_local_size(0)) {",
        "for (int K = get_global_id(0); K < L + 40; K += get_global_size(0)) {",
        "for (uint K = get_global_id(0); K < L + 30u; K += get_global_size(0)) {",
        "for (size_t K = get_group_id(0); K <= L + 30; K += get_num_groups(0)) {",
        "for (short K = get_local_id(1); K < L + 20; K += get_local_size(1)) {",
        "for (int K = get_global_id(0), s = get_global_size(0); K < 3 * L; K += s) {",
        "for (int K = L; K < L; ++K) {",
        "for (int K = L; K >= L; K -= 2) {",
        "for (uint K = L; K < L; K += m + 1) {",
        "for (int K = 1; K <= L; K *= 2) {",
        "for (int K = L; K > 0; K >>= 1) {",
        "for (int K = 0; K < L && K < L; ++K) {",
        "for (int K = 0, e = L; K < e; K += 2, --e) {",
        "for (int K = get_local_id(0); K <= L + 40; K += get_local_size(0) * L + 1) {"};
    std::string head = pick(loops);
    for (size_t at; (at = head.find('K')) != std::string::npos;) head.replace(at, 1, k);
    for (size_t at; (at = head.find('L')) != std::string::npos;) head.replace(at, 1, limit());
    line(head);
    counters_.push_back(k);
    if (chance(15)) line("if (" + condition() + ") break;");
    body(depth);
    counters_.pop_back();
    line("}");
  }
  void body(unsigned depth) {
    for (unsigned i = 1 + below(2); i > 0; --i) statement(depth - 1);
  }
  void line(const std::string& text) { text_ += "  " + text + "\n"; }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<std::string> counters_;
  unsigned loops_ = 0;
};

}  // namespace

std::string randomAccesses(const std::string& name, uint64_t seed) {
  return Generator(seed).kernel(name);
}

}  // namespace weft::test
