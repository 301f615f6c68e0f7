// Nobody defines these, and each must be named as the program wrote it.
float4 __attribute__((overloadable)) absent(float4 x, const global uchar2* p, volatile local long* q);
void undeclared_elsewhere(int x);
int __attribute__((overloadable)) never_called(int x);

void calls(global float4* p, const global uchar2* q, volatile local long* r) {
  *p = absent(*p, q, r) + sin(*p);
  undeclared_elsewhere((int)get_global_id(0));
  barrier(CLK_LOCAL_MEM_FENCE);
  printf("%d\n", 1);
}
