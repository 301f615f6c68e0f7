// OpenCL C 6.15.7, vector data load and store. Pointers need only the alignment of an element.
#include "vector_data.def"

#define ELEMENT_TYPES(F)                                                             \
  F(char) F(uchar) F(short) F(ushort) F(int) F(uint) F(long) F(ulong) F(float) F(double)

ELEMENT_TYPES(DECLARE_UNALIGNED)
ELEMENT_TYPES(DEFINE_LOADS_OF)
ELEMENT_TYPES(DEFINE_STORES_OF)
