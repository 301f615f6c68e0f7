// Pictures of machines: nothing overlaps, whatever there is to draw.
#include "tools/machine.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::tools {
namespace {

Box leaf(const std::string& title) { return {title, "#ffffff", {}, false}; }

// Packages of cores of two threads, each package with its memory and, in that, its GPUs.
Box machine(int packages, int cores, int gpus) {
  Box all = leaf("machine");
  for (int p = 0; p < packages; ++p) {
    Box package = leaf("package"), memory = leaf("NUMA node 0, 100 GiB");
    memory.wide = true;
    for (int g = 0; g < gpus; ++g) {
      Box gpu = leaf("PCI 0000:c1:00.0 some GPU with a long name");
      gpu.wide = true;
      memory.inside.push_back(gpu);
    }
    package.inside.push_back(memory);
    for (int c = 0; c < cores; ++c) {
      Box core = leaf("core " + std::to_string(c));
      core.inside = {leaf("PU 0"), leaf("PU 1")};
      package.inside.push_back(core);
    }
    all.inside.push_back(package);
  }
  return all;
}

bool apart(const Figure& a, const Figure& b) {
  return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y ||
         b.y + b.height <= a.y;
}

size_t check(const Figure& figure) {
  constexpr int letter = 7, title = 18;
  EXPECT_GE(figure.width, int(figure.box->title.size()) * letter) << figure.box->title;
  EXPECT_EQ(figure.inside.size(), figure.box->inside.size());
  size_t count = 1;
  for (size_t i = 0; i < figure.inside.size(); ++i) {
    const Figure& inner = figure.inside[i];
    EXPECT_GT(inner.x, figure.x) << inner.box->title;
    EXPECT_GE(inner.y, figure.y + title) << inner.box->title;
    EXPECT_LT(inner.x + inner.width, figure.x + figure.width) << inner.box->title;
    EXPECT_LT(inner.y + inner.height, figure.y + figure.height) << inner.box->title;
    for (size_t k = 0; k < i; ++k) EXPECT_TRUE(apart(inner, figure.inside[k])) << inner.box->title;
    count += check(inner);
  }
  return count;
}

struct Sizes {
  int packages, cores, gpus;
};

TEST(Picture, NothingOverlaps) {
  constexpr Sizes machines[] = {{1, 1, 0}, {1, 2, 0},  {1, 7, 1}, {2, 4, 0},
                                {3, 5, 2}, {2, 64, 4}, {16, 8, 0}};
  for (const Sizes& size : machines) {
    const Box all = machine(size.packages, size.cores, size.gpus);
    const int boxes = 1 + size.packages * (2 + size.gpus + 3 * size.cores);
    EXPECT_EQ(check(arrange(all)), size_t(boxes));
  }
}

TEST(Picture, FitsAScreen) {
  constexpr Sizes machines[] = {{1, 16, 0}, {2, 16, 0}, {2, 64, 0}, {8, 16, 0}};
  for (const Sizes& size : machines) {
    const Box all = machine(size.packages, size.cores, size.gpus);
    const Figure figure = arrange(all);
    EXPECT_LT(figure.width, 4 * figure.height) << size.packages << " x " << size.cores;
    EXPECT_LT(figure.height, 3 * figure.width) << size.packages << " x " << size.cores;
  }
}

// Memory is above what it is for, and as wide.
TEST(Picture, MemoryIsAboveItsCores) {
  const Box all = machine(1, 8, 1);
  const Figure package = arrange(all).inside.at(0);
  const Figure& memory = package.inside.at(0);
  for (size_t i = 1; i < package.inside.size(); ++i)
    EXPECT_GE(package.inside[i].y, memory.y + memory.height);
  EXPECT_GT(memory.width + 20, package.width);
  EXPECT_EQ(memory.inside.at(0).box->title, "PCI 0000:c1:00.0 some GPU with a long name");
}

// Long lists of sub-devices go on in the next line.
TEST(Picture, TextIsWrapped) {
  DeviceRow row{"a <device> & co", {"by L2 cache:"}};
  for (int i = 0; i < 400; ++i) row.domains[0] += "  " + std::to_string(i);
  const std::string svg = asSvg(machine(1, 2, 0), {row});
  EXPECT_NE(svg.find("a &lt;device> &amp; co"), std::string::npos);
  EXPECT_NE(svg.find("  399</text>"), std::string::npos);
  const size_t first = svg.find("by L2 cache:"), end = svg.find("</text>", first);
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(end - first, 110u);
}

}  // namespace
}  // namespace weft::tools
