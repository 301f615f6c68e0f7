// Much arithmetic for little memory: options, fractals, random numbers.

float normal_distribution(float x) {
  const float k = 1 / (1 + 0.2316419f * fabs(x));
  const float tail = exp(-0.5f * x * x) * 0.39894228f * k *
                     (0.31938153f +
                      k * (-0.356563782f +
                           k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  return x > 0 ? 1 - tail : tail;
}

kernel void black_scholes(global const float* price, global const float* strike,
                          global const float* years, global float* call, global float* put,
                          float rate, float volatility) {
  const int i = get_global_id(0);
  const float s = price[i], k = strike[i], t = years[i];
  const float width = volatility * sqrt(t);
  const float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / width;
  const float d2 = d1 - width;
  const float discounted = k * exp(-rate * t);
  const float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}

// One option for each work-group: the tree's levels pass through local memory.
kernel void binomial_options(global const float* price, global float* value, local float* level,
                             float strike, float up, float probability, float discount) {
  const int item = get_local_id(0), steps = get_local_size(0) - 1;
  level[item] = fmax(price[get_group_id(0)] * pow(up, (float)(2 * item - steps)) - strike, 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = steps; step > 0; --step) {
    float mean = 0;
    if (item < step)
      mean = discount * (probability * level[item + 1] + (1 - probability) * level[item]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step) level[item] = mean;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) value[get_group_id(0)] = level[0];
}

kernel void mandelbrot(global int* iterations, int width, float left, float top, float step,
                       int limit) {
  const int column = get_global_id(0), row = get_global_id(1);
  const float cx = left + step * column, cy = top + step * row;
  float x = 0, y = 0;
  int i = 0;
  while (x * x + y * y < 4 && i < limit) {
    const float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    ++i;
  }
  iterations[row * width + column] = i;
}

uint next(uint x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ x << 5;
}

// Points in the unit square that are in the circle.
kernel void monte_carlo_pi(global const uint* seeds, global uint* hits, int samples) {
  uint state = seeds[get_global_id(0)], inside = 0;
  for (int i = 0; i < samples; ++i) {
    state = next(state);
    const uint x = state >> 17;
    state = next(state);
    const uint y = state >> 17;
    if (x * x + y * y < 1u << 30) ++inside;
  }
  hits[get_global_id(0)] = inside;
}

// Paths of a price, with normally distributed steps from two uniform numbers.
kernel void monte_carlo_option(global const uint* seeds, global float* mean, int paths,
                               float start, float strike, float drift, float spread) {
  uint state = seeds[get_global_id(0)];
  float sum = 0;
  for (int i = 0; i < paths; ++i) {
    state = next(state);
    const float u = ((state >> 8) + 1) * 0x1p-24f;
    state = next(state);
    const float v = (state >> 8) * 0x1p-24f;
    const float normal = sqrt(-2 * log(u)) * cos(6.2831853f * v);
    sum += fmax(start * exp(drift + spread * normal) - strike, 0.0f);
  }
  mean[get_global_id(0)] = sum / paths;
}

// A counter-based generator: ten rounds of multiplying and mixing.
kernel void random_numbers(global uint4* out, uint key) {
  uint4 c = (uint4)(get_global_id(0), 0, 0, 0);
  uint2 k = (uint2)(key, ~key);
  for (int round = 0; round < 10; ++round) {
    const uint high0 = mul_hi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
    const uint high1 = mul_hi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
    c = (uint4)(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
    k += (uint2)(0x9e3779b9u, 0xbb67ae85u);
  }
  out[get_global_id(0)] = c;
}
