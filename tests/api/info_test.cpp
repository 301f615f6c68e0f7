// The rules about sizes and null pointers, which all queries share.
#include "api/info.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace weft::api {
namespace {

struct Thing {
  uint32_t number = 7;
};

uint32_t doubled(Thing& thing) { return thing.number * 2; }

constexpr InfoRow<Thing> rows[] = {
    {1, [](Thing& t) { return t.number; }},
    {2, [](Thing&) { return "text"; }},
    {3, [](Thing&) { return std::vector<uint16_t>{1, 2, 3}; }},
    {4, by<doubled>},
    {5, always<uint64_t{5}>},
    {6, [](Thing&) { return std::vector<uint16_t>(); }},
    {7, [](Thing& t, Answer& answer) { answer.put(t.number + 1); }},
};

class Query : public testing::Test {
 protected:
  // The code of the query; the answer is in `bytes` and `size`.
  cl_int ask(cl_uint token, size_t capacity, bool with_destination = true) {
    std::fill(std::begin(bytes), std::end(bytes), '\xee');
    size = 99;
    try {
      query(rows, thing, token, capacity, with_destination ? bytes : nullptr, &size);
    } catch (const Error& error) {
      return error.code();
    }
    return CL_SUCCESS;
  }
  template <class T>
  T value() const {
    T result;
    std::memcpy(&result, bytes, sizeof result);
    return result;
  }

  Thing thing;
  char bytes[16];
  size_t size = 0;
};

TEST_F(Query, Values) {
  ASSERT_EQ(ask(1, 4), CL_SUCCESS);
  EXPECT_EQ(value<uint32_t>(), 7u);
  EXPECT_EQ(size, 4u);
  ASSERT_EQ(ask(4, 4), CL_SUCCESS);
  EXPECT_EQ(value<uint32_t>(), 14u);
  ASSERT_EQ(ask(5, 16), CL_SUCCESS);
  EXPECT_EQ(value<uint64_t>(), 5u);
  EXPECT_EQ(size, 8u);
  EXPECT_EQ(bytes[8], '\xee');
  ASSERT_EQ(ask(7, 4), CL_SUCCESS);
  EXPECT_EQ(value<uint32_t>(), 8u);
}

TEST_F(Query, StringsEndWithNul) {
  ASSERT_EQ(ask(2, 5), CL_SUCCESS);
  EXPECT_EQ(size, 5u);
  EXPECT_STREQ(bytes, "text");
  EXPECT_EQ(bytes[5], '\xee');
}

TEST_F(Query, Lists) {
  ASSERT_EQ(ask(3, 6), CL_SUCCESS);
  EXPECT_EQ(size, 6u);
  EXPECT_EQ(value<uint16_t>(), 1u);
  ASSERT_EQ(ask(6, 0), CL_SUCCESS);
  EXPECT_EQ(size, 0u);
}

TEST_F(Query, OnlyTheSizeIsWanted) {
  ASSERT_EQ(ask(3, 0, false), CL_SUCCESS);
  EXPECT_EQ(size, 6u);
  // The capacity says nothing without a destination.
  ASSERT_EQ(ask(3, 1, false), CL_SUCCESS);
}

TEST_F(Query, TooSmall) {
  EXPECT_EQ(ask(1, 3), CL_INVALID_VALUE);
  EXPECT_EQ(ask(2, 4), CL_INVALID_VALUE);
  EXPECT_EQ(ask(3, 5), CL_INVALID_VALUE);
  EXPECT_EQ(bytes[0], '\xee');
}

TEST_F(Query, Unknown) { EXPECT_EQ(ask(77, 16), CL_INVALID_VALUE); }

TEST_F(Query, NothingIsWanted) {
  EXPECT_NO_THROW(query(rows, thing, 1, 0, nullptr, nullptr));
  query(rows, thing, 1, 4, bytes, nullptr);
  EXPECT_EQ(value<uint32_t>(), 7u);
}

}  // namespace
}  // namespace weft::api
