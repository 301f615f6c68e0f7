#include <cmath>

#include "bench/kernels/families.h"
#include "bench/kernels/particles.cl.h"

namespace weft::bench {
namespace {

Values gravity(const std::vector<float>& position, size_t n) {
  Values sum(4 * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k) {
      double d[3], square = 0.01f;
      for (size_t j = 0; j < 3; ++j) {
        d[j] = static_cast<double>(position[4 * k + j]) - position[4 * i + j];
        square += d[j] * d[j];
      }
      const double f = position[4 * k + 3] / (square * std::sqrt(square));
      for (size_t j = 0; j < 3; ++j) sum[4 * i + j] += d[j] * f;
    }
  return sum;
}

Problem nbodyLocal(size_t n) {
  const auto position = uniform(4 * n, 41);
  return {{in(position), out<float>(4 * n), local<cl_float4>(1), count(n)}, {n}, 1, [=] {
            return gravity(position, n);
          }};
}

Problem nbodyGlobal(size_t n) {
  const auto position = uniform(4 * n, 42);
  return {
      {in(position), out<float>(4 * n), count(n)}, {n}, 1, [=] { return gravity(position, n); }};
}

Values lennardJones(const std::vector<float>& position, const std::vector<cl_int>& neighbours,
                    size_t n, float cutoff) {
  Values force(4 * n);
  for (size_t entry = 0; entry < neighbours.size(); ++entry) {
    const size_t i = entry % n, other = static_cast<size_t>(neighbours[entry]);
    float d[3], square = 0;
    for (size_t j = 0; j < 3; ++j) {
      d[j] = position[4 * i + j] - position[4 * other + j];
      square += d[j] * d[j];
    }
    if (!(square < cutoff)) continue;
    const double inverse = 1.0 / square, r6 = inverse * inverse * inverse;
    for (size_t j = 0; j < 3; ++j) force[4 * i + j] += d[j] * inverse * r6 * (1.5 * r6 - 2);
  }
  return force;
}

Problem molecularDynamics(size_t n) {
  constexpr size_t neighbour_count = 64;
  constexpr float cutoff = 16;
  const auto position = uniform(4 * n, 43, 0, 20);
  auto neighbours = integers(n * neighbour_count, 44, 0, static_cast<cl_int>(n));
  // Nobody is its own neighbour, nor so near that the force has no bound.
  for (size_t entry = 0; entry < neighbours.size(); ++entry) {
    const auto tooNear = [&](size_t other) {
      float square = 0;
      for (size_t j = 0; j < 3; ++j) {
        const float d = position[4 * (entry % n) + j] - position[4 * other + j];
        square += d * d;
      }
      return square < 1 || std::abs(square - cutoff) < 1e-3f;
    };
    size_t other = static_cast<size_t>(neighbours[entry]);
    while (tooNear(other)) other = (other + 1) % n;
    neighbours[entry] = static_cast<cl_int>(other);
  }
  return {{in(position), in(neighbours), out<float>(4 * n), count(n), count(neighbour_count),
           value(cutoff)},
          {n},
          2,
          [=] { return lennardJones(position, neighbours, n, cutoff); }};
}

constexpr size_t box_size = 64;

Values meetBoxes(const std::vector<float>& position, const std::vector<float>& charge,
                 size_t box_count) {
  Values sum(4 * box_count * box_size);
  for (size_t i = 0; i < box_count * box_size; ++i)
    for (size_t step = box_count - 1; step <= box_count + 1; ++step)
      for (size_t k = 0; k < box_size; ++k) {
        const size_t other = (i / box_size + step) % box_count * box_size + k;
        double d[3], square = 0;
        for (size_t j = 0; j < 3; ++j) {
          d[j] = static_cast<double>(position[4 * i + j]) - position[4 * other + j];
          square += d[j] * d[j];
        }
        const double v = std::exp(-0.5 * square) * charge[other];
        for (size_t j = 0; j < 3; ++j) sum[4 * i + j] += d[j] * v;
        sum[4 * i + 3] += v;
      }
  return sum;
}

Problem boxes(size_t box_count) {
  const size_t n = box_count * box_size;
  const auto position = uniform(4 * n, 45), charge = uniform(n, 46);
  return {{in(position), in(charge), out<float>(4 * n), local<cl_float4>(1), local<float>(1),
           count(box_count)},
          {n},
          2,
          [=] { return meetBoxes(position, charge, box_count); }};
}

Problem kmeans(size_t n) {
  constexpr size_t clusters = 16, features = 8;
  // Small multiples of a power of two: sums are exact, so that ties fall the same way everywhere.
  const auto exact = [](size_t size, cl_uint seed) {
    std::vector<float> values;
    for (cl_int value : integers(size, seed, 0, 256))
      values.push_back(static_cast<float>(value) / 16);
    return values;
  };
  const auto points = exact(n * features, 47), centres = exact(clusters * features, 48);
  const auto nearest = [=](size_t i) {
    size_t best = 0;
    double smallest = HUGE_VAL;
    for (size_t c = 0; c < clusters; ++c) {
      double distance = 0;
      for (size_t f = 0; f < features; ++f)
        distance += std::pow(points[f * n + i] - centres[c * features + f], 2);
      if (distance < smallest) {
        smallest = distance;
        best = c;
      }
    }
    return best;
  };
  return {{in(points), in(centres), out<cl_int>(n), count(n), count(clusters), count(features)},
          {n},
          2,
          [=] { return each(n, nearest); }};
}

Problem nearestNeighbour(size_t n) {
  const auto places = uniform(2 * n, 49, -90, 90);
  return {{in(places), out<float>(n), value(cl_float2{{30, 60}})}, {n}, 1, [=] {
            return each(n, [&](size_t i) {
              return std::hypot(places[2 * i] - 30.0, places[2 * i + 1] - 60.0);
            });
          }};
}

}  // namespace

const std::vector<Case>& particles() {
  constexpr auto text = source::particles;
  static const std::vector<Range> any = {{}, {64}, {256}};
  static const std::vector<Case> rows = {
      {"nbody_local", text, nbodyLocal, 4096, 256, 1e-3, {{64}, {16}, {256}}},
      {"nbody_global", text, nbodyGlobal, 4096, 256, 1e-3, any},
      {"molecular_dynamics", text, molecularDynamics, 32768, 512, 1e-3, any},
      {"boxes", text, boxes, 256, 8, 1e-4, {{box_size}}},
      {"kmeans", text, kmeans, 1 << 17, 1024, 0, any},
      {"nearest_neighbour", text, nearestNeighbour, 4 << 20, 1024, 1e-5, any},
  };
  return rows;
}

}  // namespace weft::bench
