// Functions of float, and of double, by instructions of NVIDIA's GPUs: __weft_nvidia_<function>_<type>
// stands for OpenCL C's function there, and __weft_machine_<instruction> for the instruction
// (compiler/gpu/native_math.h), of which exp2, log2 and rcp are right to some 2^-22. Largest errors in
// ULP: tanh 2.1, cbrt 0.9 (of all floats on an H200), rsqrt of double 1.5.
#include "own_float.def"

float __weft_machine_exp2(float x);
float __weft_machine_log2(float x);
float __weft_machine_rcp(float x);
double __weft_machine_rsqrt(double x);  // of some 20 bits, and infinite for subnormal numbers

float __weft_nvidia_tanh_float(float x) {
  const float a = ABS(x), near = small_tanh(a);
  const float e = __weft_machine_exp2(a * (2.0f * LOG2E_HI));
  const float far = FMA(-2.0f, __weft_machine_rcp(1.0f + e), 1.0f);
  return COPYSIGN(a < 0.55f ? near : far, x);
}

float __weft_nvidia_cbrt_float(float x) {
  const float a = ABS(x);
  const bool small = a < FLT_MIN;
  const float m = small ? a * 0x1p24f : a;
  // Of 1 / cbrt(m), to 2^-19.
  const float r = __weft_machine_exp2(__weft_machine_log2(m) * -0x1.555556p-2f);
  const float y = m * r * r;
  const Pair square = exact_product(y, y);
  const float rest = FMA(-square.hi, y, m) - square.lo * y;
  const float root = FMA(rest * r, r * 0x1.555556p-2f, y);
  return a > 0.0f && a < INF ? COPYSIGN(small ? root * 0x1p-8f : root, x) : x;
}

double __weft_nvidia_rsqrt_double(double x) {
  const double y = __weft_machine_rsqrt(x), h = FMA(-x * y, y, 1.0);
  const double result = FMA(y * h, FMA(0.375, h, 0.5), y);
  const bool is_normal = x >= 0x1p-1022 && x < (double)INFINITY;
  return __builtin_expect(is_normal, 1) ? result : 1.0 / __builtin_elementwise_sqrt(x);
}
