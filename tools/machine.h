// What there is to draw of a machine and its devices, and the two ways to draw it.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

// An object of the machine with what is in it: a package, a cache, a processor, a GPU.
struct Box {
  std::string title;
  const char* colour = "#ffffff";
  std::vector<Box> inside;
  bool wide = false;  // memory: as wide as what it is for, and above it
};

// A device and the ways in which it can be divided.
struct DeviceRow {
  std::string title;
  std::vector<std::string> domains;
};

// A box with its place in a picture, in pixels. Those in it lie within, apart from each other.
struct Figure {
  const Box* box = nullptr;
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  std::vector<Figure> inside;
};

// About as wide as screens are, whatever the number of boxes. `box` has to outlive the figure.
Figure arrange(const Box& box);

std::string asText(const Box& machine, const std::vector<DeviceRow>& devices);
std::string asSvg(const Box& machine, const std::vector<DeviceRow>& devices);

}  // namespace weft::tools
