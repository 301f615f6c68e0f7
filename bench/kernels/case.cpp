#include "bench/kernels/case.h"

#include "bench/kernels/families.h"

namespace weft::bench {

std::vector<cl_uint> words(size_t count, cl_uint seed) {
  std::vector<cl_uint> values(count);
  for (cl_uint& value : values) {
    seed += 0x9e3779b9u;
    cl_uint x = seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    value = x ^ (x >> 16);
  }
  return values;
}

std::vector<cl_int> integers(size_t count, cl_uint seed, cl_int low, cl_int high) {
  std::vector<cl_int> values;
  values.reserve(count);
  for (cl_uint word : words(count, seed))
    values.push_back(low + static_cast<cl_int>(word % static_cast<cl_uint>(high - low)));
  return values;
}

std::vector<float> uniform(size_t count, cl_uint seed, float low, float high) {
  std::vector<float> values;
  values.reserve(count);
  for (cl_uint word : words(count, seed))
    values.push_back(low + (high - low) * static_cast<float>(word >> 8) / (1 << 24));
  return values;
}

std::vector<cl_uchar> pixels(size_t count, cl_uint seed) {
  std::vector<cl_uchar> values;
  values.reserve(count);
  for (cl_uint word : words(count, seed)) values.push_back(static_cast<cl_uchar>(word >> 24));
  return values;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> result;
    for (const Family family : families)
      result.insert(result.end(), family().begin(), family().end());
    return result;
  }();
  return all;
}

}  // namespace weft::bench
