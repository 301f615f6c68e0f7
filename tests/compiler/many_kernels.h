// Programs of many kernels.
#pragma once

#include <string>

namespace weft::test {

// Kernels k0, k1 and so on, behind `before`; NUMBER in `body` is the kernel's. Each fills `l` with
// what `p` has for the group, and `i` is the local id.
inline std::string manyKernels(int count, const std::string& before, const std::string& body) {
  std::string source = before;
  for (int k = 0; k < count; ++k) {
    const std::string number = std::to_string(k);
    std::string text = "kernel void k" + number + "(global int* p, local int* l, int n) {\n" +
                       "  size_t i = get_local_id(0);\n  l[i] = p[i];\n" +
                       "  barrier(CLK_LOCAL_MEM_FENCE);\n" + body + "}\n";
    for (size_t at; (at = text.find("NUMBER")) != std::string::npos;) text.replace(at, 6, number);
    source += text;
  }
  return source;
}

inline constexpr char helpers[] =
    "constant int table[4] = {1, 2, 4, 8};\n"
    "int last(local int* l, int n) { return l[7 - n]; }\n"
    "int sum(local int* l) { int s = 0; for (int k = 0; k < 8; ++k) s += l[k]; return s; }\n";
inline constexpr char sums[] = "  p[i] = sum(l) + last(l, n) * NUMBER + table[i & 3];\n";
// What `sums` makes of 0 to 7 with n == 1.
inline int sumOf(int kernel, int i) { return 28 + 6 * kernel + (1 << (i & 3)); }

}  // namespace weft::test
