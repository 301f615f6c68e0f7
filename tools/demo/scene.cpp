#include "tools/demo/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

namespace weft::tools::demo {
namespace {

struct Colour {
  float r, g, b;
};
Colour operator*(Colour c, float k) { return {c.r * k, c.g * k, c.b * k}; }
Colour operator+(Colour a, Colour b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
Colour mix(Colour a, Colour b, float t) { return a * (1 - t) + b * t; }

// The plain forms: std::lerp and std::floor care for cases that do not occur here, and this is
// called some hundred times a pixel.
float blend(float a, float b, float t) { return a + (b - a) * t; }
float ease(float t) { return t * t * (3 - 2 * t); }
int floorOf(float x) {
  const int i = static_cast<int>(x);
  return i - (x < static_cast<float>(i));
}

float smoothStep(float low, float high, float x) {
  return ease(std::clamp((x - low) / (high - low), 0.0f, 1.0f));
}

// A number in [0, 1) for a lattice point.
float hashPoint(int x, int y, uint32_t seed) {
  uint32_t h = static_cast<uint32_t>(x) * 0x8da6b343u ^ static_cast<uint32_t>(y) * 0xd8163841u ^
               seed * 0xcb1ab31fu;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return static_cast<float>((h ^ (h >> 15)) >> 8) / (1 << 24);
}

float valueNoise(float x, float y, uint32_t seed) {
  const int ix = floorOf(x), iy = floorOf(y);
  const float tx = ease(x - static_cast<float>(ix)), ty = ease(y - static_cast<float>(iy));
  const float top = blend(hashPoint(ix, iy, seed), hashPoint(ix + 1, iy, seed), tx);
  const float bottom = blend(hashPoint(ix, iy + 1, seed), hashPoint(ix + 1, iy + 1, seed), tx);
  return blend(top, bottom, ty);
}

// Noise of several scales, in [0, 1).
float fractalNoise(float x, float y, int octaves, uint32_t seed) {
  float sum = 0, weight = 0.5f;
  for (int i = 0; i < octaves; ++i) {
    sum += weight * valueNoise(x, y, seed + static_cast<uint32_t>(i));
    x = 2.03f * x + 17.1f;
    y = 2.01f * y + 9.2f;
    weight *= 0.5f;
  }
  return sum / (1 - weight * 2);
}

// Coordinates: x from 0 to the aspect ratio, y from 0 at the top to 1 at the bottom.
constexpr float shore = 0.70f;
constexpr float sun_x = 1.08f, sun_y = 0.25f;

struct Ridge {
  float base, height, scale;  // of the crest line
  float haze;                 // 1: as far away as the sky
  float roughness;            // of the slopes' texture
  Colour rock;
  uint32_t seed;
};
constexpr Ridge ridges[] = {
    {0.45f, 0.30f, 2.1f, 0.66f, 0.5f, {0.46f, 0.48f, 0.58f}, 11},
    {0.52f, 0.26f, 2.9f, 0.42f, 0.7f, {0.36f, 0.38f, 0.42f}, 23},
    {0.60f, 0.20f, 3.7f, 0.20f, 0.9f, {0.25f, 0.31f, 0.24f}, 37},
    {0.66f, 0.09f, 6.0f, 0.05f, 1.0f, {0.10f, 0.17f, 0.10f}, 53},
};
constexpr size_t ridge_count = std::size(ridges);

Colour sky(float x, float y) {
  const Colour zenith{0.16f, 0.34f, 0.68f}, horizon{0.95f, 0.80f, 0.66f};
  Colour c = mix(zenith, horizon, smoothStep(-0.05f, 0.62f, y));
  const float distance = std::hypot(x - sun_x, y - sun_y);
  const float clouds = fractalNoise(x * 3.2f, y * 8.5f, 6, 3);
  const float lit = fractalNoise(x * 3.2f - 0.06f, y * 8.5f + 0.10f, 5, 3);
  const float cover = smoothStep(0.47f, 0.72f, clouds);
  const float shade = std::clamp(0.75f + 2.2f * (clouds - lit), 0.45f, 1.0f);
  c = mix(c, Colour{1.0f, 0.95f, 0.90f} * shade, 0.85f * cover);
  const float glow = std::exp(-distance * 5.5f);
  c = c + Colour{1.0f, 0.78f, 0.45f} * (0.55f * glow);
  return mix(c, {1.0f, 0.97f, 0.88f}, 1 - smoothStep(0.040f, 0.048f, distance));
}

float crest(const Ridge& ridge, float x) {
  const float wide = fractalNoise(x * ridge.scale, 0.5f, 9, ridge.seed);
  return ridge.base - ridge.height * (wide - 0.35f);
}

Colour slope(const Ridge& ridge, float x, float y, float below) {
  const float s = 9 * ridge.scale;
  const float here = fractalNoise(x * s, y * s * 1.3f, 6, ridge.seed + 100);
  const float there = fractalNoise(x * s + 0.12f, y * s * 1.3f - 0.08f, 6, ridge.seed + 100);
  const float light = std::clamp(0.72f + 4.5f * ridge.roughness * (there - here), 0.18f, 1.5f);
  Colour c = ridge.rock * light;
  const float snow = smoothStep(0.035f, 0.0f, below - 0.12f * (here - 0.45f)) *
                     smoothStep(0.46f, 0.36f, y) * ridge.haze * 1.5f;
  c = mix(c, Colour{0.95f, 0.95f, 1.0f} * std::min(light * 1.1f, 1.0f), std::min(snow, 1.0f));
  const Colour air{0.80f, 0.78f, 0.80f};
  return mix(c, air, ridge.haze * (0.75f + 0.25f * smoothStep(0.3f, 0.7f, y)));
}

using Crests = std::array<float, ridge_count>;

Crests crestsAt(float x) {
  Crests crests;
  for (size_t i = 0; i < ridge_count; ++i) crests[i] = crest(ridges[i], x);
  // Firs along the nearest crest: a saw with teeth of random height.
  const float cell = x * 90;
  const float tooth = std::abs(cell - std::floor(cell) - 0.5f) * 2;
  crests.back() -= 0.030f * hashPoint(static_cast<int>(cell), 0, 7) * (1 - tooth);
  return crests;
}

Colour land(const Crests& crests, float x, float y) {
  for (size_t i = ridge_count; i-- > 0;)
    if (y > crests[i]) return slope(ridges[i], x, y, y - crests[i]);
  return sky(x, y);
}

// The lake mirrors the land, broken by ripples that grow towards the viewer.
Colour lake(const Crests& crests, float x, float y) {
  const float depth = (y - shore) / (1 - shore);
  const float ripple =
      fractalNoise(x * 26 / (0.25f + depth), (y - shore) * 420 / (0.35f + depth), 4, 71) - 0.5f;
  const float mirrored = shore - (y - shore) * 1.35f + ripple * 0.07f * (0.2f + depth);
  const Colour seen = land(crests, x + ripple * 0.012f, std::clamp(mirrored, 0.0f, shore));
  const Colour deep{0.05f, 0.13f, 0.17f};
  const float glint = smoothStep(0.20f, 0.34f, ripple) * std::exp(-std::abs(x - sun_x) * 6);
  return mix(seen * 0.92f, deep, 0.22f + 0.45f * depth) + Colour{1, 0.85f, 0.6f} * (0.5f * glint);
}

uint8_t toByte(float v) {
  return static_cast<uint8_t>(
      std::clamp(std::pow(std::max(v, 0.0f), 0.88f) * 255 + 0.5f, 0.0f, 255.0f));
}

void paintRow(Picture& picture, const std::vector<Crests>& crests, int row) {
  const float step = 1.0f / static_cast<float>(picture.height);
  const float y = (static_cast<float>(row) + 0.5f) * step;
  const float middle = 0.5f * static_cast<float>(picture.width) * step;
  for (int column = 0; column < picture.width; ++column) {
    const float x = (static_cast<float>(column) + 0.5f) * step;
    Colour c = y > shore ? lake(crests[column], x, y) : land(crests[column], x, y);
    const float corner = std::hypot(x - middle, y - 0.5f);
    const float grain = 0.022f * (hashPoint(column, row, 99) - 0.5f);
    c = c * (1.04f - 0.32f * corner * corner) + Colour{grain, grain, grain};
    picture.at(column, row) = {toByte(c.r), toByte(c.g), toByte(c.b), 255};
  }
}

}  // namespace

Picture paintScene(int width, int height) {
  Picture picture{width, height, std::vector<Pixel>(static_cast<size_t>(width) * height)};
  std::vector<Crests> crests(width);
  for (int x = 0; x < width; ++x)
    crests[x] = crestsAt((static_cast<float>(x) + 0.5f) / static_cast<float>(height));
  const int workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::jthread> threads;
  for (int first = 0; first < workers; ++first)
    threads.emplace_back([&picture, &crests, first, workers] {
      for (int row = first; row < picture.height; row += workers) paintRow(picture, crests, row);
    });
  threads.clear();
  return picture;
}

}  // namespace weft::tools::demo
