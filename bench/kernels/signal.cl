// Transforms.

// One stage of a radix-2 Fourier transform that sorts as it goes; `half_size` doubles each stage.
kernel void fft_stage(global const float2* in, global float2* out, int n, int half_size) {
  const int i = get_global_id(0), k = i & (half_size - 1);
  float cosine;
  const float sine = sincos(-M_PI_F * k / half_size, &cosine);
  const float2 a = in[i], b = in[i + n / 2];
  const float2 turned = (float2)(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
  const int to = ((i - k) << 1) + k;
  out[to] = a + turned;
  out[to + half_size] = a - turned;
}

kernel void fft_back(global float2* in, global const float2* out, int n, int half_size) {
  fft_stage(out, in, n, half_size);
}

// One whole transform of 256 points for each work-group of 128, in local memory.
kernel void fft_local(global const float2* in, global float2* out, local float2* points) {
  const int item = get_local_id(0), half_count = get_local_size(0);
  const int first = get_group_id(0) * 2 * half_count;
  points[item] = in[first + item];
  points[item + half_count] = in[first + item + half_count];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int size = 1; size <= half_count; size *= 2) {
    const int k = item & (size - 1), to = ((item - k) << 1) + k;
    const float angle = -M_PI_F * k / size;
    const float2 turn = (float2)(cos(angle), sin(angle));
    const float2 a = points[item], b = points[item + half_count];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float2 turned = (float2)(b.x * turn.x - b.y * turn.y, b.x * turn.y + b.y * turn.x);
    points[to] = a + turned;
    points[to + size] = a - turned;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[first + item] = points[item];
  out[first + item + half_count] = points[item + half_count];
}

kernel void dft_naive(global const float* in, global float2* out, int n) {
  const int k = get_global_id(0);
  float2 sum = 0;
  for (int i = 0; i < n; ++i) {
    const float angle = -2 * M_PI_F / n * (i * k % n);
    sum += in[i] * (float2)(cos(angle), sin(angle));
  }
  out[k] = sum;
}

// The 8 x 8 cosine transform of a block for each work-group: rows, then columns.
kernel void dct_8x8(global const float* in, constant float* cosines, global float* out, int width) {
  local float block[8][8], rows[8][8];
  const int x = get_local_id(0), y = get_local_id(1);
  const int i = get_global_id(1) * width + get_global_id(0);
  block[y][x] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += block[y][k] * cosines[x * 8 + k];
  rows[y][x] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += rows[k][x] * cosines[y * 8 + k];
  out[i] = sum;
}

kernel void haar_wavelet(global const float* in, global float* out, int half_count) {
  const int i = get_global_id(0);
  const float a = in[2 * i], b = in[2 * i + 1];
  out[i] = (a + b) * 0.70710678f;
  out[half_count + i] = (a - b) * 0.70710678f;
}
