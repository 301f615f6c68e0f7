#include "tools/demo/picture.h"

#include <fmt/core.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

// After <cstdio>, which it needs and does not include.
#include <jpeglib.h>

namespace weft::tools::demo {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::string& path, const char* why) {
  throw std::runtime_error(fmt::format("{}: {}", path, why));
}

Picture readPng(const std::string& path, std::FILE* file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_stdio(&image, file)) fail(path, image.message);
  image.format = PNG_FORMAT_RGBA;
  Picture picture{static_cast<int>(image.width), static_cast<int>(image.height), {}};
  picture.pixels.resize(static_cast<size_t>(image.width) * image.height);
  if (!png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr))
    fail(path, image.message);
  return picture;
}

// libjpeg reports errors by a jump, so nothing between here and decodeJpeg has a destructor.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void jumpOnError(j_common_ptr common) {
  auto* errors = reinterpret_cast<JpegErrors*>(common->err);
  errors->manager.format_message(common, errors->message);
  std::longjmp(errors->jump, 1);
}

void ignoreWarning(j_common_ptr, int) {}

bool decodeJpeg(std::FILE* file, JpegErrors& errors, Picture& picture) {
  jpeg_decompress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = jumpOnError;
  errors.manager.emit_message = ignoreWarning;
  if (setjmp(errors.jump)) {
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg_create_decompress(&jpeg);
  jpeg_stdio_src(&jpeg, file);
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_EXT_RGBA;
  jpeg_start_decompress(&jpeg);
  picture.width = static_cast<int>(jpeg.output_width);
  picture.height = static_cast<int>(jpeg.output_height);
  picture.pixels.resize(static_cast<size_t>(picture.width) * picture.height);
  while (jpeg.output_scanline < jpeg.output_height) {
    auto* row = reinterpret_cast<JSAMPLE*>(&picture.at(0, static_cast<int>(jpeg.output_scanline)));
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  return true;
}

Picture readJpeg(const std::string& path, std::FILE* file) {
  Picture picture;
  JpegErrors errors{};
  if (!decodeJpeg(file, errors, picture)) fail(path, errors.message);
  return picture;
}

}  // namespace

Picture readPicture(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail(path, std::strerror(errno));
  unsigned char start[4] = {};
  const size_t got = std::fread(start, 1, sizeof start, file.get());
  if (std::fseek(file.get(), 0, SEEK_SET) != 0) fail(path, std::strerror(errno));
  if (got == sizeof start && std::memcmp(start, "\x89PNG", 4) == 0)
    return readPng(path, file.get());
  if (got == sizeof start && start[0] == 0xff && start[1] == 0xd8)
    return readJpeg(path, file.get());
  fail(path, "neither a PNG nor a JPEG");
}

void writePng(const std::string& path, const Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGBA;
  image.flags = PNG_IMAGE_FLAG_FAST;
  if (!png_image_write_to_file(&image, path.c_str(), 0, picture.pixels.data(), 0, nullptr))
    fail(path, image.message);
}

}  // namespace weft::tools::demo
