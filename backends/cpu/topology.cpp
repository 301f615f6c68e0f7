#include "backends/cpu/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/thread_local.h"

namespace weft::cpu {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap emptyBitmap() {
  Bitmap bitmap(hwloc_bitmap_alloc());
  require(bitmap != nullptr, CL_OUT_OF_HOST_MEMORY, "a set of processors");
  return bitmap;
}

std::vector<unsigned> members(const Bitmap& bitmap) {
  std::vector<unsigned> list;
  for (int i = -1; (i = hwloc_bitmap_next(bitmap.get(), i)) >= 0;) list.push_back(unsigned(i));
  return list;
}

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Loaded = std::unique_ptr<hwloc_topology, DestroyTopology>;

template <class Source>
Loaded load(Source&& source) {
  hwloc_topology_t made = nullptr;
  require(hwloc_topology_init(&made) == 0, CL_OUT_OF_HOST_MEMORY, "hwloc_topology_init");
  Loaded topology(made);
  // Devices on buses are other backends' business and slow to list.
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
  require(source(made) == 0 && hwloc_topology_load(made) == 0, CL_DEVICE_NOT_FOUND,
          "hwloc cannot read the machine's topology");
  return topology;
}

constexpr hwloc_obj_type_t cache_types[] = {HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
                                            HWLOC_OBJ_L1CACHE};

// A NUMA node that is the unit's own: of those around it the one with the fewest PUs, and of equal
// ones the first, which is the ordinary memory.
template <class Condition>
hwloc_obj_t nearestNode(hwloc_topology_t topology, unsigned processor, Condition&& suits) {
  hwloc_obj_t nearest = nullptr;
  int fewest = 0;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
    if (!hwloc_bitmap_isset(node->cpuset, processor) || !suits(node)) continue;
    const int weight = hwloc_bitmap_weight(node->cpuset);
    if (nearest && weight >= fewest) continue;
    nearest = node;
    fewest = weight;
  }
  return nearest;
}

bool hasMemory(hwloc_obj_t node) { return node->attr->numanode.local_memory != 0; }

// What a thread would be bound to on a machine that is not this one.
WEFT_THREAD_LOCAL constinit std::optional<unsigned> simulated_binding;

}  // namespace

std::shared_ptr<const Topology> Topology::ofThisProcess() {
  Loaded loaded = load([](hwloc_topology_t) { return 0; });
  return std::shared_ptr<const Topology>(new Topology(loaded.release()));
}

std::shared_ptr<const Topology> Topology::synthetic(const std::string& description) {
  Loaded loaded = load([&](hwloc_topology_t topology) {
    return hwloc_topology_set_synthetic(topology, description.c_str());
  });
  return std::shared_ptr<const Topology>(new Topology(loaded.release()));
}

std::shared_ptr<const Topology> Topology::fromXml(const std::string& xml) {
  Loaded loaded = load([&](hwloc_topology_t topology) {
    return hwloc_topology_set_xmlbuffer(topology, xml.c_str(), int(xml.size() + 1));
  });
  return std::shared_ptr<const Topology>(new Topology(loaded.release()));
}

Topology::Topology(hwloc_topology* loaded)
    : topology_(loaded), described_(!hwloc_topology_is_thissystem(loaded)) {
  try {
    addUnits();
    require(!units_.empty(), CL_DEVICE_NOT_FOUND, "no usable processor");
  } catch (...) {
    hwloc_topology_destroy(topology_);
    throw;
  }
}

Topology::~Topology() { hwloc_topology_destroy(topology_); }

void Topology::addUnits() {
  // hwloc's allowed set knows control groups; the affinity mask of the process comes on top.
  const Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology_)));
  require(usable != nullptr, CL_OUT_OF_HOST_MEMORY, "a set of processors");
  const Bitmap bound = emptyBitmap();
  if (hwloc_get_cpubind(topology_, bound.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
      !hwloc_bitmap_iszero(bound.get()))
    hwloc_bitmap_and(usable.get(), usable.get(), bound.get());
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_PU, pu));)
    if (hwloc_bitmap_isset(usable.get(), pu->os_index)) units_.push_back(describe(pu));
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node));)
    if (hasMemory(node)) ++memory_nodes_;
}

port::ComputeUnit Topology::describe(hwloc_obj* pu) const {
  port::ComputeUnit unit;
  unit.processor = pu->os_index;
  hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_CORE, pu);
  unit.core = (core ? core : pu)->logical_index;
  if (hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, pu))
    unit.package = package->logical_index;
  const auto any = [](hwloc_obj_t) { return true; };
  if (hwloc_obj_t node = nearestNode(topology_, pu->os_index, any))
    unit.domains[size_t(port::Domain::numa)] = node->logical_index;
  for (size_t i = 0; i < std::size(cache_types); ++i)
    if (hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(topology_, cache_types[i], pu))
      unit.domains[size_t(port::Domain::l4_cache) + i] = cache->logical_index;
  const int kind = hwloc_cpukinds_get_by_cpuset(topology_, pu->cpuset, 0);
  int efficiency = -1;
  if (kind >= 0 && hwloc_cpukinds_get_info(topology_, unsigned(kind), nullptr, &efficiency, nullptr,
                                           nullptr, 0) == 0)
    unit.performance = uint32_t(std::max(efficiency, 0));
  return unit;
}

Caches Topology::caches(Units units) const {
  std::optional<uint64_t> l1, l2;
  std::set<hwloc_obj_t> last;
  Caches caches;
  for (const port::ComputeUnit& unit : units) {
    hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology_, unit.processor);
    hwloc_obj_t largest = nullptr;
    for (; object; object = object->parent) {
      if (!hwloc_obj_type_is_dcache(object->type)) continue;
      const auto& cache = object->attr->cache;
      if (cache.size == 0) continue;
      if (cache.linesize) caches.line_bytes = cache.linesize;
      if (object->type == HWLOC_OBJ_L1CACHE) l1 = std::min(l1.value_or(cache.size), cache.size);
      if (object->type == HWLOC_OBJ_L2CACHE) l2 = std::min(l2.value_or(cache.size), cache.size);
      largest = object;
    }
    if (largest) last.insert(largest);
  }
  caches.l1_bytes = l1.value_or(caches.l1_bytes);
  caches.l2_bytes = l2.value_or(caches.l2_bytes);
  if (!last.empty()) caches.last_level_bytes = 0;
  for (hwloc_obj_t cache : last) caches.last_level_bytes += cache->attr->cache.size;
  return caches;
}

NodeSet Topology::nodes(Units units) const {
  std::set<unsigned> found;
  for (const port::ComputeUnit& unit : units)
    if (hwloc_obj_t node = nearestNode(topology_, unit.processor, hasMemory))
      found.insert(node->os_index);
  // None of them near one with memory: all of those are equally far.
  const bool far = found.empty();
  for (hwloc_obj_t node = nullptr;
       far && (node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node));)
    if (hasMemory(node)) found.insert(node->os_index);
  return {found.begin(), found.end()};
}

uint64_t Topology::memoryBytes(const NodeSet& nodes) const {
  uint64_t bytes = 0;
  for (const unsigned index : nodes)
    if (hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topology_, index))
      bytes += node->attr->numanode.local_memory;
  return bytes;
}

bool Topology::bindThread(unsigned processor) const noexcept {
  if (described_) {
    simulated_binding = processor;
    return true;
  }
  const Bitmap set(hwloc_bitmap_alloc());
  return set && hwloc_bitmap_only(set.get(), processor) == 0 &&
         hwloc_set_cpubind(topology_, set.get(), HWLOC_CPUBIND_THREAD) == 0;
}

bool Topology::unbindThread() const noexcept {
  if (described_) {
    simulated_binding.reset();
    return true;
  }
  const Bitmap set(hwloc_bitmap_alloc());
  if (!set) return false;
  for (const port::ComputeUnit& unit : units_)
    if (hwloc_bitmap_set(set.get(), unit.processor) != 0) return false;
  return hwloc_set_cpubind(topology_, set.get(), HWLOC_CPUBIND_THREAD) == 0;
}

std::vector<unsigned> Topology::boundProcessors() const {
  if (described_ && simulated_binding) return {*simulated_binding};
  const Bitmap set = emptyBitmap();
  if (hwloc_get_cpubind(topology_, set.get(), HWLOC_CPUBIND_THREAD) != 0) return {};
  return members(set);
}

bool Topology::placeMemory(void* address, size_t bytes, const NodeSet& nodes) const noexcept {
  const Bitmap set(hwloc_bitmap_alloc());
  if (!set || nodes.empty()) return false;
  for (const unsigned node : nodes)
    if (hwloc_bitmap_set(set.get(), node) != 0) return false;
  const auto policy = nodes.size() > 1 ? HWLOC_MEMBIND_INTERLEAVE : HWLOC_MEMBIND_BIND;
  return hwloc_set_area_membind(topology_, address, bytes, set.get(), policy,
                                HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_MIGRATE) == 0;
}

}  // namespace weft::cpu
