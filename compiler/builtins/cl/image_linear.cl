// OpenCL 8.2, linear filtering: the weighted mean of the 2, 4 or 8 texels around a coordinate.
#include "image_sample.def"

OVERLOAD float4 weft_read_linear(Image image, uint index, uint sampler, float4 at,
                                 int dimensions, bool layered) {
  const Level level = levelOf(image, index);
  const Axis none = {0, 0, 1.0f, 1.0f};
  const Axis x = around(at.x, sampler, level.width);
  const Axis y = dimensions > 1 ? around(at.y, sampler, level.height) : none;
  const Axis z = dimensions > 2 ? around(at.z, sampler, level.depth) : none;
  const int layer = layered ? layerAt(at.z, level.array_size) : 0;
  float4 sum = 0.0f;
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    const int a = corner & 1, b = corner >> 1 & 1, c = corner >> 2;
    const int4 texel = {texelOf(x, a), texelOf(y, b), layered ? layer : texelOf(z, c), 0};
    sum += weightOf(x, a) * weightOf(y, b) * weightOf(z, c) *
           fetchFloat(image, level, texel, dimensions, layered);
  }
  return sum;
}
