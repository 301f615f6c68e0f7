#include "tools/topology.h"

#include <CL/cl_ext.h>
#include <fmt/core.h>
#include <hwloc.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "api/cl_weft_ext.h"
#include "tools/machine.h"
#include "tools/opencl.h"

namespace weft::tools {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology loadTopology() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) throw std::runtime_error("hwloc does not start");
  Topology topology(made);
  hwloc_topology_set_type_filter(made, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_type_filter(made, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(made) != 0)
    throw std::runtime_error("hwloc cannot read the machine's topology");
  return topology;
}

struct Kind {
  hwloc_obj_type_t type;
  const char* name;
  const char* colour;
};
constexpr Kind kinds[] = {
    {HWLOC_OBJ_MACHINE, "machine", "#ffffff"},
    {HWLOC_OBJ_PACKAGE, "package", "#eef3f8"},
    {HWLOC_OBJ_DIE, "die", "#f4f4ee"},
    {HWLOC_OBJ_GROUP, "group", "#f8f8f8"},
    {HWLOC_OBJ_NUMANODE, "NUMA node", "#e3d9ee"},
    {HWLOC_OBJ_L4CACHE, "L4", "#fdf3dc"},
    {HWLOC_OBJ_L3CACHE, "L3", "#fdf3dc"},
    {HWLOC_OBJ_L2CACHE, "L2", "#fbeac4"},
    {HWLOC_OBJ_L1CACHE, "L1", "#f8dfa8"},
    {HWLOC_OBJ_CORE, "core", "#dcefdc"},
    {HWLOC_OBJ_PU, "PU", "#c3e3c3"},
};

std::string bytesText(uint64_t bytes) {
  constexpr uint64_t kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;
  if (bytes >= gib) return fmt::format("{:.3g} GiB", double(bytes) / double(gib));
  if (bytes >= mib) return fmt::format("{:.4g} MiB", double(bytes) / double(mib));
  return fmt::format("{} KiB", bytes / kib);
}

// The GPUs of a place in the machine: of a NUMA node, where they are next to one.
using Attached = std::map<hwloc_obj_t, std::vector<Box>>;

// Kinds of cores, where there are several: a greater number is a faster kind.
void describeKind(hwloc_topology_t topology, hwloc_obj_t core, Box& box) {
  const int kind = hwloc_cpukinds_get_by_cpuset(topology, core->cpuset, 0);
  int efficiency = -1;
  if (hwloc_cpukinds_get_nr(topology, 0) < 2 || kind < 0 ||
      hwloc_cpukinds_get_info(topology, unsigned(kind), nullptr, &efficiency, nullptr, nullptr,
                              0) != 0 ||
      efficiency < 0)
    return;
  box.title += fmt::format(", class {}", efficiency);
  if (efficiency > 0) box.colour = "#b5d9ec";
}

Box boxOf(hwloc_topology_t topology, hwloc_obj_t object, const Attached& attached) {
  Box box;
  for (const Kind& kind : kinds) {
    if (kind.type != object->type) continue;
    box.title = kind.name;
    box.colour = kind.colour;
  }
  if (box.title.empty()) box.title = hwloc_obj_type_string(object->type);
  if (hwloc_obj_type_is_cache(object->type))
    box.title += " " + bytesText(object->attr->cache.size);
  else if (object->type != HWLOC_OBJ_MACHINE && object->os_index != HWLOC_UNKNOWN_INDEX)
    box.title += fmt::format(" {}", object->os_index);
  if (object->type == HWLOC_OBJ_NUMANODE) {
    const uint64_t bytes = object->attr->numanode.local_memory;
    box.title += bytes ? ", " + bytesText(bytes) : ", no memory";
    box.wide = true;
  }
  if (object->type == HWLOC_OBJ_CORE) describeKind(topology, object, box);
  for (hwloc_obj_t o = object->memory_first_child; o; o = o->next_sibling)
    box.inside.push_back(boxOf(topology, o, attached));
  for (hwloc_obj_t o = object->first_child; o; o = o->next_sibling)
    if (!hwloc_obj_type_is_icache(o->type)) box.inside.push_back(boxOf(topology, o, attached));
  if (const auto gpus = attached.find(object); gpus != attached.end())
    box.inside.insert(box.inside.end(), gpus->second.begin(), gpus->second.end());
  return box;
}

std::string rangesText(const std::vector<cl_uint>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (end - i > 1) text += '-' + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

bool hasExtension(const cl::Device& device, const std::string& name) {
  return (' ' + device.getInfo<CL_DEVICE_EXTENSIONS>() + ' ').find(' ' + name + ' ') !=
         std::string::npos;
}

std::vector<cl_uint> processors(const cl::Device& device) {
  size_t size = 0;
  clGetDeviceInfo(device(), CL_DEVICE_PROCESSORS_WEFT, 0, nullptr, &size);
  std::vector<cl_uint> numbers(size / sizeof(cl_uint));
  clGetDeviceInfo(device(), CL_DEVICE_PROCESSORS_WEFT, size, numbers.data(), nullptr);
  return numbers;
}

struct Domain {
  cl_device_affinity_domain name;
  const char* text;
};
constexpr Domain domains[] = {
    {CL_DEVICE_AFFINITY_DOMAIN_NUMA, "by NUMA node"},
    {CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, "by L4 cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, "by L3 cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, "by L2 cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, "by L1 cache"},
};

DeviceRow rowOf(cl::Device device) {
  DeviceRow row{device.getInfo<CL_DEVICE_NAME>(), {}};
  if (!hasExtension(device, CL_WEFT_PROCESSORS_EXTENSION_NAME)) return row;
  row.title += ": PUs " + rangesText(processors(device));
  const auto supported = device.getInfo<CL_DEVICE_PARTITION_AFFINITY_DOMAIN>();
  for (const Domain& domain : domains) {
    if (!(supported & domain.name)) continue;
    const cl_device_partition_property properties[] = {
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        static_cast<cl_device_partition_property>(domain.name), 0};
    std::vector<cl::Device> parts;
    device.createSubDevices(properties, &parts);
    std::string text = fmt::format("{}: {} sub-devices", domain.text, parts.size());
    for (const cl::Device& part : parts) text += "  " + rangesText(processors(part));
    row.domains.push_back(text);
  }
  return row;
}

// Where a device is on the buses: its place in the tree, and a line about the memory next to it.
void attach(hwloc_topology_t topology, const cl::Device& device, Attached& attached,
            DeviceRow& row) {
  if (!hasExtension(device, "cl_khr_pci_bus_info")) return;
  cl_device_pci_bus_info_khr pci{};
  clGetDeviceInfo(device(), CL_DEVICE_PCI_BUS_INFO_KHR, sizeof pci, &pci, nullptr);
  const std::string bus = fmt::format("PCI {:04x}:{:02x}:{:02x}.{}", pci.pci_domain, pci.pci_bus,
                                      pci.pci_device, pci.pci_function);
  row.title += ": " + bus;
  hwloc_obj_t object = hwloc_get_pcidev_by_busid(topology, pci.pci_domain, pci.pci_bus,
                                                 pci.pci_device, pci.pci_function);
  if (!object) return;
  hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, object);
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
    if (!hwloc_bitmap_isset(place->nodeset, node->os_index)) continue;
    row.domains.push_back(fmt::format("at NUMA node {}", node->os_index));
    if (hwloc_bitmap_weight(place->nodeset) == 1) place = node;
  }
  attached[place].push_back({bus + " " + device.getInfo<CL_DEVICE_NAME>(), "#f6cfc8", {}, true});
}

}  // namespace

int showTopology(const std::string& form) {
  const Topology topology = loadTopology();
  std::vector<cl::Device> devices;
  choosePlatform().getDevices(CL_DEVICE_TYPE_ALL, &devices);
  Attached attached;
  std::vector<DeviceRow> rows;
  for (const cl::Device& device : devices) {
    rows.push_back(rowOf(device));
    attach(topology.get(), device, attached, rows.back());
  }
  const Box machine = boxOf(topology.get(), hwloc_get_root_obj(topology.get()), attached);
  fmt::print("{}", form == "svg" ? asSvg(machine, rows) : asText(machine, rows));
  return 0;
}

}  // namespace weft::tools
