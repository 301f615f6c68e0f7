// Specification 4.3: partitioning a device. Also cl_ext_device_fission, its predecessor.
#include "api/sub_devices.h"

#include <algorithm>
#include <functional>

#include "api/checks.h"
#include "api/entry.h"
#include "core/ports/processors.h"
#include "partition/affinity.h"
#include "partition/sub_devices.h"

namespace weft::api {
namespace {

// The names of a domain.
struct DomainRow {
  port::Domain domain;
  cl_device_affinity_domain name;
  cl_device_partition_property_ext extension;
};
constexpr DomainRow domain_rows[] = {
    {port::Domain::numa, CL_DEVICE_AFFINITY_DOMAIN_NUMA, CL_AFFINITY_DOMAIN_NUMA_EXT},
    {port::Domain::l4_cache, CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, CL_AFFINITY_DOMAIN_L4_CACHE_EXT},
    {port::Domain::l3_cache, CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, CL_AFFINITY_DOMAIN_L3_CACHE_EXT},
    {port::Domain::l2_cache, CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, CL_AFFINITY_DOMAIN_L2_CACHE_EXT},
    {port::Domain::l1_cache, CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, CL_AFFINITY_DOMAIN_L1_CACHE_EXT},
};
static_assert(std::size(domain_rows) == port::domain_kinds);

// The row whose `member` has this value.
template <auto member, class T>
const DomainRow& domainRow(T value) {
  for (const DomainRow& row : domain_rows)
    if (row.*member == value) return row;
  throw Error(CL_INVALID_VALUE, "no affinity domain");
}

// The sub-devices that properties ask for, and the properties that they answer with.
struct Plan {
  std::vector<port::UnitSet> parts;
  PartitionProperties type;
};

// The list behind a scheme's name, up to `end`.
std::vector<uint64_t> values(const cl_device_partition_property* list,
                             cl_device_partition_property end) {
  std::vector<uint64_t> result;
  // A negative value is a huge one here, and refused as too many or not there.
  for (; *list != end; ++list) result.push_back(static_cast<uint64_t>(*list));
  return result;
}

Plan planEqually(const partition::Divisible& device, const cl_device_partition_property* list) {
  require(list[1] > 0 && list[2] == 0, CL_INVALID_VALUE);
  return {partition::equally(device, static_cast<uint64_t>(list[1])), {list[0], list[1], 0}};
}

Plan planByCounts(const partition::Divisible& device, const cl_device_partition_property* list) {
  // CL_DEVICE_PARTITION_BY_COUNTS_LIST_END is 0, and so is the end of the properties, which some
  // programs leave out.
  const auto counts = values(list + 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
  Plan plan{partition::byCounts(device, counts), {list[0]}};
  plan.type.insert(plan.type.end(), counts.begin(), counts.end());
  plan.type.insert(plan.type.end(), {CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
  return plan;
}

Plan planByAffinity(const partition::Divisible& device, const cl_device_partition_property* list) {
  const auto name = static_cast<cl_device_affinity_domain>(list[1]);
  require(name != 0 && list[2] == 0, CL_INVALID_VALUE);
  // "In the case where the properties argument is CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, the
  // affinity domain used to perform the partition will be returned."
  const port::Domain domain = name == CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE
                                  ? partition::nextDomain(device)
                                  : domainRow<&DomainRow::name>(name).domain;
  const auto used = domainRow<&DomainRow::domain>(domain).name;
  return {partition::byAffinity(device, domain),
          {list[0], static_cast<cl_device_partition_property>(used), 0}};
}

constexpr auto names_end =
    static_cast<cl_device_partition_property>(CL_PARTITION_BY_NAMES_LIST_END_EXT);

Plan planByNames(const partition::Divisible& device, const cl_device_partition_property* list) {
  const auto names = values(list + 1, names_end);
  Plan plan{partition::byNames(device, names), {list[0]}};
  plan.type.insert(plan.type.end(), names.begin(), names.end());
  plan.type.insert(plan.type.end(), {names_end, 0});
  return plan;
}

struct Scheme {
  cl_device_partition_property name;  // 0: only the extension has it
  cl_device_partition_property_ext extension;
  Plan (*plan)(const partition::Divisible& device, const cl_device_partition_property* list);
};
constexpr Scheme schemes[] = {
    {CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_EQUALLY_EXT, planEqually},
    {CL_DEVICE_PARTITION_BY_COUNTS, CL_DEVICE_PARTITION_BY_COUNTS_EXT, planByCounts},
    {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN_EXT,
     planByAffinity},
    {0, CL_DEVICE_PARTITION_BY_NAMES_EXT, planByNames},
};

// Creates the sub-devices, unless the caller only wants to know how many there are.
void createSubDevices(Device& parent, const Plan& plan, cl_uint num_devices,
                      cl_device_id* out_devices, cl_uint* num_devices_ret) {
  require(!out_devices || num_devices >= plan.parts.size(), CL_INVALID_VALUE, "list too short");
  if (num_devices_ret) *num_devices_ret = static_cast<cl_uint>(plan.parts.size());
  if (!out_devices) return;
  std::vector<Ref<Device>> made;
  for (auto& port : parent.port().partition(plan.parts))
    made.push_back(make<Device>(Ref<Device>(&parent), std::move(port), plan.type));
  std::transform(made.begin(), made.end(), out_devices,
                 [](Ref<Device>& device) { return give(std::move(device)); });
}

const Scheme& schemeOf(const cl_device_partition_property* properties) {
  require(properties && properties[0] != 0, CL_INVALID_VALUE, "no partition scheme");
  for (const Scheme& scheme : schemes)
    if (scheme.name == properties[0]) return scheme;
  throw Error(CL_INVALID_VALUE, "no partition scheme");
}

const Scheme& fissionSchemeOf(const cl_device_partition_property_ext* properties) {
  require(properties && properties[0] != CL_PROPERTIES_LIST_END_EXT, CL_INVALID_VALUE,
          "no partition scheme");
  for (const Scheme& scheme : schemes)
    if (scheme.extension == properties[0]) return scheme;
  throw Error(CL_INVALID_VALUE, "no partition scheme");
}

bool isAffinity(const Scheme& scheme) { return scheme.plan == planByAffinity; }

// From one form of the properties to the other: scheme and affinity domain have other names.
PartitionProperties fromFission(const Scheme& scheme,
                                const cl_device_partition_property_ext* properties) {
  const bool by_names = scheme.plan == planByNames;
  const cl_device_partition_property_ext end = by_names ? CL_PARTITION_BY_NAMES_LIST_END_EXT : 0;
  PartitionProperties list{static_cast<cl_device_partition_property>(
      scheme.name ? scheme.name : static_cast<cl_device_partition_property>(scheme.extension))};
  for (++properties; *properties != end; ++properties)
    list.push_back(static_cast<cl_device_partition_property>(*properties));
  list.insert(list.end(), {by_names ? names_end : 0, 0, 0});
  if (!isAffinity(scheme)) return list;
  const auto domain = static_cast<cl_device_partition_property_ext>(list[1]);
  const auto name = domain == CL_AFFINITY_DOMAIN_NEXT_FISSIONABLE_EXT
                        ? CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE
                        : domainRow<&DomainRow::extension>(domain).name;
  list[1] = static_cast<cl_device_partition_property>(name);
  return list;
}

// Does the scheme give the device two parts or more?
bool divides(const Scheme& scheme, const Device& device) {
  if (device.capabilities().max_sub_devices < 2) return false;
  return isAffinity(scheme) ? affinityDomains(device) != 0
                            : !port::partsAreDomains(device.capabilities());
}

// What cl_ext_device_fission calls the same errors.
constexpr std::pair<cl_int, cl_int> fission_codes[] = {
    {CL_DEVICE_PARTITION_FAILED, CL_DEVICE_PARTITION_FAILED_EXT},
    {CL_INVALID_DEVICE_PARTITION_COUNT, CL_INVALID_PARTITION_COUNT_EXT},
};
cl_int fissionCode(cl_int code) {
  for (const auto& [own, extension] : fission_codes)
    if (code == own) return extension;
  return code;
}

}  // namespace

cl_device_affinity_domain affinityDomains(const Device& device) {
  cl_device_affinity_domain domains = 0;
  for (const DomainRow& row : domain_rows)
    if (partition::divides(device.capabilities().units, row.domain)) domains |= row.name;
  return domains ? domains | CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE : 0;
}

PartitionProperties partitionSchemes(const Device& device) {
  // "If the device cannot be partitioned (i.e. there is no partitioning scheme supported by the
  // device that will return at least two sub-devices), a value of 0 will be returned."
  PartitionProperties list;
  for (const Scheme& scheme : schemes)
    if (scheme.name && divides(scheme, device)) list.push_back(scheme.name);
  if (list.empty()) list.push_back(0);
  return list;
}

PartitionProperties partitionType(const Device& device) {
  if (device.isRoot()) return {0};
  return device.partitionType();
}

FissionProperties fissionDomains(const Device& device) {
  FissionProperties list;
  const cl_device_affinity_domain domains = affinityDomains(device);
  for (const DomainRow& row : domain_rows)
    if (domains & row.name) list.push_back(row.extension);
  if (domains) list.push_back(CL_AFFINITY_DOMAIN_NEXT_FISSIONABLE_EXT);
  list.push_back(CL_PROPERTIES_LIST_END_EXT);
  return list;
}

FissionProperties fissionSchemes(const Device& device) {
  FissionProperties list;
  for (const Scheme& scheme : schemes)
    if (divides(scheme, device)) list.push_back(scheme.extension);
  list.push_back(CL_PROPERTIES_LIST_END_EXT);
  return list;
}

FissionProperties fissionStyle(const Device& device) {
  if (device.isRoot()) return {CL_PROPERTIES_LIST_END_EXT};
  const PartitionProperties& type = device.partitionType();
  FissionProperties list(type.begin(), type.end());
  for (const Scheme& scheme : schemes) {
    if (scheme.name != type[0]) continue;
    list[0] = scheme.extension;
    if (isAffinity(scheme)) list[1] = domainRow<&DomainRow::name>(list[1]).extension;
  }
  return list;
}

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clCreateSubDevices(cl_device_id in_device,
                                      const cl_device_partition_property* properties,
                                      cl_uint num_devices, cl_device_id* out_devices,
                                      cl_uint* num_devices_ret) {
  return call([&] {
    Device& parent = toDevice(in_device);
    const auto whole = partition::divisible(parent.capabilities());
    const Plan plan = schemeOf(properties).plan(whole, properties);
    createSubDevices(parent, plan, num_devices, out_devices, num_devices_ret);
  });
}

// "If the device is a root level device, [...] the reference count is not changed."
cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
  return call([&] {
    Device& target = toDevice(device);
    if (!target.isRoot()) target.retainHandle();
  });
}

cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
  return call([&] {
    Device& target = toDevice(device);
    if (!target.isRoot()) target.releaseHandle();
  });
}

cl_int CL_API_CALL clCreateSubDevicesEXT(cl_device_id in_device,
                                         const cl_device_partition_property_ext* properties,
                                         cl_uint num_entries, cl_device_id* out_devices,
                                         cl_uint* num_devices) {
  return fissionCode(call([&] {
    Device& parent = toDevice(in_device);
    const Scheme& scheme = fissionSchemeOf(properties);
    const PartitionProperties list = fromFission(scheme, properties);
    const Plan plan = scheme.plan(partition::divisible(parent.capabilities()), list.data());
    createSubDevices(parent, plan, num_entries, out_devices, num_devices);
  }));
}

cl_int CL_API_CALL clRetainDeviceEXT(cl_device_id device) { return clRetainDevice(device); }

cl_int CL_API_CALL clReleaseDeviceEXT(cl_device_id device) { return clReleaseDevice(device); }
