// Who uses a range of bytes: what is known without looking at each.
#include "scheduler/range_users.h"

#include <gtest/gtest.h>

#include <deque>

namespace weft::test {
namespace {

constexpr port::MemorySpace here = 1, there = 2;

class RangeUsersTest : public testing::Test {
 protected:
  Claim& add(port::MemorySpace space, bool writes = true, bool transfer = false) {
    Claim& claim = claims.emplace_back();
    claim.space = space;
    claim.transfer = transfer;
    users.add(claim, writes);
    return claim;
  }
  size_t current() const {
    return static_cast<size_t>(std::ranges::count_if(users, &RangeUsers::User::current));
  }

  std::deque<Claim> claims;
  RangeUsers users;
};

TEST_F(RangeUsersTest, AreCommandsOfOneSpaceUntilAnotherComes) {
  EXPECT_TRUE(users.areCommandsOf(here));
  EXPECT_TRUE(users.areCommandsOf(there));
  Claim& first = add(here);
  add(here, false);
  EXPECT_TRUE(users.areCommandsOf(here));
  EXPECT_FALSE(users.areCommandsOf(there));
  const Claim& transfer = add(here, true, true);
  EXPECT_FALSE(users.areCommandsOf(here));
  const Claim& elsewhere = add(there);
  users.remove(transfer);
  EXPECT_FALSE(users.areCommandsOf(here));
  users.remove(elsewhere);
  EXPECT_TRUE(users.areCommandsOf(here));
  users.remove(first);
  EXPECT_TRUE(users.areCommandsOf(here));
  EXPECT_EQ(users.size(), 1u);
}

TEST_F(RangeUsersTest, KnowOfOneThatMoves) {
  add(here);
  Claim& moving = add(here);
  users.add(moving, false);
  moving.space = there;
  users.move(moving);
  EXPECT_FALSE(users.areCommandsOf(here));
  moving.space = here;
  users.move(moving);
  EXPECT_TRUE(users.areCommandsOf(here));
  EXPECT_EQ(users.size(), 3u);
}

TEST_F(RangeUsersTest, OfAnEmptiedRangeAreForgotten) {
  users.remove(add(here));
  EXPECT_TRUE(users.empty());
  add(there);
  EXPECT_TRUE(users.areCommandsOf(there));
  users.removeIf([](const RangeUsers::User&) { return true; });
  Claim& alone = add(here);
  EXPECT_TRUE(users.areCommandsOf(here));
  alone.space = there;
  users.move(alone);
  EXPECT_TRUE(users.areCommandsOf(there));
}

TEST_F(RangeUsersTest, TakeTheSpaceOfThoseWhoAreLeft) {
  const Claim& first = add(there);
  add(here);
  const Claim& transfer = add(here, true, true);
  users.remove(first);
  EXPECT_FALSE(users.areCommandsOf(here));
  users.remove(transfer);
  EXPECT_TRUE(users.areCommandsOf(here));
  EXPECT_FALSE(users.areCommandsOf(there));
}

TEST_F(RangeUsersTest, AreCurrentUntilOverwritten) {
  const Claim &first = add(here), &second = add(here), &reader = add(here, false);
  for (const Claim* each : {&first, &second, &reader}) users.makeCurrent(*each);
  EXPECT_EQ(current(), 2u);
  users.overwrite(second, false);
  EXPECT_EQ(current(), 2u);  // some bytes are still the first one's
  users.overwrite(add(there), false);
  EXPECT_EQ(current(), 0u);
  users.makeCurrent(second);
  users.remove(first);
  users.overwrite(second, true);
  EXPECT_EQ(current(), 0u);
}

}  // namespace
}  // namespace weft::test
