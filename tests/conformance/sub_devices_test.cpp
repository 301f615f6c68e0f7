// clCreateSubDevices.
#include <CL/cl_ext.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/conformance/opencl.h"

namespace weft::conformance {
namespace {

using Properties = std::vector<cl_device_partition_property>;

class SubDevices : public testing::Test {
 protected:
  void SetUp() override {
    units = deviceInfo<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
    if (deviceInfo<cl_uint>(CL_DEVICE_PARTITION_MAX_SUB_DEVICES) < 2)
      GTEST_SKIP() << "the device is not partitioned";
    parts = smallestParts();
  }
  ~SubDevices() override {
    for (const cl_device_id device : made) cl.clReleaseDevice(device);
  }

  cl_int partition(const Properties& properties) {
    cl_uint count = 0;
    const cl_int code = cl.clCreateSubDevices(testDevice(), properties.data(), 0, nullptr, &count);
    if (code) return code;
    std::vector<cl_device_id> devices(count);
    cl_uint returned = 0;
    const cl_int result =
        cl.clCreateSubDevices(testDevice(), properties.data(), count, devices.data(), &returned);
    if (result) return result;
    EXPECT_EQ(returned, count);
    made.insert(made.end(), devices.begin(), devices.end());
    return CL_SUCCESS;
  }
  static cl_uint unitsOf(cl_device_id device) {
    return info<cl_uint>(cl.clGetDeviceInfo, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  }

  cl_uint units = 0;
  Properties parts;
  std::vector<cl_device_id> made;
};

// Of devices that any compute units of can be a part.
class FreeSubDevices : public SubDevices {
 protected:
  void SetUp() override {
    SubDevices::SetUp();
    if (!IsSkipped() && parts[0] != CL_DEVICE_PARTITION_EQUALLY)
      GTEST_SKIP() << "only affinity domains divide the device";
  }
};

TEST_F(FreeSubDevices, Equally) {
  const Properties properties{CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  ASSERT_EQ(partition(properties), CL_SUCCESS);
  EXPECT_EQ(made.size(), units);
  for (const cl_device_id device : made) {
    EXPECT_EQ(unitsOf(device), 1u);
    EXPECT_EQ(info<cl_device_id>(cl.clGetDeviceInfo, device, CL_DEVICE_PARENT_DEVICE),
              testDevice());
    cl_device_partition_property type[3] = {};
    EXPECT_EQ(cl.clGetDeviceInfo(device, CL_DEVICE_PARTITION_TYPE, sizeof type, type, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(Properties(type, type + 3), properties);
  }
}

TEST_F(FreeSubDevices, ByCounts) {
  const auto first = static_cast<cl_device_partition_property>(units - 1);
  ASSERT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, first, 1,
                       CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0}),
            CL_SUCCESS);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(unitsOf(made[0]), units - 1);
  EXPECT_EQ(unitsOf(made[1]), 1u);
}

TEST_F(SubDevices, AreCounted) {
  ASSERT_EQ(partition(parts), CL_SUCCESS);
  const cl_device_id device = made[0];
  const auto count = [&] {
    return info<cl_uint>(cl.clGetDeviceInfo, device, CL_DEVICE_REFERENCE_COUNT);
  };
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(cl.clRetainDevice(device), CL_SUCCESS);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(cl.clReleaseDevice(device), CL_SUCCESS);
  EXPECT_EQ(count(), 1u);
}

TEST_F(SubDevices, MakeAContextOfTheirOwn) {
  ASSERT_EQ(partition(parts), CL_SUCCESS);
  cl_int code = CL_SUCCESS;
  OwnedContext context(cl.clCreateContext(nullptr, 2, made.data(), nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  OwnedQueue queue(cl.clCreateCommandQueue(context, made[1], 0, &code));
  EXPECT_EQ(code, CL_SUCCESS);
  // "CL_INVALID_DEVICE if device [...] is not associated with context": the parent is not.
  OwnedQueue none(cl.clCreateCommandQueue(context, testDevice(), 0, &code));
  EXPECT_EQ(code, CL_INVALID_DEVICE);
}

TEST_F(FreeSubDevices, RefusesBadArguments) {
  const Properties equally{CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_device_id device = nullptr;
  cl_uint count = 0;
  EXPECT_EQ(cl.clCreateSubDevices(nullptr, equally.data(), 0, nullptr, &count), CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clCreateSubDevices(testDevice(), nullptr, 0, nullptr, &count), CL_INVALID_VALUE);
  // "CL_INVALID_VALUE if out_devices is not NULL and num_devices is less than the number of
  // sub-devices created."
  EXPECT_EQ(cl.clCreateSubDevices(testDevice(), equally.data(), 1, &device, &count),
            CL_INVALID_VALUE);
  EXPECT_EQ(partition({0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({0x7777, 1, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, -1, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, 0, 0}), CL_INVALID_VALUE);
}

TEST_F(FreeSubDevices, RefusesMoreThanThereIs) {
  const auto too_many = static_cast<cl_device_partition_property>(units) + 1;
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, too_many, 0}),
            CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, too_many - 1, 0}), CL_DEVICE_PARTITION_FAILED);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, too_many, 0, 0}),
            CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, -1, 0, 0}),
            CL_INVALID_DEVICE_PARTITION_COUNT);
  Properties ones(units + 4, 1);
  ones[0] = CL_DEVICE_PARTITION_BY_COUNTS;
  ones[ones.size() - 2] = ones.back() = 0;
  EXPECT_EQ(partition(ones), CL_INVALID_DEVICE_PARTITION_COUNT);
}

struct Domain {
  cl_device_affinity_domain name;
  cl_device_partition_property_ext extension;
};
constexpr Domain domains[] = {
    {CL_DEVICE_AFFINITY_DOMAIN_NUMA, CL_AFFINITY_DOMAIN_NUMA_EXT},
    {CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, CL_AFFINITY_DOMAIN_L4_CACHE_EXT},
    {CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, CL_AFFINITY_DOMAIN_L3_CACHE_EXT},
    {CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, CL_AFFINITY_DOMAIN_L2_CACHE_EXT},
    {CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, CL_AFFINITY_DOMAIN_L1_CACHE_EXT},
};

Properties byDomain(cl_device_affinity_domain domain) {
  return {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, static_cast<cl_device_partition_property>(domain),
          0};
}

// Each domain that the device says it has divides it, and no other.
TEST_F(SubDevices, ByAffinityDomain) {
  const auto supported = deviceInfo<cl_device_affinity_domain>(CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
  const auto schemes =
      listOf<cl_device_partition_property>(testDevice(), CL_DEVICE_PARTITION_PROPERTIES);
  EXPECT_EQ(std::count(schemes.begin(), schemes.end(), CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN),
            supported ? 1 : 0);
  for (const Domain& domain : domains) {
    made.clear();
    const cl_int code = partition(byDomain(domain.name));
    if (!(supported & domain.name)) {
      EXPECT_EQ(code, CL_INVALID_VALUE);
      continue;
    }
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_GE(made.size(), 2u);
    cl_uint sum = 0;
    for (const cl_device_id device : made) {
      sum += unitsOf(device);
      EXPECT_EQ(listOf<cl_device_partition_property>(device, CL_DEVICE_PARTITION_TYPE),
                byDomain(domain.name));
      cl.clReleaseDevice(device);
    }
    made.clear();
    EXPECT_LE(sum, units);
  }
}

TEST_F(SubDevices, NextPartitionableSaysWhatItUsed) {
  const auto supported = deviceInfo<cl_device_affinity_domain>(CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
  const cl_int code = partition(byDomain(CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE));
  if (!supported) {
    EXPECT_EQ(code, CL_DEVICE_PARTITION_FAILED);
    return;
  }
  ASSERT_EQ(code, CL_SUCCESS);
  for (const Domain& domain : domains) {
    if (!(supported & domain.name)) continue;
    EXPECT_EQ(listOf<cl_device_partition_property>(made[0], CL_DEVICE_PARTITION_TYPE),
              byDomain(domain.name));
    break;
  }
}

TEST_F(SubDevices, RefusesBadDomains) {
  EXPECT_EQ(partition(byDomain(0)), CL_INVALID_VALUE);
  EXPECT_EQ(partition(byDomain(1 << 10)), CL_INVALID_VALUE);
  EXPECT_EQ(
      partition(byDomain(CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE | CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE)),
      CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA, 7}),
            CL_INVALID_VALUE);
}

// "CL_INVALID_VALUE [...] if values specified in properties are valid but not supported by the
// device."
TEST_F(SubDevices, SchemesThatItDoesNotListAreRefused) {
  if (parts[0] == CL_DEVICE_PARTITION_EQUALLY) GTEST_SKIP() << "it lists all";
  EXPECT_EQ(listOf<cl_device_partition_property>(testDevice(), CL_DEVICE_PARTITION_PROPERTIES),
            Properties{CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN});
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, 1, 1, 0, 0}), CL_INVALID_VALUE);
}

TEST_F(SubDevices, OneUnitIsNotDivided) {
  ASSERT_EQ(partition(parts), CL_SUCCESS);
  const cl_device_id one = made[0];
  EXPECT_EQ(info<cl_uint>(cl.clGetDeviceInfo, one, CL_DEVICE_PARTITION_MAX_SUB_DEVICES), 0u);
  EXPECT_EQ(listOf<cl_device_partition_property>(one, CL_DEVICE_PARTITION_PROPERTIES),
            Properties{0});
  cl_uint count = 0;
  for (const cl_device_affinity_domain domain :
       {CL_DEVICE_AFFINITY_DOMAIN_NUMA, CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE}) {
    const Properties properties = byDomain(domain);
    EXPECT_EQ(cl.clCreateSubDevices(one, properties.data(), 0, nullptr, &count),
              CL_DEVICE_PARTITION_FAILED);
  }
}

// cl_ext_device_fission.
class Fission : public FreeSubDevices {
 protected:
  using Fissions = std::vector<cl_device_partition_property_ext>;

  cl_int fission(const Fissions& properties) {
    cl_uint count = 0;
    const cl_int code =
        cl.clCreateSubDevicesEXT(testDevice(), properties.data(), 0, nullptr, &count);
    if (code) return code;
    made.resize(count);
    return cl.clCreateSubDevicesEXT(testDevice(), properties.data(), count, made.data(), nullptr);
  }
};

TEST_F(Fission, ByNames) {
  const Fissions properties{CL_DEVICE_PARTITION_BY_NAMES_EXT, units - 1, 0,
                            CL_PARTITION_BY_NAMES_LIST_END_EXT, CL_PROPERTIES_LIST_END_EXT};
  ASSERT_EQ(fission(properties), CL_SUCCESS);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(unitsOf(made[0]), 2u);
  EXPECT_EQ(info<cl_device_id>(cl.clGetDeviceInfo, made[0], CL_DEVICE_PARENT_DEVICE_EXT),
            testDevice());
  EXPECT_EQ(listOf<cl_device_partition_property_ext>(made[0], CL_DEVICE_PARTITION_STYLE_EXT),
            properties);
  EXPECT_EQ(cl.clRetainDeviceEXT(made[0]), CL_SUCCESS);
  EXPECT_EQ(info<cl_uint>(cl.clGetDeviceInfo, made[0], CL_DEVICE_REFERENCE_COUNT_EXT), 2u);
  EXPECT_EQ(cl.clReleaseDeviceEXT(made[0]), CL_SUCCESS);
}

TEST_F(Fission, HasTheOtherSchemesToo) {
  const Fissions equally{CL_DEVICE_PARTITION_EQUALLY_EXT, 1, CL_PROPERTIES_LIST_END_EXT};
  ASSERT_EQ(fission(equally), CL_SUCCESS);
  EXPECT_EQ(made.size(), units);
  EXPECT_EQ(listOf<cl_device_partition_property_ext>(made[0], CL_DEVICE_PARTITION_STYLE_EXT),
            equally);
  EXPECT_EQ(listOf<cl_device_partition_property>(made[0], CL_DEVICE_PARTITION_TYPE),
            (Properties{CL_DEVICE_PARTITION_EQUALLY, 1, 0}));
  const auto supported = deviceInfo<cl_device_affinity_domain>(CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
  const auto listed =
      listOf<cl_device_partition_property_ext>(testDevice(), CL_DEVICE_AFFINITY_DOMAINS_EXT);
  for (const Domain& domain : domains) {
    const bool there = supported & domain.name;
    EXPECT_EQ(std::count(listed.begin(), listed.end(), domain.extension), there ? 1 : 0);
    if (!there) continue;
    for (const cl_device_id device : made) cl.clReleaseDevice(device);
    made.clear();
    const Fissions properties{CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN_EXT, domain.extension,
                              CL_PROPERTIES_LIST_END_EXT};
    ASSERT_EQ(fission(properties), CL_SUCCESS);
    EXPECT_EQ(listOf<cl_device_partition_property_ext>(made[0], CL_DEVICE_PARTITION_STYLE_EXT),
              properties);
  }
}

TEST_F(Fission, HasErrorsOfItsOwn) {
  EXPECT_EQ(fission({CL_PROPERTIES_LIST_END_EXT}), CL_INVALID_VALUE);
  EXPECT_EQ(fission({CL_DEVICE_PARTITION_EQUALLY_EXT, units, 0}), CL_DEVICE_PARTITION_FAILED_EXT);
  EXPECT_EQ(fission({CL_DEVICE_PARTITION_BY_COUNTS_EXT, units + 1, 0, 0}),
            CL_INVALID_PARTITION_COUNT_EXT);
  EXPECT_EQ(
      fission({CL_DEVICE_PARTITION_BY_NAMES_EXT, units, CL_PARTITION_BY_NAMES_LIST_END_EXT, 0}),
      CL_INVALID_PARTITION_NAME_EXT);
  EXPECT_EQ(
      fission({CL_DEVICE_PARTITION_BY_NAMES_EXT, 0, 0, CL_PARTITION_BY_NAMES_LIST_END_EXT, 0}),
      CL_INVALID_PARTITION_NAME_EXT);
  EXPECT_EQ(cl.clCreateSubDevicesEXT(nullptr, nullptr, 0, nullptr, nullptr), CL_INVALID_DEVICE);
}

}  // namespace
}  // namespace weft::conformance
