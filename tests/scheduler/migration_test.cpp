// Residency: what moves, what does not, and that the bytes are always right.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 4096;

FakeOptions automatic(uint64_t seed, bool peers) {
  FakeOptions options;
  options.manual = false;
  options.seed = seed;
  options.reaches_peers = peers;
  return options;
}

class MigrationTest : public testing::TestWithParam<bool> {
 protected:
  uint64_t bytesIn(size_t device) {
    return statistics(platform.context(), platform.device(device)).bytes_in;
  }
  uint64_t transfersInto(size_t device) {
    return statistics(platform.context(), platform.device(device)).transfers;
  }
  void fill(Queue& queue, Buffer& target, char value, size_t offset, size_t bytes) {
    enqueueFill(queue, target, &value, 1, offset, bytes, {})->wait();
  }
  std::vector<char> read(Queue& queue, Buffer& source) {
    std::vector<char> bytes(source.size());
    EXPECT_EQ(enqueueRead(queue, source, 0, bytes.size(), bytes.data(), {})->wait(), CL_COMPLETE);
    return bytes;
  }

  FakePlatform platform{{automatic(1, GetParam()), automatic(2, GetParam())}};
  Ref<Queue> a = platform.queue(0);
  Ref<Queue> b = platform.queue(1);
  Ref<Buffer> buffer = platform.buffer(size);
};

TEST_P(MigrationTest, OverwritingMovesNothing) {
  fill(*a, *buffer, 1, 0, size);
  fill(*b, *buffer, 2, 0, size);
  EXPECT_EQ(bytesIn(0) + bytesIn(1), 0u);
  EXPECT_EQ(read(*b, *buffer), std::vector<char>(size, 2));
}

TEST_P(MigrationTest, ReadsRunWhereTheBytesAre) {
  fill(*a, *buffer, 1, 0, size);
  EXPECT_EQ(read(*b, *buffer), std::vector<char>(size, 1));
  EXPECT_EQ(bytesIn(1), 0u);
}

TEST_P(MigrationTest, OnlyTheStaleRangeMoves) {
  const auto target = platform.buffer(size);
  fill(*a, *buffer, 1, 0, size);
  enqueueCopy(*b, *buffer, *target, 0, 0, size, {})->wait();
  EXPECT_EQ(bytesIn(1), size);
  fill(*a, *buffer, 3, 100, 50);
  enqueueCopy(*b, *buffer, *target, 0, 0, size, {})->wait();
  EXPECT_EQ(bytesIn(1), size + 50);
  auto expected = std::vector<char>(size, 1);
  std::fill_n(expected.begin() + 100, 50, 3);
  EXPECT_EQ(read(*b, *target), expected);
}

TEST_P(MigrationTest, ReadersShare) {
  const auto on_a = platform.buffer(size), on_b = platform.buffer(size);
  fill(*a, *buffer, 1, 0, size);
  for (int i = 0; i < 4; ++i) {
    enqueueCopy(*a, *buffer, *on_a, 0, 0, size, {})->wait();
    enqueueCopy(*b, *buffer, *on_b, 0, 0, size, {})->wait();
  }
  EXPECT_EQ(bytesIn(0), 0u);
  EXPECT_EQ(bytesIn(1), size);
  EXPECT_EQ(transfersInto(1), 1u);
}

TEST_P(MigrationTest, TwoDevicesHoldTheHalves) {
  fill(*a, *buffer, 1, 0, size / 2);
  fill(*b, *buffer, 2, size / 2, size / 2);
  EXPECT_EQ(bytesIn(0) + bytesIn(1), 0u);
  const auto target = platform.buffer(size);
  enqueueCopy(*a, *buffer, *target, 0, 0, size, {})->wait();
  EXPECT_EQ(bytesIn(0), size / 2);
  auto expected = std::vector<char>(size, 1);
  std::fill(expected.begin() + size / 2, expected.end(), 2);
  EXPECT_EQ(read(*a, *target), expected);
}

TEST_P(MigrationTest, OverlappingSubBuffersAreWindowsOnOneObject) {
  const auto left = make<Buffer>(buffer, CL_MEM_READ_WRITE, 0, 3000);
  const auto right = make<Buffer>(buffer, CL_MEM_READ_WRITE, 1024, size - 1024);
  fill(*a, *left, 1, 0, 3000);
  fill(*b, *right, 2, 0, size - 1024);
  auto expected = std::vector<char>(size, 2);
  std::fill_n(expected.begin(), 1024, 1);
  EXPECT_EQ(read(*a, *buffer), expected);
}

TEST_P(MigrationTest, HostDataArrivesAndMapsSeeDevices) {
  std::vector<char> initial(size, 7);
  const auto copied = platform.buffer(size, CL_MEM_COPY_HOST_PTR, initial.data());
  EXPECT_EQ(read(*b, *copied), initial);
  fill(*b, *copied, 9, 10, 10);
  const Mapped mapped = enqueueMap(*a, *copied, CL_MAP_READ | CL_MAP_WRITE, 0, size, {});
  ASSERT_EQ(mapped.event->wait(), CL_COMPLETE);
  auto* bytes = static_cast<char*>(mapped.pointer);
  EXPECT_EQ(bytes[10], 9);
  EXPECT_EQ(bytes[0], 7);
  bytes[0] = 5;
  enqueueUnmap(*a, *copied, mapped.pointer, {})->wait();
  const auto target = platform.buffer(size);
  enqueueCopy(*b, *copied, *target, 0, 0, size, {})->wait();
  EXPECT_EQ(read(*b, *target)[0], 5);
}

TEST_P(MigrationTest, MigrationMovesAndUndefinedContentDoesNot) {
  MemObject* const objects[] = {buffer.get()};
  fill(*a, *buffer, 1, 0, size);
  enqueueMigrate(*b, objects, 0, {})->wait();
  EXPECT_EQ(bytesIn(1), size);
  enqueueMigrate(*a, objects, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, {})->wait();
  EXPECT_EQ(bytesIn(0), 0u);
}

TEST_P(MigrationTest, FailedTransferFailsItsCommandAndIsTriedAgain) {
  const auto target = platform.buffer(size);
  fill(*a, *buffer, 1, 0, size);
  platform.fake(GetParam() ? 1 : 0).failOperations(1, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(enqueueCopy(*b, *buffer, *target, 0, 0, size, {})->wait(),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(enqueueCopy(*b, *buffer, *target, 0, 0, size, {})->wait(), CL_COMPLETE);
  EXPECT_EQ(read(*b, *target), std::vector<char>(size, 1));
}

// Commands on several queues whose wait lists order just those that conflict must leave what the
// same commands leave when they run one after the other.
class RandomCommands {
 public:
  RandomCommands(FakePlatform& platform, uint64_t seed) : platform_(platform), random_(seed) {
    for (size_t device : {0, 1, 2})
      for (cl_command_queue_properties properties : {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE})
        queues_.push_back(platform.queue(device, properties));
    for (int i = 0; i < 3; ++i) objects_.push_back({platform.buffer(size), Bytes(size), {}});
    for (Object& object : objects_)
      issue({}, {{&object, 0, size}}, [&](Queue& queue, WaitList w) {
        const char zero = 0;
        return enqueueFill(queue, *object.buffer, &zero, 1, 0, size, w);
      });
  }

  void step() {
    Object& from = pick();
    Object& to = pick();
    const size_t bytes = 1 + random_() % 700;
    const size_t source = random_() % (size - bytes), target = random_() % (size - bytes);
    switch (random_() % 5) {
      case 0:
        return fill(to, target, bytes);
      case 1:
        return write(to, target, bytes);
      case 2:
        return read(from, source, bytes);
      case 3:
        return &from != &to ? copy(from, to, source, target, bytes) : fill(to, target, bytes);
      default:
        return map(to, target, bytes);
    }
  }

  void check() {
    for (auto& queue : queues_) queue->finish();
    for (Object& object : objects_) {
      Bytes now(size);
      const auto event = enqueueRead(*queues_[0], *object.buffer, 0, size, now.data(), {});
      ASSERT_EQ(event->wait(), CL_COMPLETE);
      ASSERT_EQ(now, object.expected);
    }
    for (const auto& [seen, expected] : reads_) ASSERT_EQ(*seen, expected);
  }

 private:
  using Bytes = std::vector<char>;
  struct Use {
    size_t begin, end;
    bool writes;
    Ref<Event> event;
  };
  struct Object {
    Ref<Buffer> buffer;
    Bytes expected;
    std::vector<Use> uses;
  };
  struct Range {
    Object* object;
    size_t begin, end;
  };

  Object& pick() { return objects_[random_() % objects_.size()]; }

  template <class Enqueue>
  Ref<Event> issue(std::vector<Range> reads, std::vector<Range> writes, Enqueue enqueue) {
    std::vector<Ref<Event>> waits;
    auto conflicts = [&](const Range& range, bool writing) {
      for (const Use& use : range.object->uses)
        if (use.begin < range.end && range.begin < use.end && (writing || use.writes))
          waits.push_back(use.event);
    };
    for (const Range& range : reads) conflicts(range, false);
    for (const Range& range : writes) conflicts(range, true);
    auto event = enqueue(*queues_[random_() % queues_.size()], WaitList(waits));
    for (const Range& range : reads)
      range.object->uses.push_back({range.begin, range.end, false, event});
    for (const Range& range : writes)
      range.object->uses.push_back({range.begin, range.end, true, event});
    return event;
  }

  void fill(Object& to, size_t at, size_t bytes) {
    const char value = static_cast<char>(random_());
    std::fill_n(to.expected.begin() + at, bytes, value);
    issue({}, {{&to, at, at + bytes}}, [&](Queue& queue, WaitList waits) {
      return enqueueFill(queue, *to.buffer, &value, 1, at, bytes, waits);
    });
  }

  void write(Object& to, size_t at, size_t bytes) {
    auto& data = *kept_.emplace_back(std::make_unique<Bytes>(bytes));
    std::generate(data.begin(), data.end(), [&] { return static_cast<char>(random_()); });
    std::copy(data.begin(), data.end(), to.expected.begin() + at);
    issue({}, {{&to, at, at + bytes}}, [&](Queue& queue, WaitList waits) {
      return enqueueWrite(queue, *to.buffer, at, bytes, data.data(), waits);
    });
  }

  void read(Object& from, size_t at, size_t bytes) {
    auto& data = *kept_.emplace_back(std::make_unique<Bytes>(bytes));
    const auto begin = from.expected.begin() + at;
    reads_.emplace_back(&data, Bytes(begin, begin + bytes));
    issue({{&from, at, at + bytes}}, {}, [&](Queue& queue, WaitList waits) {
      return enqueueRead(queue, *from.buffer, at, bytes, data.data(), waits);
    });
  }

  void copy(Object& from, Object& to, size_t source, size_t target, size_t bytes) {
    const auto begin = from.expected.begin() + source;
    std::copy(begin, begin + bytes, to.expected.begin() + target);
    issue({{&from, source, source + bytes}}, {{&to, target, target + bytes}},
          [&](Queue& queue, WaitList waits) {
            return enqueueCopy(queue, *from.buffer, *to.buffer, source, target, bytes, waits);
          });
  }

  void map(Object& to, size_t at, size_t bytes) {
    const cl_map_flags flags = random_() % 2 ? CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION;
    void* pointer = nullptr;
    issue({}, {{&to, at, at + bytes}}, [&](Queue& queue, WaitList waits) {
      Mapped mapped = enqueueMap(queue, *to.buffer, flags, at, bytes, waits);
      pointer = mapped.pointer;
      return mapped.event;
    })->wait();
    const char value = static_cast<char>(random_());
    std::fill_n(static_cast<char*>(pointer), bytes, value);
    std::fill_n(to.expected.begin() + at, bytes, value);
    issue({}, {{&to, at, at + bytes}}, [&](Queue& queue, WaitList waits) {
      return enqueueUnmap(queue, *to.buffer, pointer, waits);
    });
  }

  FakePlatform& platform_;
  std::mt19937_64 random_;
  std::vector<Ref<Queue>> queues_;
  std::vector<Object> objects_;
  std::vector<std::unique_ptr<Bytes>> kept_;
  std::vector<std::pair<Bytes*, Bytes>> reads_;
};

TEST_P(MigrationTest, RandomCommandsLeaveWhatASerialRunLeaves) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    FakePlatform three{{automatic(seed, GetParam()), automatic(seed + 100, GetParam()),
                        automatic(seed + 200, false)}};
    RandomCommands commands(three, seed);
    for (int i = 0; i < 150; ++i) commands.step();
    commands.check();
    for (size_t device : {0, 1, 2}) EXPECT_EQ(three.fake(device).violations(), 0u);
    if (HasFatalFailure()) return;
  }
}

// Commands of two devices that touch the same objects in opposite order, unordered by the
// application, must not wait for each other.
TEST_P(MigrationTest, OppositeOrdersDoNotDeadlock) {
  const auto x = platform.buffer(size), y = platform.buffer(size);
  fill(*a, *x, 1, 0, size);
  fill(*a, *y, 1, 0, size);
  auto hammer = [&](Queue& queue, Buffer& from, Buffer& to) {
    for (int i = 0; i < 200; ++i) enqueueCopy(queue, from, to, 0, 0, size, {});
  };
  std::thread first([&] { hammer(*a, *x, *y); });
  std::thread second([&] { hammer(*b, *y, *x); });
  first.join();
  second.join();
  a->finish();
  b->finish();
  EXPECT_EQ(read(*a, *x), std::vector<char>(size, 1));
}

INSTANTIATE_TEST_SUITE_P(Links, MigrationTest, testing::Bool(), [](const auto& info) {
  return info.param ? "PeerToPeer" : "ThroughTheHost";
});

}  // namespace
}  // namespace weft::test
