void hello(void) { printf("hello\n"); }
void scalars(int i, char c, uchar u, short s, long l, float f, double d) {
  printf("%d %i %u %hd %ld %.3f %g %c|%5d|%-5d|%05d|%+d|%x|%#X|%o|%e|%%\n", i, c, u, s, l, f, d, 'z', i,
         i, i, i, i, i, i, d);
}
void vectors(char4 c, short2 s, int3 i, uint4 u, long2 l, float4 f, double2 d, float3 g) {
  printf("%v4hhd|%v2hd|%v3hld|%v4hlx|%v2ld|%v4hlf|%.1v2lf|%5.2v3hlf\n", c, s, i, u, l, f, d, g);
}
void strings(global int* p) { printf("[%s] [%10s] [%-4s] [%.2s] %p\n", "abc", "right", "l", "cut", p); }
void branches(int n) {
  for (int i = 0; i < n; ++i)
    if (i & 1) printf("%d,", i);
}
void all_vectors(void) {
  vectors((char4)(-1, 2, -3, 4), (short2)(-5, 6), (int3)(7, -8, 9), (uint4)(1, 255, 16, -1),
          (long2)(-1, 2), (float4)(0.5f, -1.5f, 2.0f, INFINITY), (double2)(0.25, -0.75),
          (float3)(1.0f, 2.5f, -3.25f));
}
