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
};

// A device and the ways in which it can be divided.
struct DeviceRow {
  std::string title;
  std::vector<std::string> domains;
};

std::string asText(const Box& machine, const std::vector<DeviceRow>& devices);
std::string asSvg(const Box& machine, const std::vector<DeviceRow>& devices);

}  // namespace weft::tools
