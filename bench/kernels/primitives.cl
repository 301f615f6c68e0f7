// What parallel programs are made of: reductions, scans, sorts, histograms.

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

kernel void reduction_atomic(global const uint* in, global uint* sum, int each) {
  local uint mine;
  if (get_local_id(0) == 0) mine = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint part = 0;
  for (int i = 0; i < each; ++i) part += in[i * get_global_size(0) + get_global_id(0)];
  atomic_add(&mine, part);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_add(sum, mine);
}

// The least of a block's elements with the step doubling and a condition that few items meet.
kernel void minimum(global const int* in, global int* least, local int* mine) {
  const int item = get_local_id(0);
  mine[item] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < get_local_size(0); step *= 2) {
    if (item % (2 * step) == 0) mine[item] = min(mine[item], mine[item + step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) least[get_group_id(0)] = mine[0];
}

// Sums of all elements up to each within the block.
kernel void scan(global const int* in, global int* out, local int* sums) {
  const int item = get_local_id(0);
  int sum = in[get_global_id(0)];
  for (int step = 1; step < get_local_size(0); step *= 2) {
    sums[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= step) sum += sums[item - step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = sum;
}

kernel void bitonic_step(global uint* keys, int size, int distance) {
  const uint i = get_global_id(0);
  const uint first = 2 * i - (i & (distance - 1)), second = first + distance;
  const uint a = keys[first], b = keys[second];
  const bool ascending = (first & size) == 0;
  if ((a > b) == ascending) {
    keys[first] = b;
    keys[second] = a;
  }
}

// A pass of a radix sort by four bits. Each work-item owns a run of keys.
#define RUN 64
kernel void radix_count(global const uint* in, global uint* out, global uint* counts, int shift) {
  const int item = get_global_id(0), items = get_global_size(0);
  uint mine[16] = {0};
  for (int i = 0; i < RUN; ++i) ++mine[in[item * RUN + i] >> shift & 15];
  for (int digit = 0; digit < 16; ++digit) counts[digit * items + item] = mine[digit];
}

kernel void radix_scan(global const uint* in, global uint* out, global uint* counts, int shift) {
  local uint sums[256];
  const int item = get_local_id(0), items = get_local_size(0);
  const int each = shift / items;  // the number of counts
  uint sum = 0;
  for (int i = 0; i < each; ++i) sum += counts[item * each + i];
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before = 0;
  for (int i = 0; i < item; ++i) before += sums[i];
  for (int i = 0; i < each; ++i) {
    const uint next = before + counts[item * each + i];
    counts[item * each + i] = before;
    before = next;
  }
}

kernel void radix_scatter(global const uint* in, global uint* out, global uint* counts,
                          int shift) {
  const int item = get_global_id(0), items = get_global_size(0);
  uint to[16];
  for (int digit = 0; digit < 16; ++digit) to[digit] = counts[digit * items + item];
  for (int i = 0; i < RUN; ++i) {
    const uint key = in[item * RUN + i];
    out[to[key >> shift & 15]++] = key;
  }
}

// A histogram of bytes in each work-item's own memory.
kernel void histogram_private(global const uint* in, global uint* bins, int each) {
  uint mine[16] = {0};
  for (int i = 0; i < each; ++i) ++mine[in[i * get_global_size(0) + get_global_id(0)] & 15];
  for (int bin = 0; bin < 16; ++bin) atomic_add(&bins[bin], mine[bin]);
}

kernel void histogram_local(global const uint* in, global uint* bins, int each) {
  local uint ours[256];
  for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0)) ours[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < each; ++i)
    atomic_inc(&ours[in[i * get_global_size(0) + get_global_id(0)] & 255]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0))
    atomic_add(&bins[bin], ours[bin]);
}

kernel void histogram_global(global const uint* in, global uint* bins, int each) {
  for (int i = 0; i < each; ++i)
    atomic_inc(&bins[in[i * get_global_size(0) + get_global_id(0)] & 255]);
}
