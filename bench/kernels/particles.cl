// Forces between particles, and distances to points.

// One step of gravity between all pairs, with the others' positions staged in local memory.
kernel void nbody_local(global const float4* position, global float4* acceleration,
                        local float4* tile, int count) {
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

kernel void nbody_global(global const float4* position, global float4* acceleration, int count) {
  const int i = get_global_id(0);
  const float4 mine = position[i];
  float x = 0, y = 0, z = 0;
  for (int k = 0; k < count; ++k) {
    const float4 other = position[k];
    const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
    const float r = 1 / sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
    const float f = other.w * r * r * r;
    x += dx * f;
    y += dy * f;
    z += dz * f;
  }
  acceleration[i] = (float4)(x, y, z, 0);
}

// Lennard-Jones forces from a list of neighbours.
kernel void molecular_dynamics(global const float4* position, global const int* neighbours,
                               global float4* force, int count, int neighbour_count,
                               float cutoff) {
  const int i = get_global_id(0);
  const float4 mine = position[i];
  float4 sum = 0;
  for (int k = 0; k < neighbour_count; ++k) {
    const float4 other = position[neighbours[k * count + i]];
    const float dx = mine.x - other.x, dy = mine.y - other.y, dz = mine.z - other.z;
    const float square = dx * dx + dy * dy + dz * dz;
    if (square < cutoff) {
      const float inverse = 1 / square, r6 = inverse * inverse * inverse;
      const float f = inverse * r6 * (1.5f * r6 - 2);
      sum.x += dx * f;
      sum.y += dy * f;
      sum.z += dz * f;
    }
  }
  force[i] = sum;
}

// Every work-group is a box of particles that meets itself and the boxes beside it.
kernel void boxes(global const float4* position, global const float* charge, global float4* out,
                  local float4* near, local float* near_charge, int box_count) {
  const int box = get_group_id(0), item = get_local_id(0), items = get_local_size(0);
  const float4 mine = position[box * items + item];
  float4 sum = 0;
  for (int step = -1; step <= 1; ++step) {
    const int other = (box + step + box_count) % box_count;
    near[item] = position[other * items + item];
    near_charge[item] = charge[other * items + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < items; ++k) {
      const float4 d = mine - near[k];
      const float v = exp(-0.5f * (d.x * d.x + d.y * d.y + d.z * d.z)) * near_charge[k];
      sum.x += d.x * v;
      sum.y += d.y * v;
      sum.z += d.z * v;
      sum.w += v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[box * items + item] = sum;
}

kernel void kmeans(global const float* features, constant float* centres, global int* cluster,
                   int count, int cluster_count, int feature_count) {
  const int i = get_global_id(0);
  int best = 0;
  float smallest = FLT_MAX;
  for (int c = 0; c < cluster_count; ++c) {
    float distance = 0;
    for (int f = 0; f < feature_count; ++f) {
      const float d = features[f * count + i] - centres[c * feature_count + f];
      distance += d * d;
    }
    if (distance < smallest) {
      smallest = distance;
      best = c;
    }
  }
  cluster[i] = best;
}

kernel void nearest_neighbour(global const float2* places, global float* distance, float2 here) {
  const int i = get_global_id(0);
  const float2 d = places[i] - here;
  distance[i] = sqrt(d.x * d.x + d.y * d.y);
}
