// Dense linear algebra, untuned, and with the tiles in local memory that textbooks teach.

#define TILE 16

kernel void matmul_naive(global const float* a, global const float* b, global float* c, int n) {
  const int column = get_global_id(0), row = get_global_id(1);
  if (column >= n || row >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// As beginners write it: a loop under a condition that sums in global memory.
kernel void matmul_accumulate(global const float* a, global const float* b, global float* c,
                              int n) {
  const int column = get_global_id(0), row = get_global_id(1);
  if (column < n && row < n) {
    c[row * n + column] = 0;
    for (int k = 0; k < n; ++k) c[row * n + column] += a[row * n + k] * b[k * n + column];
  }
}

kernel void matmul_tiled(global const float* a, global const float* b, global float* c, int n) {
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

kernel void matmul_double(global const double* a, global const double* b, global double* c, int n) {
  const int column = get_global_id(0), row = get_global_id(1);
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// One row for each work-item: neighbours read a row's length apart.
kernel void matvec(global const float* a, global const float* x, global float* y, int n) {
  const int row = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
  y[row] = sum;
}

kernel void matvec_transposed(global const float* a, global const float* x, global float* y,
                              int n) {
  const int column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k * n + column] * x[k];
  y[column] = sum;
}

kernel void transpose_naive(global const float* in, global float* out, int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  out[x * n + y] = in[y * n + x];
}

kernel void transpose_tiled(global const float* in, global float* out, int n) {
  local float tile[TILE][TILE + 1];
  const int x = get_local_id(0), y = get_local_id(1);
  tile[y][x] = in[get_global_id(1) * n + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int to_x = get_group_id(1) * TILE + x, to_y = get_group_id(0) * TILE + y;
  out[to_y * n + to_x] = tile[x][y];
}

// One step of LU without pivoting: first the column below the pivot, then the rest.
kernel void lu_column(global float* a, int n, int pivot) {
  const int row = get_global_id(0);
  if (row > pivot && row < n && get_global_id(1) == 0) a[row * n + pivot] /= a[pivot * n + pivot];
}

kernel void lu_rest(global float* a, int n, int pivot) {
  const int column = get_global_id(0), row = get_global_id(1);
  if (column > pivot && row > pivot)
    a[row * n + column] -= a[row * n + pivot] * a[pivot * n + column];
}
