#include "backends/cpu/target.h"

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace weft::cpu {
namespace {

enum class Register : uint8_t { eax, ebx, ecx, edx };
// The register state that the operating system has to save for a feature to be usable (XCR0).
enum class State : uint32_t { none = 0, avx = 0x6, avx512 = 0xe6, amx = 0x60000 };

struct Feature {
  const char* name;  // LLVM's
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  uint8_t bit;
  State state;
};

constexpr Feature features[] = {
    {"sse3", 1, 0, Register::ecx, 0, State::none},
    {"pclmul", 1, 0, Register::ecx, 1, State::none},
    {"ssse3", 1, 0, Register::ecx, 9, State::none},
    {"fma", 1, 0, Register::ecx, 12, State::avx},
    {"cx16", 1, 0, Register::ecx, 13, State::none},
    {"sse4.1", 1, 0, Register::ecx, 19, State::none},
    {"sse4.2", 1, 0, Register::ecx, 20, State::none},
    {"movbe", 1, 0, Register::ecx, 22, State::none},
    {"popcnt", 1, 0, Register::ecx, 23, State::none},
    {"aes", 1, 0, Register::ecx, 25, State::none},
    {"avx", 1, 0, Register::ecx, 28, State::avx},
    {"f16c", 1, 0, Register::ecx, 29, State::avx},
    {"bmi", 7, 0, Register::ebx, 3, State::none},
    {"avx2", 7, 0, Register::ebx, 5, State::avx},
    {"bmi2", 7, 0, Register::ebx, 8, State::none},
    {"avx512f", 7, 0, Register::ebx, 16, State::avx512},
    {"avx512dq", 7, 0, Register::ebx, 17, State::avx512},
    {"adx", 7, 0, Register::ebx, 19, State::none},
    {"avx512ifma", 7, 0, Register::ebx, 21, State::avx512},
    {"avx512cd", 7, 0, Register::ebx, 28, State::avx512},
    {"avx512bw", 7, 0, Register::ebx, 30, State::avx512},
    {"avx512vl", 7, 0, Register::ebx, 31, State::avx512},
    {"avx512vbmi", 7, 0, Register::ecx, 1, State::avx512},
    {"avx512vbmi2", 7, 0, Register::ecx, 6, State::avx512},
    {"gfni", 7, 0, Register::ecx, 8, State::none},
    {"vaes", 7, 0, Register::ecx, 9, State::avx},
    {"vpclmulqdq", 7, 0, Register::ecx, 10, State::avx},
    {"avx512vnni", 7, 0, Register::ecx, 11, State::avx512},
    {"avx512bitalg", 7, 0, Register::ecx, 12, State::avx512},
    {"avx512vpopcntdq", 7, 0, Register::ecx, 14, State::avx512},
    {"avx512fp16", 7, 0, Register::edx, 23, State::avx512},
    {"avxvnni", 7, 1, Register::eax, 4, State::avx},
    {"avx512bf16", 7, 1, Register::eax, 5, State::avx512},
    {"amx-bf16", 7, 0, Register::edx, 22, State::amx},
    {"amx-tile", 7, 0, Register::edx, 24, State::amx},
    {"amx-int8", 7, 0, Register::edx, 25, State::amx},
    {"sahf", 0x80000001, 0, Register::ecx, 0, State::none},
    {"lzcnt", 0x80000001, 0, Register::ecx, 5, State::none},
    {"sse4a", 0x80000001, 0, Register::ecx, 6, State::none},
    {"xop", 0x80000001, 0, Register::ecx, 11, State::avx},
    {"fma4", 0x80000001, 0, Register::ecx, 16, State::avx},
    {"tbm", 0x80000001, 0, Register::ecx, 21, State::none},
};

// The first whose features are all there names the tuning.
struct Processor {
  const char* name;
  const char* vendor;  // nullptr: any
  std::array<const char*, 6> needs;
};

constexpr Processor processors[] = {
    {"znver4", "AuthenticAMD", {"avx512f", "avx512vl", "avx512bf16", "avx512vbmi2"}},
    {"znver3", "AuthenticAMD", {"avx2", "fma", "vaes", "vpclmulqdq"}},
    {"znver2", "AuthenticAMD", {"avx2", "fma", "adx", "bmi2"}},
    {"sapphirerapids", "GenuineIntel", {"avx512fp16", "avx512bf16", "avxvnni", "avx512vl"}},
    {"icelake-server", "GenuineIntel", {"avx512vbmi2", "avx512bitalg", "gfni", "vaes", "avx512vl"}},
    {"cascadelake", "GenuineIntel", {"avx512vnni", "avx512vl", "avx512bw", "avx512dq"}},
    {"skylake-avx512", "GenuineIntel", {"avx512vl", "avx512bw", "avx512dq", "avx512cd", "adx"}},
    {"alderlake", "GenuineIntel", {"avxvnni", "gfni", "vaes", "avx2", "fma"}},
    {"skylake", "GenuineIntel", {"avx2", "fma", "adx", "bmi2"}},
    {"haswell", "GenuineIntel", {"avx2", "fma", "bmi2", "f16c"}},
    {"x86-64-v4", nullptr, {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512cd", "avx2"}},
    {"x86-64-v3", nullptr, {"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt"}},
    {"x86-64-v2", nullptr, {"sse4.2", "ssse3", "popcnt", "cx16"}},
    {"x86-64", nullptr, {}},
};

struct Leaf {
  uint32_t registers[4] = {0, 0, 0, 0};
};

Leaf cpuid(uint32_t leaf, uint32_t subleaf) {
  Leaf result;
  auto& r = result.registers;
  if (!__get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3])) return {};
  return result;
}

bool bit(const Leaf& leaf, Register reg, unsigned index) {
  return (leaf.registers[unsigned(reg)] >> index) & 1;
}

// What the operating system saves, as XCR0 says; 0 where it does not use XSAVE.
uint32_t savedState() {
  constexpr unsigned osxsave = 27;
  if (!bit(cpuid(1, 0), Register::ecx, osxsave)) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// The states of features with no wider vectors.
uint32_t statesWith(Vectors widest) {
  switch (widest) {
    case Vectors::of_128_bits:
      return ~uint32_t(State::avx512) & ~uint32_t(State::avx);
    case Vectors::of_256_bits:
      return ~uint32_t(State::avx512) | uint32_t(State::avx);
    case Vectors::of_512_bits:
      break;
  }
  return ~uint32_t(0);
}

std::string vendorName() {
  const Leaf leaf = cpuid(0, 0);
  char name[12];
  std::memcpy(name, &leaf.registers[1], 4);
  std::memcpy(name + 4, &leaf.registers[3], 4);
  std::memcpy(name + 8, &leaf.registers[2], 4);
  return std::string(name, sizeof name);
}

bool enabled(const std::string& set, std::string_view feature) {
  const std::string item = "+" + std::string(feature);
  for (size_t at = set.find(item); at != std::string::npos; at = set.find(item, at + 1)) {
    const size_t end = at + item.size();
    if (end == set.size() || set[end] == ',') return true;
  }
  return false;
}

}  // namespace

port::Target hostTarget(Vectors widest) {
  port::Target target;
  target.kind = port::TargetKind::host_cpu;
  const uint32_t saved = savedState() & statesWith(widest);
  for (const Feature& feature : features) {
    const auto state = uint32_t(feature.state);
    const bool there = bit(cpuid(feature.leaf, feature.subleaf), feature.reg, feature.bit) &&
                       (saved & state) == state;
    if (!target.features.empty()) target.features += ',';
    target.features += there ? '+' : '-';
    target.features += feature.name;
  }
  const std::string vendor = vendorName();
  for (const Processor& processor : processors) {
    const bool fits = (!processor.vendor || vendor == processor.vendor) &&
                      std::all_of(processor.needs.begin(), processor.needs.end(), [&](auto* name) {
                        return !name || enabled(target.features, name);
                      });
    if (!fits) continue;
    target.cpu = processor.name;
    break;
  }
  return target;
}

unsigned vectorLanes(const port::Target& target) {
  if (enabled(target.features, "avx512f")) return 16;
  return enabled(target.features, "avx2") ? 8 : 4;
}

}  // namespace weft::cpu
