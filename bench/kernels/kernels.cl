// Kernels as programs write them, untuned: what matters is how the same source does elsewhere.

kernel void triad(global float* a, global const float* b, global const float* c, float s) {
  size_t i = get_global_id(0);
  a[i] = b[i] + s * c[i];
}

// One step of gravity between all pairs, with the others' positions staged in local memory.
kernel void nbody(global const float4* position, global float4* acceleration, local float4* tile,
                  int count) {
  const int i = get_global_id(0), item = get_local_id(0), items = get_local_size(0);
  const float4 mine = position[i];
  float4 sum = 0;
  for (int first = 0; first < count; first += items) {
    tile[item] = position[first + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < items; ++k) {
      float4 d = tile[k] - mine;
      d.w = 0;
      const float r = rsqrt(dot(d, d) + 0.01f);
      sum += d * (tile[k].w * r * r * r);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  acceleration[i] = sum;
}

#define TILE 16
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void matmul_tiled(
    global const float* a, global const float* b, global float* c, int n) {
  local float a_tile[TILE][TILE], b_tile[TILE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int first = 0; first < n; first += TILE) {
    a_tile[y][x] = a[row * n + first + x];
    b_tile[y][x] = b[(first + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += a_tile[y][k] * b_tile[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

// As beginners write it: a loop under a condition that sums in global memory.
kernel void matmul_naive(global const float* a, global const float* b, global float* c, int n) {
  const int column = get_global_id(0), row = get_global_id(1);
  if (column < n && row < n) {
    c[row * n + column] = 0;
    for (int k = 0; k < n; ++k) c[row * n + column] += a[row * n + k] * b[k * n + column];
  }
}

// Each work-item sums its share, the work-group halves the sums in local memory.
kernel void reduction(global const float* in, global float* sums, local float* mine, int count) {
  const int item = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) sum += in[i];
  mine[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (item < step) mine[item] += mine[item + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) sums[get_group_id(0)] = mine[0];
}

kernel void stencil(global const float* in, global float* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) return;
  const int i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

// What a work-group costs when its work-items do next to nothing.
kernel void nearly_empty(global int* out) {
  if (get_global_id(0) == get_global_size(0) - 1) *out += 1;
}
