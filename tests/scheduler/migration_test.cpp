// Residency: what moves, what does not, and that the bytes are always right.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "scheduler/residency.h"
#include "scheduler/state.h"
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

// While one half of an image is mapped for writing, a device writes the other.
TEST_P(MigrationTest, AMappedBoxLeavesWhatIsBesideIt) {
  for (const cl_map_flags flags : {CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION})
    for (const size_t height : {4, 100}) {  // few rows, and many
      constexpr size_t row = 16;
      const ImageShape shape{CL_MEM_OBJECT_IMAGE2D, row, height, 1, 1, row, row * height};
      std::vector<char> expected(row * height, 3);
      std::vector<char> result(expected.size());
      const auto image = make<PixelImage>(Ref<Context>(&platform.context()), CL_MEM_COPY_HOST_PTR,
                                          *findImageFormat({CL_R, CL_UNSIGNED_INT8}), shape,
                                          expected.data(), std::vector<cl_mem_properties>{});
      const RectLayout left{{0, 0, 0}, row, row * height};
      const RectLayout right{{row / 2, 0, 0}, row, row * height};
      const Region half{row / 2, height, 1};
      const Mapped mapped = enqueueMapRect(*a, *image, flags, left, half, {});
      ASSERT_EQ(mapped.event->wait(), CL_COMPLETE);
      const char seven = 7;
      enqueueFillRect(*b, *image, &seven, 1, right, half, {})->wait();
      for (size_t y = 0; y < height; ++y) {
        std::fill_n(static_cast<char*>(mapped.pointer) + y * row, row / 2, 5);
        std::fill_n(expected.begin() + y * row, row / 2, 5);
        std::fill_n(expected.begin() + y * row + row / 2, row / 2, 7);
      }
      ASSERT_EQ(enqueueUnmap(*a, *image, mapped.pointer, {})->wait(), CL_COMPLETE);
      const Region all{row, height, 1};
      enqueueReadRect(*a, *image, left, left, all, result.data(), {})->wait();
      EXPECT_EQ(result, expected) << height;
    }
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

// Two devices write every other byte: no neighbours say the same, and none may be forgotten.
TEST_P(MigrationTest, AFineMapCoarsensAndKeepsEveryByte) {
  const auto intervals = [&] {
    const auto held = State::of(platform.context()).tickets().lock();
    return Residency::of(*buffer).intervals().size();
  };
  size_t most = 0;
  std::vector<char> expected(size);
  for (size_t i = 0; i < size; ++i) {
    expected[i] = static_cast<char>(i);
    fill(i % 2 ? *b : *a, *buffer, expected[i], i, 1);
    most = std::max(most, intervals());
  }
  EXPECT_LE(most, Residency::interval_limit + 8);
  EXPECT_EQ(read(*a, *buffer), expected);
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
