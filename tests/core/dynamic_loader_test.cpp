#include "core/dynamic_loader.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(DynamicLoaderTest, WhatIsMissingLeavesNoError) {
  void* const self = dlopen(nullptr, RTLD_NOW);
  EXPECT_NE(findSymbol(self, "malloc"), nullptr);
  EXPECT_EQ(findSymbol(self, "weft_no_such_symbol"), nullptr);
  EXPECT_EQ(dlerror(), nullptr);
  dlclose(self);
}

TEST(DynamicLoaderTest, ErrorsAreTakenOnce) {
  EXPECT_EQ(dlopen("/nonexistent/library.so", RTLD_NOW), nullptr);
  EXPECT_NE(takeLoaderError().find("/nonexistent/library.so"), std::string::npos);
  EXPECT_EQ(takeLoaderError(), "");
}

}  // namespace
}  // namespace weft
