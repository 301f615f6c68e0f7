#include "compiler/client/processor.h"

#include <cpuid.h>

namespace weft::compiler {

std::string processorIdentity() {
  struct Leaf {
    unsigned leaf, sub_leaf;
  };
  // Model and instruction sets; leaf 1's initial APIC id (ebx) differs between cores.
  constexpr Leaf leaves[] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}, {0xd, 0}};
  std::string identity;
  for (const Leaf& leaf : leaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf.leaf, leaf.sub_leaf, &a, &b, &c, &d)) continue;
    if (leaf.leaf == 1) b = 0;
    for (unsigned value : {a, b, c, d}) identity += std::to_string(value) + ".";
  }
  return identity;
}

}  // namespace weft::compiler
