// __weft_own_<function>, which programs get in place of OpenCL C's function (useOwnMath) and of what
// completes SLEEF's there. Apart from the functions of elements, which stay calls on CPUs.
#include "types.def"

#define DEFINE_FORM1(n, V, T, f) \
  T __weft_own_##f##_##T(T);     \
  PURE T##n __weft_own_##f(T##n x) { return MAP1(n, T, __weft_own_##f##_##T, x); }
#define DEFINE_FORM2(n, V, T, U, f) \
  T __weft_own_##f##_##T(T, U);     \
  PURE T##n __weft_own_##f(T##n x, U##n y) { return MAP2(n, T, __weft_own_##f##_##T, x, y); }
#define FORM1(T, f) WIDTHS(DEFINE_FORM1, T, f)
#define FORM2(T, U, f) WIDTHS(DEFINE_FORM2, T, U, f)

FORM1(float, log1p) FORM1(float, sinh) FORM1(float, cosh) FORM1(float, asinh) FORM1(float, acosh)
FORM1(float, tgamma) FORM1(float, lgamma)
FORM1(double, log1p) FORM1(double, sinh) FORM1(double, cosh) FORM1(double, asinh)
FORM1(double, acosh) FORM1(double, exp)
FORM2(float, float, pow) FORM2(float, float, powr) FORM2(float, int, pown)
FORM2(float, int, rootn)
FORM2(double, double, pow) FORM2(double, double, powr) FORM2(double, int, rootn)
