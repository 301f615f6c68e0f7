#include "core/spirv_features.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft {
namespace {

constexpr uint32_t matrix = 0, shader = 1, kernel = 6, float64 = 10, pipes = 17, uniform = 71,
                   group_arithmetic = 6400;

TEST(SpirvFeatures, ModulesMayDeclareWhatTheDeviceHas) {
  port::LanguageFeatures features;
  features.fp64 = false;
  for (const uint32_t always : {matrix, kernel, uniform})
    EXPECT_TRUE(takesSpirvCapability(features, always)) << always;
  for (const uint32_t never : {shader, float64, pipes, group_arithmetic, 12345u})
    EXPECT_FALSE(takesSpirvCapability(features, never)) << never;
  features.fp64 = true;
  features.feature_macros = {"__opencl_c_pipes"};
  features.extensions = {"cl_khr_work_group_uniform_arithmetic"};
  for (const uint32_t now : {float64, pipes, group_arithmetic})
    EXPECT_TRUE(takesSpirvCapability(features, now)) << now;
  EXPECT_FALSE(takesSpirvCapability(features, shader));
}

// "Matrix" is implied by what OpenCL has, and nothing to list.
TEST(SpirvFeatures, WhatIsListedIsTaken) {
  port::LanguageFeatures features;
  features.extensions = {"cl_khr_work_group_uniform_arithmetic"};
  const auto listed = spirvCapabilities(features);
  for (const uint32_t capability : listed)
    EXPECT_TRUE(takesSpirvCapability(features, capability)) << capability;
  EXPECT_EQ(std::count(listed.begin(), listed.end(), group_arithmetic), 1);
  EXPECT_EQ(std::count(listed.begin(), listed.end(), pipes), 0);
  const auto names = spirvExtensions(features);
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "SPV_KHR_uniform_group_instructions";
  }));
}

}  // namespace
}  // namespace weft
