// The SIMD entry points of SLEEF that the library uses give the bits of the scalar ones, so that it
// does not matter which of them a work-item meets.
#include <dlfcn.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "tests/compiler/builtins/arrays.h"

namespace weft::test {
namespace {

struct Name {
  std::string function, accuracy;
  int arity;
};

// All that cl/sleef.def declares.
std::vector<Name> usedNames() {
  std::ifstream file(WEFT_SLEEF_DEF);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex pattern(R"(SLEEF([12])\(([a-z0-9]+)_(u[0-9]+)\))");
  std::vector<Name> names;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    names.push_back({(*it)[2], (*it)[3], std::stoi((*it)[1])});
  return names;
}

template <class T>
struct Call {
  void* function;
  int arity;
  const std::vector<T>& x;
  const std::vector<T>& y;
};

// Calls a function of vectors of `bytes` bytes over arrays; compiled for what such vectors need.
#define DEFINE_CALLER(name, instructions, bytes)                                        \
  template <class T>                                                                    \
  __attribute__((target(instructions))) std::vector<T> name(Call<T> call) {             \
    typedef T Vector __attribute__((vector_size(bytes)));                               \
    std::vector<T> out(call.x.size());                                                  \
    for (size_t i = 0; i < out.size(); i += (bytes) / sizeof(T)) {                      \
      Vector x, y, result;                                                              \
      std::memcpy(&x, &call.x[i], bytes);                                               \
      std::memcpy(&y, &call.y[i], bytes);                                               \
      result = call.arity == 1                                                          \
                   ? reinterpret_cast<Vector (*)(Vector)>(call.function)(x)             \
                   : reinterpret_cast<Vector (*)(Vector, Vector)>(call.function)(x, y); \
      std::memcpy(&out[i], &result, bytes);                                             \
    }                                                                                   \
    return out;                                                                         \
  }
DEFINE_CALLER(call128, "sse2", 16)
DEFINE_CALLER(call256, "avx", 32)
DEFINE_CALLER(call512, "avx512f", 64)

template <class T>
std::vector<T> callScalar(Call<T> call) {
  std::vector<T> out(call.x.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = call.arity == 1 ? reinterpret_cast<T (*)(T)>(call.function)(call.x[i])
                             : reinterpret_cast<T (*)(T, T)>(call.function)(call.x[i], call.y[i]);
  return out;
}

template <class T>
struct EntryPoint {
  const char* suffix;
  unsigned bits;
  bool present;  // the processor has what it needs
  std::vector<T> (*call)(Call<T>);
};
template <class T>
struct FamilyOf {
  const char* prefix;
  const char* scalar_suffix;
  bool present;
  std::vector<EntryPoint<T>> vectors;
};

template <class T>
std::vector<FamilyOf<T>> families() {
  const bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return {{"finz_",
           "purecfma",
           fma,
           {{"avx2128", 128, fma, call128<T>},
            {"avx2", 256, fma, call256<T>},
            {"avx512f", 512, bool(__builtin_cpu_supports("avx512f")), call512<T>}}},
          {"cinz_",
           "purec",
           true,
           {{"sse2", 128, true, call128<T>},
            {"sse4", 128, bool(__builtin_cpu_supports("sse4.1")), call128<T>},
            {"avx", 256, bool(__builtin_cpu_supports("avx")), call256<T>}}}};
}

template <class T>
class SleefEntryPoints : public testing::Test {
 protected:
  void* find(const FamilyOf<T>& family, const Name& name, unsigned width, const char* suffix) {
    const std::string symbol = std::string("Sleef_") + family.prefix + name.function +
                               (sizeof(T) == 8 ? "d" : "f") + std::to_string(width) + "_" +
                               name.accuracy + suffix;
    void* const function = dlsym(library_, symbol.c_str());
    EXPECT_TRUE(function) << symbol;
    return function;
  }
  void compare(const FamilyOf<T>& family, const Name& name) {
    void* const scalar = find(family, name, 1, family.scalar_suffix);
    ASSERT_TRUE(scalar);
    const std::vector<T> expected = callScalar<T>({scalar, name.arity, x_, y_});
    for (const EntryPoint<T>& point : family.vectors) {
      if (!point.present) continue;
      const unsigned width = point.bits / 8 / sizeof(T);
      void* const function = find(family, name, width, point.suffix);
      ASSERT_TRUE(function);
      const std::vector<T> results = point.call({function, name.arity, x_, y_});
      for (size_t i = 0; i < results.size(); ++i) {
        if (sameBits(results[i], expected[i])) continue;
        ADD_FAILURE() << name.function << "_" << name.accuracy << " " << family.prefix
                      << point.suffix << " of " << std::hexfloat << x_[i] << " and " << y_[i]
                      << ": " << results[i] << ", the scalar " << expected[i];
        break;
      }
    }
  }

  void* library_ = dlopen("libsleef.so.3", RTLD_NOW);
  std::vector<T> x_ = argumentValues<T>(0), y_ = argumentValues<T>(1);
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SleefEntryPoints, Types);

TYPED_TEST(SleefEntryPoints, GiveTheBitsOfTheScalarOnes) {
  const std::vector<Name> names = usedNames();
  ASSERT_GT(names.size(), 30u);
  ASSERT_TRUE(this->library_) << dlerror();
  for (const auto& family : families<TypeParam>()) {
    if (!family.present) continue;
    for (const Name& name : names) {
      const bool unused = family.prefix == std::string("cinz_") && name.function == "cos" &&
                          name.accuracy == "u35";  // replaced by cos_u10 there
      if (!unused) this->compare(family, name);
    }
  }
}

}  // namespace
}  // namespace weft::test
