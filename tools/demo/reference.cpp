#include "tools/demo/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace weft::tools::demo {
namespace {

struct Work {
  const Planes& in;
  Planes& out;
  int width, height;

  const uint8_t* read(Plane plane) const { return in[static_cast<size_t>(plane)].data(); }
  uint8_t* write(Plane plane) const {
    auto& bytes = out[static_cast<size_t>(plane)];
    bytes.assign(planeBytes(plane, static_cast<size_t>(width) * height), 0);
    return bytes.data();
  }
  size_t count() const { return static_cast<size_t>(width) * height; }
  size_t at(int x, int y) const {
    return static_cast<size_t>(std::clamp(y, 0, height - 1)) * width + std::clamp(x, 0, width - 1);
  }
};

uint8_t clampByte(int v) { return static_cast<uint8_t>(std::clamp(v, 0, 255)); }

void colour(const Work& w) {
  const uint8_t* p = w.read(Plane::rgba);
  uint8_t* luma = w.write(Plane::luma);
  uint8_t* blue = w.write(Plane::blue);
  uint8_t* red = w.write(Plane::red);
  for (size_t i = 0; i < w.count(); ++i, p += 4) {
    luma[i] = clampByte((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
    blue[i] = clampByte(((-43 * p[0] - 85 * p[1] + 128 * p[2] + 128) >> 8) + 128);
    red[i] = clampByte(((128 * p[0] - 107 * p[1] - 21 * p[2] + 128) >> 8) + 128);
  }
}

void blur(const Work& w) {
  const uint8_t* in = w.read(Plane::luma);
  uint8_t* out = w.write(Plane::smooth);
  std::vector<float> rows(w.count());
  for (int y = 0; y < w.height; ++y)
    for (int x = 0; x < w.width; ++x) {
      float sum = 0;
      for (int k = -blur_radius; k <= blur_radius; ++k)
        sum += blur_weights[k + blur_radius] * in[w.at(x + k, y)];
      rows[w.at(x, y)] = sum;
    }
  for (int y = 0; y < w.height; ++y)
    for (int x = 0; x < w.width; ++x) {
      float sum = 0;
      for (int k = -blur_radius; k <= blur_radius; ++k)
        sum += blur_weights[k + blur_radius] * rows[w.at(x, y + k)];
      out[w.at(x, y)] = clampByte(static_cast<int>(std::lrint(sum)));
    }
}

void histogram(const Work& w) {
  std::array<uint32_t, bin_count> bins{};
  const uint8_t* in = w.read(Plane::smooth);
  for (size_t i = 0; i < w.count(); ++i) ++bins[in[i]];
  std::memcpy(w.write(Plane::bins), bins.data(), sizeof bins);
}

void table(const Work& w) {
  std::array<uint32_t, bin_count> bins;
  std::memcpy(bins.data(), w.read(Plane::bins), sizeof bins);
  uint8_t* levels = w.write(Plane::levels);
  const auto first = std::find_if(bins.begin(), bins.end(), [](uint32_t n) { return n != 0; });
  const uint64_t darkest = first != bins.end() ? *first : 0;
  const uint64_t range = w.count() - darkest;
  uint64_t sum = 0;
  for (int i = 0; i < bin_count; ++i) {
    sum += bins[i];
    const uint64_t above = std::max(sum, darkest) - darkest;
    const uint64_t even = range ? (above * 255 + range / 2) / range : i;
    levels[i] = static_cast<uint8_t>((even + i + 1) / 2);
  }
}

void equalise(const Work& w) {
  const uint8_t* levels = w.read(Plane::levels);
  const uint8_t* luma = w.read(Plane::luma);
  const uint8_t* smooth = w.read(Plane::smooth);
  uint8_t* sharp = w.write(Plane::sharp);
  uint8_t* level = w.write(Plane::level);
  for (size_t i = 0; i < w.count(); ++i) {
    sharp[i] = levels[luma[i]];
    level[i] = levels[smooth[i]];
  }
}

void edges(const Work& w) {
  const uint8_t* in = w.read(Plane::level);
  uint8_t* out = w.write(Plane::edge);
  for (int y = 0; y < w.height; ++y)
    for (int x = 0; x < w.width; ++x) {
      const auto p = [&](int dx, int dy) { return static_cast<int>(in[w.at(x + dx, y + dy)]); };
      const int across = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1);
      const int down = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1);
      out[w.at(x, y)] = clampByte((std::abs(across) + std::abs(down)) / 2);
    }
}

void compose(const Work& w) {
  const uint8_t* sharp = w.read(Plane::sharp);
  const uint8_t* blue = w.read(Plane::blue);
  const uint8_t* red = w.read(Plane::red);
  const uint8_t* edge = w.read(Plane::edge);
  uint8_t* out = w.write(Plane::result);
  for (size_t i = 0; i < w.count(); ++i, out += 4) {
    const int ink = 255 - std::min(std::max(edge[i] - 12, 0) * 3, 215);
    const int b = blue[i] - 128, r = red[i] - 128, l = sharp[i];
    out[0] = static_cast<uint8_t>(clampByte(l + ((359 * r + 128) >> 8)) * ink / 255);
    out[1] = static_cast<uint8_t>(clampByte(l - ((88 * b + 183 * r + 128) >> 8)) * ink / 255);
    out[2] = static_cast<uint8_t>(clampByte(l + ((454 * b + 128) >> 8)) * ink / 255);
    out[3] = 255;
  }
}

// In the order of stages().
constexpr void (*references[])(const Work&) = {colour,   blur,  histogram, table,
                                               equalise, edges, compose};

}  // namespace

void referenceStage(size_t index, const Planes& in, Planes& out, int width, int height) {
  references[index](Work{in, out, width, height});
}

}  // namespace weft::tools::demo
