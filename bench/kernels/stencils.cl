// Stencils and filters over grids of floats; the borders stay as they are.

kernel void jacobi_2d(global const float* in, global float* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) return;
  const int i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

kernel void stencil_3d(global const float* in, global float* out, int n) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  const int i = (z * n + y) * n + x;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1)
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] +
                                    in[i - n * n] + in[i + n * n]);
}

// Heat on a chip, with the block and its rim in local memory.
#define BLOCK 16
kernel void hotspot(global const float* temperature, global const float* power, global float* out,
                    int n) {
  local float tile[BLOCK + 2][BLOCK + 2];
  const int lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
  const int x = get_global_id(0), y = get_global_id(1);
  const int left = max(x - 1, 0), right = min(x + 1, n - 1);
  const int above = max(y - 1, 0), below = min(y + 1, n - 1);
  tile[ly][lx] = temperature[y * n + x];
  if (lx == 1) tile[ly][0] = temperature[y * n + left];
  if (lx == BLOCK) tile[ly][BLOCK + 1] = temperature[y * n + right];
  if (ly == 1) tile[0][lx] = temperature[above * n + x];
  if (ly == BLOCK) tile[BLOCK + 1][lx] = temperature[below * n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  const float t = tile[ly][lx];
  out[y * n + x] = t + 0.1f * (power[y * n + x] + tile[ly - 1][lx] + tile[ly + 1][lx] - 2 * t +
                               tile[ly][lx - 1] + tile[ly][lx + 1] - 2 * t + 0.05f * (80 - t));
}

// Conway's game on a torus.
kernel void game_of_life(global const int* in, global int* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      alive += in[(y + dy + height) % height * width + (x + dx + width) % width];
  const int self = in[y * width + x];
  out[y * width + x] = alive == 3 || (self && alive == 4);
}

#define RADIUS 2
kernel void convolution_2d(global const float* in, constant float* filter, global float* out,
                           int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int dy = -RADIUS; dy <= RADIUS; ++dy)
    for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
      const int from_x = clamp(x + dx, 0, width - 1), from_y = clamp(y + dy, 0, height - 1);
      sum += filter[(dy + RADIUS) * (2 * RADIUS + 1) + dx + RADIUS] * in[from_y * width + from_x];
    }
  out[y * width + x] = sum;
}

// One direction of a separable filter: a row's part and its halo in local memory.
#define HALO 8
kernel void convolution_rows(global const float* in, constant float* filter, global float* out,
                             local float* row, int width) {
  const int item = get_local_id(0), items = get_local_size(0);
  const int first = get_group_id(0) * items;
  const int y = get_global_id(1);
  for (int i = item; i < items + 2 * HALO; i += items)
    row[i] = in[y * width + clamp(first + i - HALO, 0, width - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int k = 0; k <= 2 * HALO; ++k) sum += filter[k] * row[item + k];
  out[y * width + first + item] = sum;
}
