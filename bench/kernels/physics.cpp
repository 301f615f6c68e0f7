#include <algorithm>
#include <cmath>

#include "bench/kernels/families.h"
#include "bench/kernels/physics.cl.h"

namespace weft::bench {
namespace {

// Density, momentum and energy of a cell, and what follows from them.
struct Cell {
  Cell(const std::vector<float>& state, size_t n, size_t i)
      : u{state[i], state[n + i], state[2 * n + i], state[3 * n + i]},
        pressure(0.4 * (u[3] - 0.5 * (u[1] * u[1] + u[2] * u[2]) / u[0])),
        sound(std::sqrt(1.4 * pressure / u[0])) {}
  double u[4], pressure, sound;
};

struct Grid {
  Values fluxes() const {
    Values flux(4 * n);
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < 4; ++k) {
        const double nx = normals[2 * k * n + i], ny = normals[(2 * k + 1) * n + i];
        const cl_int neighbour = neighbours[k * n + i];
        const Cell a(state, n, i), b(state, n, neighbour < 0 ? i : static_cast<size_t>(neighbour));
        const double direction[4] = {0, nx, ny, 0};
        const double here = (a.u[1] * nx + a.u[2] * ny) / a.u[0];
        const double there = (b.u[1] * nx + b.u[2] * ny) / b.u[0];
        const double speed = std::hypot(nx, ny) * 0.5 * (a.sound + b.sound);
        for (size_t j = 0; j < 4; ++j) {
          double& sum = flux[j * n + i];
          if (neighbour < 0) {
            sum += direction[j] * a.pressure;
            continue;
          }
          sum += 0.5 * (a.u[j] * here + b.u[j] * there + direction[j] * (a.pressure + b.pressure)) +
                 speed * (a.u[j] - b.u[j]);
          if (j == 3) sum += 0.5 * (a.pressure * here + b.pressure * there);
        }
      }
    return flux;
  }

  size_t n;
  std::vector<cl_int> neighbours;
  std::vector<float> normals, state;
};

Problem cfdFlux(size_t n) {
  // One in nine neighbours is a wall. Density and energy are such that pressure is positive.
  const auto cells = static_cast<cl_int>(n);
  Grid grid{n, integers(4 * n, 131, -cells / 8, cells), uniform(8 * n, 132, -1, 1),
            uniform(n, 133, 1, 2)};
  for (cl_int& neighbour : grid.neighbours) neighbour = std::max(neighbour, -1);
  const auto momentum = uniform(2 * n, 134, -0.5f, 0.5f), energy = uniform(n, 135, 2, 3);
  grid.state.insert(grid.state.end(), momentum.begin(), momentum.end());
  grid.state.insert(grid.state.end(), energy.begin(), energy.end());
  return {{in(grid.neighbours), in(grid.normals), in(grid.state), out<float>(4 * n), count(n)},
          {n},
          3,
          [=] { return grid.fluxes(); }};
}

Problem srad(size_t n) {
  const auto image = uniform(n * n, 136, 0.5f, 1);
  const auto coefficient = [=](size_t i) {
    const size_t x = i % n, y = i / n;
    const double c = image[i];
    const double d[4] = {
        image[(y ? y - 1 : 0) * n + x] - c, image[std::min(y + 1, n - 1) * n + x] - c,
        image[y * n + (x ? x - 1 : 0)] - c, image[y * n + std::min(x + 1, n - 1)] - c};
    double g = 0, l = 0;
    for (double change : d) {
      g += change * change / (c * c);
      l += change / c;
    }
    const double q = (0.5 * g - 0.0625 * l * l) / std::pow(1 + 0.25 * l, 2);
    return std::clamp(1 / (1 + (q - 0.05) / (0.05 * 1.05)), 0.0, 1.0);
  };
  return {{in(image), out<float>(n * n), count(n), value(0.05f)}, {n, n}, 1, [=] {
            return each(n * n, coefficient);
          }};
}

Problem wave(size_t n) {
  const auto now = uniform(n * n * n, 137), before = uniform(n * n * n, 138);
  const auto next = [=](size_t i) {
    for (size_t place : {i % n, i / n % n, i / n / n})
      if (place < 2 || place + 2 >= n) return static_cast<double>(before[i]);
    double sum = -7.5 * now[i];
    for (size_t stride : {size_t{1}, n, n * n})
      sum += 4.0 / 3 * (now[i - stride] + now[i + stride]) -
             1.0 / 12 * (now[i - 2 * stride] + now[i + 2 * stride]);
    return 2 * now[i] - before[i] + 0.1 * sum;
  };
  return {{in(now), inout(before), count(n)}, {n, n, n}, 1, [=] { return each(n * n * n, next); }};
}

Problem latticeBoltzmann(size_t n) {
  std::vector<float> weights;
  for (int k = 0; k < 9; ++k) weights.push_back(k == 4 ? 4.0f / 9 : k % 2 ? 1.0f / 9 : 1.0f / 36);
  const auto f = uniform(9 * n, 139, 0.5f, 1);
  return {{in(f), out<float>(9 * n), in(weights), count(n)}, {n}, 1, [=] {
            Values result(9 * n);
            for (size_t i = 0; i < n; ++i) {
              double density = 0, ux = 0, uy = 0;
              for (size_t k = 0; k < 9; ++k) {
                density += f[k * n + i];
                ux += (static_cast<double>(k % 3) - 1) * f[k * n + i];
                uy += (static_cast<double>(k / 3) - 1) * f[k * n + i];
              }
              ux /= density;
              uy /= density;
              for (size_t k = 0; k < 9; ++k) {
                const double along = 3 * ((static_cast<double>(k % 3) - 1) * ux +
                                          (static_cast<double>(k / 3) - 1) * uy);
                const double equal = weights[k] * density *
                                     (1 + along + 0.5 * along * along - 1.5 * (ux * ux + uy * uy));
                result[k * n + i] = f[k * n + i] + 0.6 * (equal - f[k * n + i]);
              }
            }
            return result;
          }};
}

}  // namespace

const std::vector<Case>& physics() {
  constexpr auto text = source::physics;
  static const std::vector<Range> line = {{}, {64}, {256}}, plane = {{}, {16, 16}, {64, 1}};
  static const std::vector<Case> rows = {
      {"cfd_flux", text, cfdFlux, 1 << 18, 1024, 1e-4, line},
      {"srad_coefficient", text, srad, 1024, 64, 1e-4, plane},
      {"wave_3d", text, wave, 128, 32, 1e-5, {{}, {8, 8, 4}, {32, 1, 1}}},
      {"lattice_boltzmann", text, latticeBoltzmann, 1 << 19, 1024, 1e-5, line},
  };
  return rows;
}

}  // namespace weft::bench
