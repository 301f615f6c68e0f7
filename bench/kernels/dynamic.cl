// Dynamic programming: each step needs the one before, within it all is independent.

// The cells of one anti-diagonal of an alignment's table of (n + 1) x (n + 1) scores.
kernel void needleman_wunsch(global const int* similarity, global int* score, int n, int diagonal,
                             int penalty) {
  const int row = get_global_id(0) + 1, column = diagonal - row;
  if (row > n || column < 1 || column > n) return;
  const int width = n + 1, i = row * width + column;
  const int matched = score[i - width - 1] + similarity[i];
  score[i] = max(matched, max(score[i - 1], score[i - width]) - penalty);
}

kernel void floyd_warshall(global int* distance, int n, int over) {
  const int to = get_global_id(0), from = get_global_id(1);
  const int detour = distance[from * n + over] + distance[over * n + to];
  if (detour < distance[from * n + to]) distance[from * n + to] = detour;
}

// The longest common subsequence of two strings for each work-group: one work-item a column, the
// diagonals' values in local memory.
kernel void lcs(global const uchar* a, global const uchar* b, global int* lengths,
                local int* diagonals) {
  const int column = get_local_id(0), n = get_local_size(0), pair = get_group_id(0);
  local int *oldest = diagonals, *old = diagonals + n, *now = diagonals + 2 * n;
  oldest[column] = old[column] = now[column] = 0;
  const uchar mine = b[pair * n + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int diagonal = 0; diagonal < 2 * n - 1; ++diagonal) {
    const int row = diagonal - column;
    if (row >= 0 && row < n) {
      const int left = column > 0 ? old[column - 1] : 0;
      const int corner = column > 0 && row > 0 ? oldest[column - 1] : 0;
      now[column] = a[pair * n + row] == mine ? corner + 1 : max(left, old[column]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    local int* const free = oldest;
    oldest = old;
    old = now;
    now = free;
  }
  if (column == n - 1) lengths[pair] = old[column];
}

// The cheapest way down a grid to each cell of the next row.
kernel void pathfinder(global const int* cost, global int* best, int width, int row) {
  const int x = get_global_id(0);
  global const int* above = best + (row - 1) * width;
  int least = above[x];
  if (x > 0) least = min(least, above[x - 1]);
  if (x < width - 1) least = min(least, above[x + 1]);
  best[row * width + x] = cost[row * width + x] + least;
}
