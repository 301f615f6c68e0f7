// Exceptions become codes in one place.
#include "api/entry.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <vector>

namespace weft::api {
namespace {

TEST(Call, TurnsExceptionsIntoCodes) {
  EXPECT_EQ(call([] {}), CL_SUCCESS);
  EXPECT_EQ(call([] { throw Error(CL_INVALID_KERNEL, "why"); }), CL_INVALID_KERNEL);
  EXPECT_EQ(call([] { throw std::bad_alloc(); }), CL_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(call([] { std::vector<int>().reserve(SIZE_MAX); }), CL_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(call([] { throw std::runtime_error("what"); }), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(call([] { throw 7; }), CL_OUT_OF_RESOURCES);
}

TEST(Create, ReturnsAHandleAndACode) {
  int object = 0;
  cl_int code = 1;
  EXPECT_EQ(create(&code, [&] { return &object; }), &object);
  EXPECT_EQ(code, CL_SUCCESS);
  const auto fail = [&]() -> int* { throw Error(CL_INVALID_CONTEXT); };
  EXPECT_EQ(create(&code, fail), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  EXPECT_EQ(create(nullptr, fail), nullptr);
  EXPECT_EQ(create(nullptr, [&] { return &object; }), &object);
}

TEST(Call, RefusesInAForkedChild) {
  in_forked_child = true;
  EXPECT_EQ(call([] { ADD_FAILURE() << "the body ran"; }), CL_OUT_OF_RESOURCES);
  in_forked_child = false;
}

}  // namespace
}  // namespace weft::api
