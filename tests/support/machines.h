// Machines that are not this one, for tests of partitioning.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/cpu/topology.h"

namespace weft::test {

// hwloc's descriptions of regular machines.
inline constexpr const char* one_core = "node:1 core:1 pu:1";
// Two packages, each with two NUMA nodes; 32 PUs, in cores of two that have an L2 each.
inline constexpr const char* two_packages =
    "package:2 node:2(memory=8GB) l3:1(size=16MB) l2:4(size=1MB) l1:1(size=32KB) core:1 pu:2";
inline constexpr const char* pus_256 =
    "package:2 node:4(memory=4GB) l3:2(size=32MB) l2:8(size=1MB) l1:1(size=48KB) core:1 pu:2";
// Only processors: nothing is known of caches or cores.
inline constexpr const char* plain_pus = "node:1 pu:4";

// Irregular machines, object by object in hwloc's XML. `processors` and `nodes` are masks.
class MachineXml {
 public:
  std::string object(const std::string& type, uint64_t processors, uint64_t nodes,
                     const std::string& attributes, const std::string& inside) {
    return "<object type=\"" + type + "\" " + sets("", processors, nodes) +
           sets("complete_", processors, nodes) + attributes + "gp_index=\"" +
           std::to_string(++objects_) + "\">" + inside + "</object>\n";
  }
  std::string processor(unsigned index, uint64_t nodes) {
    return object("PU", uint64_t{1} << index, nodes, index_(index), "");
  }
  std::string core(unsigned index, unsigned first, unsigned threads, uint64_t nodes) {
    std::string inside;
    for (unsigned i = first; i < first + threads; ++i) inside += processor(i, nodes);
    return object("Core", mask(first, threads), nodes, index_(index), inside);
  }
  std::string cache(unsigned level, uint64_t processors, uint64_t nodes, unsigned kilobytes,
                    const std::string& inside) {
    const std::string number = std::to_string(level);
    return object("L" + number + "Cache", processors, nodes,
                  "cache_size=\"" + std::to_string(kilobytes << 10) + "\" depth=\"" + number +
                      "\" cache_linesize=\"64\" cache_associativity=\"0\" cache_type=\"" +
                      (level == 1 ? "1\" " : "0\" "),
                  inside);
  }
  std::string node(unsigned index, uint64_t processors, uint64_t megabytes) {
    return object("NUMANode", processors, uint64_t{1} << index,
                  index_(index) + "local_memory=\"" + std::to_string(megabytes << 20) + "\" ", "");
  }
  std::string group(unsigned index, uint64_t processors, uint64_t nodes,
                    const std::string& inside) {
    return object("Package", processors, nodes, index_(index), inside);
  }
  // `behind` is what stands outside the machine's objects, such as kinds of cores.
  std::string machine(uint64_t processors, uint64_t allowed, uint64_t nodes,
                      const std::string& inside, const std::string& behind = "") {
    return "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
           "<topology version=\"2.0\">\n" +
           object("Machine", processors, nodes,
                  index_(0) + "allowed_cpuset=\"" + hexadecimal(allowed) + "\" allowed_nodeset=\"" +
                      hexadecimal(nodes) + "\" ",
                  inside) +
           behind + "</topology>";
  }
  static std::string kind(uint64_t processors, int efficiency) {
    return "<cpukind cpuset=\"" + hexadecimal(processors) + "\" forced_efficiency=\"" +
           std::to_string(efficiency) + "\"/>";
  }
  static uint64_t mask(unsigned first, unsigned count) {
    return ((uint64_t{1} << count) - 1) << first;
  }

 private:
  static std::string hexadecimal(uint64_t value) {
    char text[20];
    snprintf(text, sizeof text, "0x%08x", unsigned(value));
    return text;
  }
  static std::string index_(unsigned index) {
    return "os_index=\"" + std::to_string(index) + "\" ";
  }
  static std::string sets(const std::string& prefix, uint64_t processors, uint64_t nodes) {
    return prefix + "cpuset=\"" + hexadecimal(processors) + "\" " + prefix + "nodeset=\"" +
           hexadecimal(nodes) + "\" ";
  }

  unsigned objects_ = 0;
};

// Two fast cores of two threads with an L2 each, and four slow ones that share one.
inline std::string hybridMachine() {
  MachineXml xml;
  std::string inside = xml.node(0, 0xff, 8192), cores;
  for (unsigned c = 0; c < 2; ++c)
    cores += xml.cache(2, MachineXml::mask(2 * c, 2), 1, 1280, xml.core(c, 2 * c, 2, 1));
  std::string slow;
  for (unsigned c = 0; c < 4; ++c) slow += xml.core(2 + c, 4 + c, 1, 1);
  cores += xml.cache(2, 0xf0, 1, 2048, slow);
  inside += xml.group(0, 0xff, 1, xml.cache(3, 0xff, 1, 12288, cores));
  return xml.machine(0xff, 0xff, 1, inside, MachineXml::kind(0x0f, 1) + MachineXml::kind(0xf0, 0));
}

// Packages of one, two and four cores, each its own NUMA node; the first one has no L3.
inline std::string asymmetricMachine() {
  MachineXml xml;
  std::string inside;
  unsigned first = 0, core = 0;
  for (unsigned package = 0; package < 3; ++package) {
    const unsigned count = 1u << package;
    const uint64_t mask = MachineXml::mask(first, count), node = uint64_t{1} << package;
    std::string cores;
    for (unsigned i = 0; i < count; ++i, ++core) cores += xml.core(core, first + i, 1, node);
    if (package != 0) cores = xml.cache(3, mask, node, 4096 * package, cores);
    inside += xml.group(package, mask, node, xml.node(package, mask, 1024 * count) + cores);
    first += count;
  }
  return xml.machine(0x7f, 0x7f, 7, inside);
}

// Two packages of two cores; the second one's node has no memory.
inline std::string memorylessMachine() {
  MachineXml xml;
  std::string inside;
  for (unsigned p = 0; p < 2; ++p) {
    const uint64_t mask = MachineXml::mask(2 * p, 2), node = uint64_t{1} << p;
    inside += xml.group(p, mask, node,
                        xml.node(p, mask, p == 0 ? 4096 : 0) + xml.core(2 * p, 2 * p, 1, node) +
                            xml.core(2 * p + 1, 2 * p + 1, 1, node));
  }
  return xml.machine(0xf, 0xf, 3, inside);
}

// Eight cores in two packages, of which a control group may use the third, fourth and fifth.
inline std::string threeAllowed() {
  MachineXml xml;
  std::string inside;
  for (unsigned p = 0; p < 2; ++p) {
    const uint64_t mask = MachineXml::mask(4 * p, 4), node = uint64_t{1} << p;
    std::string cores;
    for (unsigned i = 4 * p; i < 4 * p + 4; ++i) cores += xml.core(i, i, 1, node);
    inside += xml.group(p, mask, node, xml.node(p, mask, 1024) + cores);
  }
  return xml.machine(0xff, 0x1c, 3, inside);
}

}  // namespace weft::test
