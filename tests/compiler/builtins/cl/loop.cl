// A loop that the vectoriser should find vector forms for.
void sines(global float* restrict r, const global float* restrict x, ulong count) {
  for (ulong i = 0; i < count; ++i) r[i] = sin(x[i]) + pow(x[i], 1.5f);
}
void wide(global float16* r, global double3* d) {
  *r = exp(*r);
  *d = log(*d);
}
void cosines(global float4* r) { *r = native_cos(*r); }
