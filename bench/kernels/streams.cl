// As fast as memory is: one pass over long arrays.

kernel void copy(global float* a, global const float* b) {
  const size_t i = get_global_id(0);
  a[i] = b[i];
}

kernel void triad(global float* a, global const float* b, global const float* c, float s) {
  const size_t i = get_global_id(0);
  a[i] = b[i] + s * c[i];
}

kernel void daxpy(global double* y, global const double* x, double a, int count) {
  const int i = get_global_id(0);
  if (i < count) y[i] += a * x[i];
}

// An array of structures: what a vectoriser has to take apart.
typedef struct {
  float x, y, z, vx, vy, vz;
} Particle;

kernel void move_particles(global Particle* particles, float dt) {
  global Particle* p = &particles[get_global_id(0)];
  p->x += dt * p->vx;
  p->y += dt * p->vy;
  p->z += dt * p->vz;
}

kernel void complex_multiply(global float2* out, global const float2* a, global const float2* b) {
  const size_t i = get_global_id(0);
  out[i] = (float2)(a[i].x * b[i].x - a[i].y * b[i].y, a[i].x * b[i].y + a[i].y * b[i].x);
}

// What a work-group costs when its work-items do next to nothing.
kernel void nearly_empty(global int* out) {
  if (get_global_id(0) == get_global_size(0) - 1) *out += 1;
}
