// Pictures in memory and in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::tools::demo {

struct Pixel {
  uint8_t red = 0, green = 0, blue = 0, alpha = 255;
  bool operator==(const Pixel&) const = default;
};
static_assert(sizeof(Pixel) == 4);

struct Picture {
  int width = 0, height = 0;
  std::vector<Pixel> pixels;  // rows from the top

  size_t count() const { return pixels.size(); }
  Pixel& at(int x, int y) { return pixels[static_cast<size_t>(y) * width + x]; }
};

// A PNG or a JPEG, told apart by their first bytes. Throws std::runtime_error when it cannot be
// read.
Picture readPicture(const std::string& path);
// Throws std::runtime_error when it cannot be written.
void writePng(const std::string& path, const Picture& picture);

}  // namespace weft::tools::demo
