// Sparse matrices and graphs: what is read next depends on what was read.

kernel void spmv_csr(global const int* row_starts, global const int* columns,
                     global const float* values, global const float* x, global float* y, int rows) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int k = row_starts[row]; k < row_starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// A row for each work-group, whose work-items share it.
kernel void spmv_csr_group(global const int* row_starts, global const int* columns,
                           global const float* values, global const float* x, global float* y,
                           local float* part) {
  const int row = get_group_id(0), item = get_local_id(0), items = get_local_size(0);
  float sum = 0;
  for (int k = row_starts[row] + item; k < row_starts[row + 1]; k += items)
    sum += values[k] * x[columns[k]];
  part[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = items / 2; step > 0; step /= 2) {
    if (item < step) part[item] += part[item + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) y[row] = part[0];
}

kernel void spmv_ell(global const int* columns, global const float* values, global const float* x,
                     global float* y, int rows, int width) {
  const int row = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    const int column = columns[k * rows + row];
    if (column >= 0) sum += values[k * rows + row] * x[column];
  }
  y[row] = sum;
}

// A level of a breadth-first search: whoever is at this level gives its neighbours the next.
kernel void bfs(global const int* starts, global const int* edges, global int* level, int depth) {
  const int node = get_global_id(0);
  if (level[node] != depth) return;
  for (int k = starts[node]; k < starts[node + 1]; ++k)
    if (level[edges[k]] < 0) level[edges[k]] = depth + 1;
}

kernel void pagerank(global const int* starts, global const int* sources,
                     global const float* rank, global const float* share, global float* out,
                     float damping) {
  const int node = get_global_id(0);
  float sum = 0;
  for (int k = starts[node]; k < starts[node + 1]; ++k)
    sum += rank[sources[k]] * share[sources[k]];
  out[node] = 1 - damping + damping * sum;
}
