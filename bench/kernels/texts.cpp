#include <bit>
#include <cmath>

#include "bench/kernels/families.h"
#include "bench/kernels/texts.cl.h"

namespace weft::bench {
namespace {

Problem stringMatch(size_t n) {
  const std::vector<cl_uchar> pattern = {1, 0, 1, 1, 0, 0, 1, 0};
  std::vector<cl_uchar> text = pixels(n + pattern.size(), 111);
  for (cl_uchar& letter : text) letter &= 1;
  return {{in(text), in(pattern), out<cl_uchar>(n), count(pattern.size())}, {n}, 2, [=] {
            return each(n, [&](size_t i) {
              return std::equal(pattern.begin(), pattern.end(),
                                text.begin() + static_cast<std::ptrdiff_t>(i));
            });
          }};
}

cl_uint md5(cl_uint number, const std::vector<cl_uint>& table, const std::vector<cl_uint>& turns) {
  const cl_uint start[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  cl_uint message[16] = {number, 0x80};
  message[14] = 32;
  cl_uint a = start[0], b = start[1], c = start[2], d = start[3];
  for (cl_uint i = 0; i < 64; ++i) {
    const cl_uint f[] = {(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)};
    const cl_uint g[] = {i, 5 * i + 1, 3 * i + 5, 7 * i};
    const cl_uint mixed = a + f[i / 16] + table[i] + message[g[i / 16] % 16];
    a = d;
    d = c;
    c = b;
    b += std::rotl(mixed, static_cast<int>(turns[i / 16 * 4 + i % 4]));
  }
  return a + start[0];
}

Problem md5Numbers(size_t n) {
  std::vector<cl_uint> table;
  for (int i = 1; i <= 64; ++i)
    table.push_back(static_cast<cl_uint>(std::floor(std::abs(std::sin(i)) * 0x1p32)));
  const std::vector<cl_uint> turns = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  return {{out<cl_uint>(n), in(table), in(turns)}, {n}, 0, [=] {
            return each(n, [&](size_t i) { return md5(static_cast<cl_uint>(i), table, turns); });
          }};
}

// The first 32 bits of the fractions of roots of the first primes.
std::vector<cl_uint> rootsOfPrimes(size_t count, double (*root)(double)) {
  std::vector<cl_uint> result;
  for (int candidate = 2; result.size() < count; ++candidate) {
    bool prime = true;
    for (int divisor = 2; divisor * divisor <= candidate; ++divisor)
      prime = prime && candidate % divisor;
    const double value = root(candidate);
    if (prime) result.push_back(static_cast<cl_uint>((value - std::floor(value)) * 0x1p32));
  }
  return result;
}

cl_uint sha256(const cl_uint* block, const std::vector<cl_uint>& table,
               const std::vector<cl_uint>& start) {
  cl_uint w[64];
  for (size_t i = 0; i < 64; ++i) {
    w[i] = i < 16 ? block[i] : 0;
    if (i < 16) continue;
    const cl_uint x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[i - 7] +
           (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
  }
  std::vector<cl_uint> s = start;
  for (size_t i = 0; i < 64; ++i) {
    const cl_uint a = s[0], e = s[4];
    const cl_uint t = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                      ((e & s[5]) ^ (~e & s[6])) + table[i] + w[i];
    const cl_uint u = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    s.insert(s.begin(), t + u);
    s.pop_back();
    s[4] += t;
  }
  return s[0] + start[0];
}

Problem sha256Blocks(size_t n) {
  const auto blocks = words(16 * n, 112);
  const auto table = rootsOfPrimes(64, std::cbrt), start = rootsOfPrimes(8, std::sqrt);
  return {{in(blocks), out<cl_uint>(n), in(table), in(start)}, {n}, 1, [=] {
            return each(n, [&](size_t i) { return sha256(&blocks[16 * i], table, start); });
          }};
}

Problem crc32(size_t n) {
  constexpr size_t length = 256;
  std::vector<cl_uint> table;
  for (cl_uint byte = 0; byte < 256; ++byte) {
    cl_uint crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    table.push_back(crc);
  }
  const auto data = pixels(length * n, 113);
  const auto sum = [=](size_t record) {
    cl_uint crc = ~0u;
    for (size_t i = 0; i < length; ++i)
      crc = crc >> 8 ^ table[(crc ^ data[record * length + i]) & 255];
    return ~crc;
  };
  return {
      {in(data), out<cl_uint>(n), in(table), count(length)}, {n}, 1, [=] { return each(n, sum); }};
}

}  // namespace

const std::vector<Case>& texts() {
  constexpr auto text = source::texts;
  static const std::vector<Range> any = {{}, {64}, {256}};
  static const std::vector<Case> rows = {
      {"string_match", text, stringMatch, 4 << 20, 1024, 0, any},
      {"md5", text, md5Numbers, 1 << 18, 1024, 0, any},
      {"sha256", text, sha256Blocks, 1 << 16, 1024, 0, any},
      {"crc32", text, crc32, 1 << 15, 1024, 0, any},
  };
  return rows;
}

}  // namespace weft::bench
