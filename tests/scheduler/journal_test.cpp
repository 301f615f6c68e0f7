// What is copied of a journal's events, against a device that is nothing but memory.
#include "scheduler/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

namespace weft::test {
namespace {

constexpr uint64_t address = 1 << 20;

class Plain final : public port::Memory {
 public:
  explicit Plain(size_t bytes) : bytes_(bytes, std::byte{0xcd}) {}
  size_t size() const override { return bytes_.size(); }
  std::byte* host() const override { return nullptr; }
  uint64_t deviceAddress() const override { return address; }

  std::byte* at(uint64_t offset) { return bytes_.data() + offset; }

 private:
  std::vector<std::byte> bytes_;
};

class JournalTest : public testing::Test {
 protected:
  // Makes an event that kernels know.
  uint64_t add(bool user = true) {
    DeviceEvent& event = *own_.make();
    event.user = user;
    events_.add(++last_number_, event);
    return last_number_;
  }
  DeviceEvent* own(uint64_t number) { return own_.find(events_.find(number)); }
  void complete(uint64_t number) {
    DeviceEvent& event = *own(number);
    event.state = DeviceEvent::complete;
    event.start = 10, event.end = 15, event.completed = 20;
    events_.complete(event);
  }

  void begin() {
    port::JournalHead head;
    head.round = ++round_;
    copied_ = 0;
    const port::JournalKernel kernel;
    for (const auto part : copy_.begin(memory_, head, {}, {&kernel, 1}, events_)) {
      std::ranges::copy(part, memory_.at(copy_.offsetOf(part)));
      copied_ += part.size();
    }
    copy_.firstPart();
  }
  std::vector<port::JournalEvent> end() {
    const auto fetch = [&](std::span<std::byte> part) {
      std::copy_n(memory_.at(copy_.offsetOf(part)), part.size(), part.begin());
      copied_ += part.size();
    };
    fetch(copy_.firstPart());
    EXPECT_TRUE(copy_.isOwn());
    for (const auto part : copy_.otherParts()) fetch(part);
    return copy_.takeChangedEvents();
  }

  // What kernels do.
  port::JournalHead& head() {
    return *reinterpret_cast<port::JournalHead*>(memory_.at(copy_.offset()));
  }
  std::span<port::JournalEvent> table() {
    auto* const first = reinterpret_cast<port::JournalEvent*>(memory_.at(head().events - address));
    return {first, head().event_count};
  }
  port::JournalEvent* onDevice(uint64_t number) {
    const auto found =
        std::ranges::lower_bound(table(), number, std::greater<>(), &port::JournalEvent::number);
    return found == table().end() || found->number != number ? nullptr : &*found;
  }
  port::JournalEvent& touch(uint64_t number) {
    port::JournalEvent* const event = onDevice(number);
    const size_t page = (&*table().end() - event - 1) / port::journal_page_events;
    head().touched[page / 32] |= 1u << page % 32;
    return *event;
  }

  DeviceEvents own_{SIZE_MAX};
  JournalEvents events_{own_};
  JournalCopy copy_;
  Plain memory_{8 << 20};
  size_t copied_ = 0;  // since begin()
  uint32_t round_ = 0;
  uint64_t last_number_ = 0;
};

TEST_F(JournalTest, CopiesNoMoreForManyEvents) {
  uint64_t highest = 0;
  size_t all = 0;
  for (int i = 0; i < 60000; ++i) {
    add();
    begin();
    EXPECT_TRUE(end().empty());
    highest = std::max(highest, last_number_);
    all += copied_;
  }
  EXPECT_EQ(table().size(), 60000u);
  // The records' part of each round is 32 KiB, and as much again are few events on both ways.
  EXPECT_LT(all / 60000, 40u << 10);
}

TEST_F(JournalTest, TellsOfChangesWhereverTheyAre) {
  for (int i = 0; i < 10000; ++i) add(i % 2 == 0);
  begin();
  end();
  begin();
  touch(1).status = -3;
  touch(5000).profile[1] = 77;
  touch(9999).handles = 4;
  const auto changed = end();
  ASSERT_EQ(changed.size(), 3u);
  EXPECT_EQ(changed[0].number, 1u);
  EXPECT_EQ(changed[0].status, -3);
  EXPECT_EQ(changed[1].number, 5000u);
  EXPECT_EQ(changed[1].profile[1], 77u);
  EXPECT_EQ(changed[2].number, 9999u);
  EXPECT_EQ(changed[2].handles, 4);
  // Once.
  begin();
  touch(2);
  touch(5001);
  touch(10000);
  EXPECT_TRUE(end().empty());
  // The host's news get there, and are none to the host.
  complete(5000);
  begin();
  EXPECT_EQ(onDevice(5000)->profile[0], 5u);
  EXPECT_EQ(onDevice(5000)->profile[1], 10u);
  EXPECT_LT(copied_, 1000u);
  touch(5000);
  EXPECT_TRUE(end().empty());
}

TEST_F(JournalTest, AfterALossAllIsCopied) {
  for (int i = 0; i < 3000; ++i) add();
  begin();
  end();
  std::memset(memory_.at(0), 0xee, memory_.size());
  events_.forget();
  begin();
  ASSERT_EQ(table().size(), 3000u);
  EXPECT_EQ(onDevice(1)->handles, 1);
  EXPECT_EQ(onDevice(3000)->status, port::journal_event_open);
}

// The device has what it should have whatever comes, goes and changes.
class RandomJournalTest : public JournalTest {
 protected:
  struct Model {
    int32_t handles = 1, status = 0;
    bool user = false, done = false;
    bool open() const { return status == port::journal_event_open; }
  };
  using Events = std::map<uint64_t, Model>;

  size_t below(size_t n) { return size_t(random_() % n); }
  Events::iterator pick() { return std::next(model_.begin(), long(below(model_.size()))); }

  void happenOnTheHost(size_t most) {
    for (size_t i = below(most); i > 0; --i) {
      const bool user = below(2) == 0;
      model_[add(user)] = {.status = user ? port::journal_event_open : 0, .user = user};
    }
    for (size_t i = below(10); i > 0 && !model_.empty(); --i)
      if (const auto at = pick(); !at->second.user && !std::exchange(at->second.done, true))
        complete(at->first);
    if (below(20) == 0) events_.forget();
  }
  void expectAllThere() {
    EXPECT_EQ(size_t(head().events_left), port::max_device_events - model_.size());
    for (const auto& [number, event] : model_) {
      const port::JournalEvent* const there = onDevice(number);
      ASSERT_TRUE(there) << number;
      EXPECT_EQ(there->handles, event.handles);
      EXPECT_EQ(there->status == port::journal_event_open, event.open());
      EXPECT_EQ(there->profile[0], event.done ? 5u : 0u);
    }
  }
  // Gives those that kernels had to do with.
  Events happenOnTheDevice() {
    Events touched;
    for (size_t i = below(30); i > 0 && !model_.empty(); --i) {
      auto& [number, event] = *pick();
      port::JournalEvent& there = touch(number);
      const size_t what = below(3);
      if (what == 0 && event.open())
        event.status = there.status = -int(below(3));
      else if (what == 1 && event.handles > 0)
        event.handles = there.handles = int32_t(below(3));
      touched[number] = event;
    }
    return touched;
  }
  void takeOver(const port::JournalEvent& event) {
    DeviceEvent& mine = *own(event.number);
    if (mine.user && event.status <= 0) mine.state = event.status;
    mine.handles = uint32_t(event.handles);
    if (event.handles != 0) return;
    own_.drop(mine);
    model_.erase(event.number);
  }

  std::mt19937 random_{1};
  Events model_;
};

TEST_F(RandomJournalTest, BothSidesKnowTheSame) {
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    happenOnTheHost(round % 7 == 0 ? 200 : 20);
    begin();
    expectAllThere();
    Events touched = happenOnTheDevice();
    for (const port::JournalEvent& event : end()) {
      ASSERT_TRUE(touched.contains(event.number));
      EXPECT_EQ(event.handles, touched[event.number].handles);
      EXPECT_EQ(event.status == port::journal_event_open, touched[event.number].open());
      takeOver(event);
    }
    for (const auto& [number, event] : touched)
      if (model_.contains(number)) {
        EXPECT_EQ(own(number)->handles, uint32_t(event.handles));
      }
  }
}

}  // namespace
}  // namespace weft::test
