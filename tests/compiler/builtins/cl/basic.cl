void sines(global float* p) {
  p[0] = sin(p[0]);
  vstore4(sin(vload4(0, p + 1)), 0, p + 1);
  vstore3(sin(vload3(0, p + 5)), 0, p + 5);
  vstore16(sin(vload16(0, p + 8)), 0, p + 8);
}

void integers(global int* p) {
  p[0] = add_sat(p[0], p[1]);
  vstore4(max(vload4(0, p), 7), 0, p);
  p[4] = convert_int_sat(as_float(p[4]));
  atomic_add(p + 5, 3);
}
