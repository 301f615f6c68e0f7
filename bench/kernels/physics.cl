// Flows and waves.

// Fluxes of an unstructured grid: each cell's density, momentum and energy against four neighbours.
kernel void cfd_flux(global const int* neighbours, global const float* normals,
                     global const float* state, global float* flux, int count) {
  const int i = get_global_id(0);
  const float density = state[i], x = state[count + i], y = state[2 * count + i];
  const float energy = state[3 * count + i];
  const float pressure = 0.4f * (energy - 0.5f * (x * x + y * y) / density);
  const float sound = sqrt(1.4f * pressure / density);
  float sums[4] = {0, 0, 0, 0};
  for (int k = 0; k < 4; ++k) {
    const int other = neighbours[k * count + i];
    const float nx = normals[2 * k * count + i], ny = normals[(2 * k + 1) * count + i];
    if (other < 0) {
      sums[1] += nx * pressure;
      sums[2] += ny * pressure;
      continue;
    }
    const float d = state[other], mx = state[count + other], my = state[2 * count + other];
    const float e = state[3 * count + other];
    const float p = 0.4f * (e - 0.5f * (mx * mx + my * my) / d);
    const float speed = sqrt(nx * nx + ny * ny) * 0.5f * (sound + sqrt(1.4f * p / d));
    const float here = (x * nx + y * ny) / density, there = (mx * nx + my * ny) / d;
    sums[0] += 0.5f * (density * here + d * there) + speed * (density - d);
    sums[1] += 0.5f * (x * here + mx * there + nx * (pressure + p)) + speed * (x - mx);
    sums[2] += 0.5f * (y * here + my * there + ny * (pressure + p)) + speed * (y - my);
    sums[3] += 0.5f * ((energy + pressure) * here + (e + p) * there) + speed * (energy - e);
  }
  for (int k = 0; k < 4; ++k) flux[k * count + i] = sums[k];
}

// Diffusion that stops at edges: the coefficient of each pixel from its gradients.
kernel void srad_coefficient(global const float* image, global float* coefficient, int n,
                             float speckle) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float c = image[y * n + x];
  const float north = image[max(y - 1, 0) * n + x] - c;
  const float south = image[min(y + 1, n - 1) * n + x] - c;
  const float west = image[y * n + max(x - 1, 0)] - c;
  const float east = image[y * n + min(x + 1, n - 1)] - c;
  const float g = (north * north + south * south + west * west + east * east) / (c * c);
  const float l = (north + south + west + east) / c;
  const float d = 1 + 0.25f * l;
  const float q = (0.5f * g - 0.0625f * l * l) / (d * d);
  const float k = 1 / (1 + (q - speckle) / (speckle * (1 + speckle)));
  coefficient[y * n + x] = clamp(k, 0.0f, 1.0f);
}

// A step of a wave in three dimensions of space with a star of radius two.
kernel void wave_3d(global const float* now, global float* other, int n) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x < 2 || y < 2 || z < 2 || x >= n - 2 || y >= n - 2 || z >= n - 2) return;
  const int i = (z * n + y) * n + x;
  float sum = -7.5f * now[i];
  const int strides[3] = {1, n, n * n};
  for (int k = 0; k < 3; ++k)
    sum += 1.3333333f * (now[i - strides[k]] + now[i + strides[k]]) -
           0.083333333f * (now[i - 2 * strides[k]] + now[i + 2 * strides[k]]);
  other[i] = 2 * now[i] - other[i] + 0.1f * sum;
}

// A cell of a lattice gas: nine directions relax to their equilibrium.
kernel void lattice_boltzmann(global const float* in, global float* out, constant float* weights,
                              int count) {
  const int i = get_global_id(0);
  float f[9], density = 0, ux = 0, uy = 0;
  for (int k = 0; k < 9; ++k) {
    f[k] = in[k * count + i];
    density += f[k];
    ux += (k % 3 - 1) * f[k];
    uy += (k / 3 - 1) * f[k];
  }
  ux /= density;
  uy /= density;
  const float square = 1.5f * (ux * ux + uy * uy);
  for (int k = 0; k < 9; ++k) {
    const float along = 3 * ((k % 3 - 1) * ux + (k / 3 - 1) * uy);
    const float equal = weights[k] * density * (1 + along + 0.5f * along * along - square);
    out[k * count + i] = f[k] + 0.6f * (equal - f[k]);
  }
}
