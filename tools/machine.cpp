#include "tools/machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

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
constexpr int text_width = 700;  // of the lines below the machine, where that is not wider
// Width to height that is aimed at: of groups of boxes, and of boxes that hold nothing but a title.
constexpr double wanted_shape = 1.6, wanted_shape_of_leaves = 6;

int widthOf(const std::string& text) { return int(text.size()) * letter_width; }

using Figures = std::vector<Figure>;

struct Size {
  int width = 0;
  int height = 0;
};

// In rows of so many, from left to right.
Size inRows(Figures& figures, size_t columns) {
  Size all;
  for (size_t first = 0; first < figures.size(); first += columns) {
    Size row;
    if (all.height) all.height += gap;
    for (size_t i = first; i < std::min(first + columns, figures.size()); ++i) {
      if (row.width) row.width += gap;
      figures[i].x = row.width;
      figures[i].y = all.height;
      row.width += figures[i].width;
      row.height = std::max(row.height, figures[i].height);
    }
    all.width = std::max(all.width, row.width);
    all.height += row.height;
  }
  return all;
}

// The number of columns that comes nearest to the shape wanted, with little room left empty.
size_t bestColumns(Figures& figures) {
  const bool leaves =
      std::all_of(figures.begin(), figures.end(), [](const Figure& f) { return f.inside.empty(); });
  const double wanted = leaves ? wanted_shape_of_leaves : wanted_shape;
  double filled = 0;
  for (const Figure& figure : figures) filled += double(figure.width) * figure.height;
  size_t best = 1;
  double least = 0;
  for (size_t columns = 1; columns <= figures.size(); ++columns) {
    const Size size = inRows(figures, columns);
    const double empty = 1 - filled / (double(size.width) * size.height);
    const double cost = std::abs(std::log(double(size.width) / size.height / wanted)) + 5 * empty;
    if (columns > 1 && cost >= least) continue;
    best = columns;
    least = cost;
  }
  return best;
}

// Boxes of about the same size get the same.
void alignSizes(Figures& figures) {
  int width = 0, height = 0, least = figures.empty() ? 0 : figures[0].width;
  for (const Figure& figure : figures) {
    width = std::max(width, figure.width);
    height = std::max(height, figure.height);
    least = std::min(least, figure.width);
  }
  if (2 * width > 3 * least) return;
  for (Figure& figure : figures) {
    figure.width = width;
    figure.height = height;
  }
}

void move(Figure& figure, int x, int y) {
  figure.x += x;
  figure.y += y;
  for (Figure& inner : figure.inside) move(inner, x, y);
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

void svgOf(const Figure& figure, std::string& out) {
  out += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\" stroke=\"#555\"/>\n",
      figure.x, figure.y, figure.width, figure.height, figure.box->colour);
  svgText(figure.x + gap, figure.y + line_height - 4, figure.box->title, out);
  for (const Figure& inner : figure.inside) svgOf(inner, out);
}

// Lines of at most `letters`, broken at spaces; those after the first are indented.
std::vector<std::string> wrapped(const std::string& text, size_t letters) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > letters) {
    size_t at = rest.rfind(' ', letters);
    if (at == std::string::npos || rest.find_first_not_of(' ') > at) at = rest.find(' ', letters);
    if (at == std::string::npos) break;
    lines.push_back(rest.substr(0, at));
    rest = "    " + rest.substr(std::min(rest.find_first_not_of(' ', at), rest.size()));
  }
  lines.push_back(rest);
  return lines;
}

}  // namespace

namespace {

// The longest title that begins with a word: boxes of a kind have one width, whatever their
// numbers.
using Longest = std::map<std::string, int>;

std::string kindOf(const Box& box) { return box.title.substr(0, box.title.find(' ')); }

void measure(const Box& box, Longest& longest) {
  int& width = longest[kindOf(box)];
  width = std::max(width, widthOf(box.title));
  for (const Box& inner : box.inside) measure(inner, longest);
}

// Below the title: wide ones above each other, then the others in rows.
Figure arrange(const Box& box, const Longest& longest) {
  Figure figure{&box, 0, 0, longest.at(kindOf(box)), line_height, {}};
  Figures wide, others;
  for (const Box& inner : box.inside)
    (inner.wide ? wide : others).push_back(arrange(inner, longest));
  alignSizes(others);
  const Size size = others.empty() ? Size() : inRows(others, bestColumns(others));
  figure.width = std::max(figure.width, size.width);
  for (const Figure& inner : wide) figure.width = std::max(figure.width, inner.width);
  for (Figure& inner : wide) {
    move(inner, gap, figure.height + gap / 2);
    inner.width = figure.width;
    figure.height += inner.height + gap;
    figure.inside.push_back(std::move(inner));
  }
  for (Figure& inner : others) {
    const int x = inner.x + gap, y = inner.y + figure.height + gap / 2;
    inner.x = inner.y = 0;
    move(inner, x, y);
    figure.inside.push_back(std::move(inner));
  }
  if (!others.empty()) figure.height += size.height + gap;
  figure.width += 2 * gap;
  figure.height += gap / 2;
  return figure;
}

}  // namespace

Figure arrange(const Box& box) {
  Longest longest;
  measure(box, longest);
  return arrange(box, longest);
}

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
  Figure figure = arrange(machine);
  move(figure, gap, gap);
  std::string body;
  svgOf(figure, body);
  int width = figure.width;
  const int most = std::max(width, text_width);
  int y = figure.height + 2 * gap;
  const auto lines = [&](int indent, const std::string& text) {
    for (const std::string& line : wrapped(text, size_t((most - indent) / letter_width))) {
      svgText(gap + indent, y += line_height, line, body);
      width = std::max(width, indent + widthOf(line));
    }
  };
  for (const DeviceRow& device : devices) {
    y += gap;
    lines(0, device.title);
    for (const std::string& domain : device.domains) lines(3 * gap, domain);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"monospace\" font-size=\"11\" xml:space=\"preserve\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n{2}</svg>\n",
      width + 2 * gap, y + 2 * gap, body);
}

}  // namespace weft::tools
