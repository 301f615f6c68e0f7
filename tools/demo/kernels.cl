// The demo's pipeline. Integer stages are exact; the blur is float and rounded to nearest.
// BLUR_TILE, BLUR_RADIUS and BINS come from the build options.

uchar clampByte(int v) { return (uchar)clamp(v, 0, 255); }

// RGBA to luma and the two colour differences (BT.601, 8-bit fixed point).
kernel void colour(global const uchar4* rgba, global uchar* luma, global uchar* blue,
                   global uchar* red, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  const int4 p = convert_int4(rgba[i]);
  luma[i] = clampByte((77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8);
  blue[i] = clampByte(((-43 * p.x - 85 * p.y + 128 * p.z + 128) >> 8) + 128);
  red[i] = clampByte(((128 * p.x - 107 * p.y - 21 * p.z + 128) >> 8) + 128);
}

// Separable Gaussian: a tile and its border go to local memory, then rows, then columns.
#define BLUR_EDGE (BLUR_TILE + 2 * BLUR_RADIUS)
kernel __attribute__((reqd_work_group_size(BLUR_TILE, BLUR_TILE, 1))) void blur(
    global const uchar* in, constant float* weights, global uchar* out, int width, int height) {
  local float tile[BLUR_EDGE][BLUR_EDGE];
  local float rows[BLUR_EDGE][BLUR_TILE];
  const int item = get_local_id(1) * BLUR_TILE + get_local_id(0);
  const int left = get_group_id(0) * BLUR_TILE - BLUR_RADIUS;
  const int top = get_group_id(1) * BLUR_TILE - BLUR_RADIUS;
  for (int i = item; i < BLUR_EDGE * BLUR_EDGE; i += BLUR_TILE * BLUR_TILE) {
    const int x = clamp(left + i % BLUR_EDGE, 0, width - 1);
    const int y = clamp(top + i / BLUR_EDGE, 0, height - 1);
    tile[i / BLUR_EDGE][i % BLUR_EDGE] = in[y * width + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < BLUR_EDGE * BLUR_TILE; i += BLUR_TILE * BLUR_TILE) {
    const int x = i % BLUR_TILE, y = i / BLUR_TILE;
    float sum = 0;
    for (int k = 0; k <= 2 * BLUR_RADIUS; ++k) sum += weights[k] * tile[y][x + k];
    rows[y][x] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int k = 0; k <= 2 * BLUR_RADIUS; ++k)
    sum += weights[k] * rows[get_local_id(1) + k][get_local_id(0)];
  out[y * width + x] = convert_uchar_sat_rte(sum);
}

// Each work-group counts in local memory and adds its counts to the global ones.
kernel void histogram(global const uchar* in, global uint* bins, int width, int height) {
  local uint mine[BINS];
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint count = (uint)width * (uint)height;
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) atomic_inc(&mine[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
    if (mine[i]) atomic_add(&bins[i], mine[i]);
}

// One work-group: a running sum over the bins in log2(BINS) steps, then the equalising table,
// half-way between the picture's own levels and evenly used ones.
kernel __attribute__((reqd_work_group_size(BINS, 1, 1))) void table(
    global const uint* bins, global uchar* levels, int width, int height) {
  local uint sums[BINS];
  local uint first;
  const uint i = get_local_id(0);
  if (i == 0) first = BINS;
  sums[i] = bins[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (sums[i]) atomic_min(&first, i);
  for (uint step = 1; step < BINS; step *= 2) {
    const uint before = i >= step ? sums[i - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[i] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const ulong darkest = sums[first];
  const ulong range = (ulong)width * (ulong)height - darkest;
  const ulong even = range ? ((sums[i] - min(darkest, (ulong)sums[i])) * 255 + range / 2) / range : i;
  levels[i] = (uchar)((even + i + 1) / 2);
}

kernel void equalise(global const uchar* levels, global const uchar* luma,
                     global const uchar* smooth, global uchar* sharp, global uchar* level, int width,
                     int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  sharp[i] = levels[luma[i]];
  level[i] = levels[smooth[i]];
}

// Sobel: the size of the gradient, as the sum of its two parts.
kernel void edges(global const uchar* in, global uchar* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  int p[3][3];
  for (int v = 0; v < 3; ++v)
    for (int h = 0; h < 3; ++h)
      p[v][h] = in[clamp(y + v - 1, 0, height - 1) * width + clamp(x + h - 1, 0, width - 1)];
  const int across = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
  const int down = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
  out[y * width + x] = clampByte((int)(abs(across) + abs(down)) / 2);
}

// Back to RGBA, with the edges inked in.
kernel void compose(global const uchar* sharp, global const uchar* blue, global const uchar* red,
                    global const uchar* edge, global uchar4* rgba, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  const int ink = 255 - min(max((int)edge[i] - 12, 0) * 3, 215);
  const int b = blue[i] - 128, r = red[i] - 128, l = sharp[i];
  const int4 p = (int4)(l + ((359 * r + 128) >> 8), l - ((88 * b + 183 * r + 128) >> 8),
                        l + ((454 * b + 128) >> 8), 255);
  const int4 c = clamp(p, 0, 255) * (int4)(ink, ink, ink, 255) / 255;
  rgba[i] = convert_uchar4(c);
}
