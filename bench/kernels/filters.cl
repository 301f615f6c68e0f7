// Filters of pictures, in buffers and in images.

constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

kernel void grey(global const uchar4* in, global uchar* out) {
  const int i = get_global_id(0);
  const uchar4 p = in[i];
  out[i] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
}

// The mean of the 9 x 9 neighbourhood of each channel.
kernel void box_filter(global const uchar4* in, global uchar4* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  uint4 sum = 0;
  for (int dy = -4; dy <= 4; ++dy)
    for (int dx = -4; dx <= 4; ++dx)
      sum += convert_uint4(in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)]);
  out[y * width + x] = convert_uchar4(sum / 81);
}

kernel void sobel(global const uchar* in, global uchar* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  global const uchar* p = in + y * width + x;
  const int right = p[1 - width] + 2 * p[1] + p[1 + width];
  const int left = p[-1 - width] + 2 * p[-1] + p[-1 + width];
  const int below = p[width - 1] + 2 * p[width] + p[width + 1];
  const int above = p[-width - 1] + 2 * p[-width] + p[-width + 1];
  out[y * width + x] = min(abs(right - left) + abs(below - above), (uint)255);
}

// Sorts two numbers.
void order(int* a, int* b) {
  const int least = min(*a, *b);
  *b = max(*a, *b);
  *a = least;
}

kernel void median_3x3(global const uchar* in, global uchar* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  int v[9];
  for (int k = 0; k < 9; ++k)
    v[k] = in[clamp(y + k / 3 - 1, 0, height - 1) * width + clamp(x + k % 3 - 1, 0, width - 1)];
  for (int last = 8; last > 3; --last)
    for (int k = 0; k < last; ++k) order(&v[k], &v[k + 1]);
  out[y * width + x] = v[4];
}

kernel void bilateral(global const float* in, global float* out, int width, int height,
                      float in_space, float in_range) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float centre = in[y * width + x];
  float sum = 0, weights = 0;
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx) {
      const float other =
          in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
      const float d = other - centre;
      const float weight = exp(-(dx * dx + dy * dy) * in_space - d * d * in_range);
      sum += weight * other;
      weights += weight;
    }
  out[y * width + x] = sum / weights;
}

kernel void gaussian_image(read_only image2d_t in, write_only image2d_t out,
                           constant float* weights) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx)
      sum += weights[dy + 2] * weights[dx + 2] * read_imagef(in, nearest, at + (int2)(dx, dy));
  write_imagef(out, at, sum);
}

kernel void sobel_image(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float4 right = read_imagef(in, nearest, at + (int2)(1, 0));
  const float4 left = read_imagef(in, nearest, at - (int2)(1, 0));
  const float4 below = read_imagef(in, nearest, at + (int2)(0, 1));
  const float4 above = read_imagef(in, nearest, at - (int2)(0, 1));
  write_imagef(out, at, fabs(right - left) + fabs(below - above));
}

// About the centre, by the angle of that cosine and sine.
kernel void rotate_image(read_only image2d_t in, write_only image2d_t out, float cosine, float sine) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float2 centre = convert_float2(get_image_dim(in)) / 2;
  const float2 to = convert_float2(at) + 0.5f - centre;
  const float2 from = (float2)(cosine * to.x - sine * to.y, sine * to.x + cosine * to.y) + centre;
  write_imagef(out, at, read_imagef(in, linear, from));
}
