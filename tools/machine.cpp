#include "tools/machine.h"

#include <fmt/core.h>

#include <algorithm>

namespace weft::tools {
namespace {

// Boxes that hold one other box each share a line.
void textOf(const Box& box, size_t indent, std::string& out) {
  const Box* last = &box;
  std::string line = box.title;
  while (last->inside.size() == 1) {
    last = &last->inside.front();
    line += " + " + last->title;
  }
  out += std::string(indent, ' ') + line + '\n';
  for (const Box& inner : last->inside) textOf(inner, indent + 2, out);
}

constexpr int gap = 6, line_height = 18, letter_width = 7;

struct Size {
  int width;
  int height;
};

// Side by side, below the box's title; a single one below the other.
Size sizeOf(const Box& box) {
  Size size{int(box.title.size()) * letter_width, line_height};
  int width = 0, height = 0;
  for (const Box& inner : box.inside) {
    const Size part = sizeOf(inner);
    width += part.width + (width ? gap : 0);
    height = std::max(height, part.height);
  }
  if (!box.inside.empty()) size.height += height + gap;
  return {std::max(size.width, width) + 2 * gap, size.height + gap};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

void svgText(int x, int y, const std::string& text, std::string& out) {
  out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x, y, escaped(text));
}

void svgOf(const Box& box, int x, int y, std::string& out) {
  const Size size = sizeOf(box);
  out += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\" stroke=\"#555\"/>\n",
      x, y, size.width, size.height, box.colour);
  svgText(x + gap, y + line_height - 4, box.title, out);
  int at = x + gap;
  for (const Box& inner : box.inside) {
    svgOf(inner, at, y + line_height + gap / 2, out);
    at += sizeOf(inner).width + gap;
  }
}

}  // namespace

std::string asText(const Box& machine, const std::vector<DeviceRow>& devices) {
  std::string out;
  textOf(machine, 0, out);
  for (const DeviceRow& device : devices) {
    out += '\n' + device.title + '\n';
    for (const std::string& domain : device.domains) out += "  " + domain + '\n';
  }
  return out;
}

std::string asSvg(const Box& machine, const std::vector<DeviceRow>& devices) {
  const Size size = sizeOf(machine);
  std::string body;
  svgOf(machine, gap, gap, body);
  int y = size.height + 2 * gap, width = size.width;
  const auto line = [&](int indent, const std::string& text) {
    y += line_height;
    svgText(gap + indent, y, text, body);
    width = std::max(width, indent + int(text.size()) * letter_width);
  };
  for (const DeviceRow& device : devices) {
    y += gap;
    line(0, device.title);
    for (const std::string& domain : device.domains) line(3 * gap, domain);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"monospace\" font-size=\"11\">\n{2}</svg>\n",
      width + 2 * gap, y + 2 * gap, body);
}

}  // namespace weft::tools
