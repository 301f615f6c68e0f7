; Upper halves of 64 x 64-bit products: OpenCL C has no 128-bit integers to write them in.
define i64 @__weft_mul_hi_i64(i64 %x, i64 %y) alwaysinline nounwind willreturn memory(none) {
  %a = sext i64 %x to i128
  %b = sext i64 %y to i128
  %p = mul nsw i128 %a, %b
  %h = lshr i128 %p, 64
  %r = trunc i128 %h to i64
  ret i64 %r
}

define i64 @__weft_mul_hi_u64(i64 %x, i64 %y) alwaysinline nounwind willreturn memory(none) {
  %a = zext i64 %x to i128
  %b = zext i64 %y to i128
  %p = mul nuw i128 %a, %b
  %h = lshr i128 %p, 64
  %r = trunc i128 %h to i64
  ret i64 %r
}
