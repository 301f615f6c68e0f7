// Memory, copies and fills against a reference on the host.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>

#include "core/error.h"
#include "tests/backends/hip/hip_test.h"

namespace weft::test {
namespace {

using CopyTest = HipTest;

std::vector<uint32_t> numbers(size_t count, uint32_t first = 1) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_P(CopyTest, DescribesTheDevice) {
  const port::Capabilities& c = device->capabilities();
  EXPECT_FALSE(c.name.empty());
  EXPECT_GE(c.compute_units, 1u);
  EXPECT_GE(c.max_work_group_size, 1024u);
  EXPECT_GE(c.global_memory_bytes, uint64_t(1) << 30);
  EXPECT_GE(c.local_memory_bytes, uint64_t(48) << 10);
  EXPECT_GT(device->freeMemory(), 0u);
  EXPECT_TRUE(device->target().cpu.starts_with("sm_") || device->target().cpu.starts_with("gfx") ||
              device->target().cpu == "host");
  EXPECT_TRUE(device->reaches(port::host_space));
  EXPECT_TRUE(device->reaches(c.memory_space));
  EXPECT_FALSE(device->reaches(c.memory_space + 1000));
}

TEST_P(CopyTest, CopiesOrdinaryMemoryBothWays) {
  // Within the small staging chunk, beyond it, and several of the large ones with a rest.
  for (const size_t count : {size_t(1), size_t(1000), size_t(300'000), size_t(3'000'001)}) {
    const auto values = numbers(count);
    const auto memory = device->allocate(count * 4 + 8, 8);
    write(*memory, values.data(), count * 4, 8);
    std::vector<uint32_t> back(count);
    read(*memory, back.data(), count * 4, 8);
    ASSERT_EQ(back, values) << count;
  }
}

// Submitted at once, so that pieces of several copies are under way, of one stream and of two.
TEST_P(CopyTest, LargeCopiesKeepTheirOrder) {
  constexpr size_t count = 3 << 20, rounds = 3;
  const auto other = device->createStream(port::Order::in_order);
  port::Stream* const streams[] = {stream.get(), other.get()};
  const auto first = numbers(count);
  std::vector<uint32_t> second(first.rbegin(), first.rend());
  std::vector<std::unique_ptr<port::Memory>> memories;
  std::vector<std::vector<uint32_t>> results(2 * rounds, std::vector<uint32_t>(count));
  std::vector<std::unique_ptr<TestOperation>> operations;
  const auto submit = [&](port::Stream& to, const port::Operation::Work& work) {
    operations.push_back(std::make_unique<TestOperation>(work));
    to.submit(*operations.back());
  };
  for (size_t i = 0; i < 2; ++i) memories.push_back(device->allocate(count * 4, 128));
  for (size_t i = 0; i < 2 * rounds; ++i) {
    port::Stream& to = *streams[i % 2];
    submit(to, copyToDevice((i / 2 % 2 ? second : first).data(), *memories[i % 2], count * 4));
    submit(to, copyToHost(*memories[i % 2], results[i].data(), count * 4));
  }
  for (port::Stream* to : streams) to->flush();
  for (auto& operation : operations) {
    ASSERT_TRUE(operation->wait());
    ASSERT_EQ(operation->status, 0);
  }
  for (size_t i = 0; i < 2 * rounds; ++i)
    EXPECT_TRUE(results[i] == (i / 2 % 2 ? second : first)) << i;
}

// Whole pages, as import() wants them for memory that kernels use in place.
class Pages {
 public:
  explicit Pages(size_t bytes) : words_(static_cast<uint32_t*>(std::aligned_alloc(4096, bytes))) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { std::free(words_); }
  uint32_t* words() const { return words_; }

 private:
  uint32_t* words_;
};

TEST_P(CopyTest, PinnedMemoryIsCopiedInPlace) {
  const auto expected = numbers(1 << 18);
  const size_t bytes = expected.size() * 4;
  const Pages pages(bytes);
  const std::span<uint32_t> values(pages.words(), expected.size());
  std::ranges::copy(expected, values.begin());
  const auto host = device->import(values.data(), bytes);
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->host(), reinterpret_cast<std::byte*>(values.data()));
  // A second import of a part shares the registration.
  const auto part = device->import(values.data() + 64, 256);
  ASSERT_NE(part, nullptr);
  const auto memory = device->allocate(bytes, 8);
  write(*memory, values.data(), bytes);
  std::ranges::fill(values, 0u);
  run(*stream, port::Copy{{memory.get()}, {host.get()}, {bytes, 1, 1}});
  EXPECT_TRUE(std::ranges::equal(values, expected));
}

TEST_P(CopyTest, KernelsReachPinnedMemory) {
  const Pages pages(4096);
  const std::span<uint32_t> values(pages.words(), 256);
  std::ranges::fill(values, 41u);
  const auto host = device->import(pages.words(), 4096);
  ASSERT_NE(host, nullptr);
  run(*stream,
      GpuLaunchCase(*module, "add_one", {256, 1, 1}, {64, 1, 1}).memory(host.get()).whole());
  EXPECT_TRUE(std::ranges::all_of(values, [](uint32_t value) { return value == 42; }));
}

struct Box {
  size_t row, slice;
};

// Copies a 3-D region between two layouts and compares every byte with a plain loop.
void checkRegion(
    const std::array<size_t, 3>& region, Box from, Box to,
    const std::function<void(std::vector<std::byte>&, const std::vector<std::byte>&)>& copy) {
  std::vector<std::byte> source(from.slice * region[2] + 64), target(to.slice * region[2] + 64);
  for (size_t i = 0; i < source.size(); ++i) source[i] = std::byte(i * 7 % 251);
  auto expected = target;
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; ++y)
      std::memcpy(&expected[16 + z * to.slice + y * to.row],
                  &source[8 + z * from.slice + y * from.row], region[0]);
  copy(target, source);
  EXPECT_EQ(target, expected) << region[0] << 'x' << region[1] << 'x' << region[2];
}

TEST_P(CopyTest, Rectangles) {
  struct Case {
    std::array<size_t, 3> region;
    Box from, to;
  };
  const Case cases[] = {
      {{20, 5, 1}, {64, 640}, {32, 256}},
      {{20, 5, 3}, {64, 640}, {32, 256}},
      {{20, 5, 3}, {64, 650}, {32, 250}},  // slices that are no whole number of rows
      {{20, 1, 4}, {20, 100}, {20, 60}},
      {{16, 4, 4}, {16, 64}, {16, 64}},
      {{70'000, 90, 2}, {70'016, 6'301'440}, {70'000, 6'300'000}},
  };
  for (const Case& c : cases)
    checkRegion(c.region, c.from, c.to, [&](auto& target, const auto& source) {
      const auto a = device->allocate(source.size(), 8), b = device->allocate(target.size(), 8);
      const auto end = [](port::Memory* memory, std::byte* host, size_t offset, Box box) {
        return port::Location{memory, host, offset, box.row, box.slice};
      };
      auto* const host = const_cast<std::byte*>(source.data());
      write(*b, target.data(), target.size());
      // Host to device, device to device in another layout, device to host.
      run(*stream,
          port::Copy{end(nullptr, host, 8, c.from), end(a.get(), nullptr, 8, c.from), c.region});
      run(*stream,
          port::Copy{end(a.get(), nullptr, 8, c.from), end(b.get(), nullptr, 16, c.to), c.region});
      run(*stream, port::Copy{end(b.get(), nullptr, 16, c.to),
                              end(nullptr, target.data(), 16, c.to), c.region});
    });
}

TEST_P(CopyTest, HostToHostInStreamOrder) {
  const auto values = numbers(5000);
  std::vector<uint32_t> middle(5000), back(5000);
  const auto memory = device->allocate(20'000, 8);
  auto host = [](std::vector<uint32_t>& v) { return reinterpret_cast<std::byte*>(v.data()); };
  TestOperation operations[3];
  operations[0].work = copyToDevice(values.data(), *memory, 20'000);
  operations[1].work = copyToHost(*memory, middle.data(), 20'000);
  operations[2].work = port::Copy{{nullptr, host(middle)}, {nullptr, host(back)}, {20'000, 1, 1}};
  for (auto& operation : operations) stream->submit(operation);
  for (auto& operation : operations) ASSERT_TRUE(operation.wait());
  EXPECT_EQ(back, values);
}

// All of it is in the stream before the first has begun, and each goes through the same words of
// the host's that the one before it wrote.
TEST_P(CopyTest, SmallCopiesKeepTheirOrderOnTheHost) {
  constexpr size_t rounds = 40;
  const auto counter = device->allocate(4, 4), all = device->allocate(rounds * 4, 4);
  const uint32_t zero = 0;
  write(*counter, &zero, 4);
  GpuLaunchCase spin(*module, "spin", {1, 1, 1}, {1, 1, 1});
  spin.value(uint64_t{5'000'000}).memory(counter.get());
  GpuLaunchCase add(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  add.memory(counter.get());
  uint32_t word = 77, copied = 77;
  std::vector<std::unique_ptr<TestOperation>> operations;
  const auto submit = [&](const port::Operation::Work& work) {
    stream->submit(*operations.emplace_back(std::make_unique<TestOperation>(work)));
  };
  submit(spin.whole());
  for (size_t i = 0; i < rounds; ++i) {
    submit(add.whole());
    submit(copyToHost(*counter, &word, 4));
    if (i % 2) {
      submit(copyToDevice(&word, *all, 4, i * 4));
      continue;
    }
    submit(port::Copy{{nullptr, reinterpret_cast<std::byte*>(&word)},
                      {nullptr, reinterpret_cast<std::byte*>(&copied)},
                      {4, 1, 1}});
    submit(copyToDevice(&copied, *all, 4, i * 4));
  }
  for (auto& operation : operations) {
    ASSERT_TRUE(operation->wait());
    ASSERT_EQ(operation->status, 0);
  }
  EXPECT_EQ(contents<uint32_t>(*all, rounds), numbers(rounds, 2));
}

// The runtime takes longer to call the host than for everything else.
TEST_P(CopyTest, SmallCopiesDoNotCallTheHost) {
  hip::Api& api = device->context()->runtime->provider->api;
  static std::atomic<int> calls;
  static decltype(api.launchHostFunc) launch;
  launch = api.launchHostFunc;
  calls = 0;
  api.launchHostFunc = [](hip::StreamHandle on, void (*function)(void*), void* user) {
    ++calls;
    return launch(on, function, user);
  };
  const auto memory = device->allocate(40'000, 4);
  const auto values = numbers(10'000);
  write(*memory, values.data(), 40'000);
  const auto back = contents<uint32_t>(*memory, 10'000);
  EXPECT_EQ(calls, 0);
  api.launchHostFunc = launch;
  EXPECT_EQ(back, values);
}

TEST_P(CopyTest, Fills) {
  constexpr size_t bytes = 700 * 1024;
  const auto memory = device->allocate(bytes, 8);
  for (const size_t pattern : {1, 2, 4, 8, 16, 32, 64, 128}) {
    port::Fill fill;
    fill.memory = memory.get();
    fill.pattern_size = pattern;
    fill.offset = 2 * pattern;
    fill.size = (bytes / pattern - 5) * pattern;
    std::vector<std::byte> repeated(pattern);
    for (size_t i = 0; i < pattern; ++i) repeated[i] = std::byte(i * 3 + pattern);
    fill.pattern = repeated.data();
    std::vector<std::byte> expected(bytes, std::byte(0xee));
    write(*memory, expected.data(), bytes);
    for (size_t i = 0; i < fill.size; ++i) expected[fill.offset + i] = fill.pattern[i % pattern];
    run(*stream, fill);
    ASSERT_EQ(contents<std::byte>(*memory, bytes), expected) << pattern;
  }
}

TEST_P(CopyTest, PeersReachEachOther) {
  if (devices.size() < 2) GTEST_SKIP() << "one device";
  auto& other = *devices[1];
  ASSERT_TRUE(device->reaches(other.capabilities().memory_space));
  const auto values = numbers(1 << 20);
  const size_t bytes = values.size() * 4;
  const auto here = device->allocate(bytes, 8), there = other.allocate(bytes, 8);
  write(*here, values.data(), bytes);
  const auto theirs = other.createInOrderStream({});
  run(*stream, port::Copy{{here.get()}, {there.get()}, {bytes, 1, 1}});
  std::vector<uint32_t> back(values.size());
  run(*theirs, copyToHost(*there, back.data(), bytes));
  EXPECT_EQ(back, values);
}

// Little moves by a kernel where there is one, in words or bytes; either device may move it.
TEST_P(CopyTest, LittleMovesBetweenPeers) {
  if (devices.size() < 2) GTEST_SKIP() << "one device";
  constexpr size_t bytes = size_t(1) << 20;
  auto& other = *devices[1];
  const auto here = device->allocate(bytes, 8), there = other.allocate(bytes, 8);
  const auto theirs = other.createInOrderStream({});
  const auto values = numbers(bytes / 4);
  write(*here, values.data(), bytes);
  auto* const from = reinterpret_cast<const std::byte*>(values.data());
  struct Case {
    size_t source, destination, size;
  };
  for (const auto& [source, destination, size] :
       {Case{0, 0, 4}, Case{4, 8, 8188}, Case{3, 8, 4096}, Case{8, 1, 1023}, Case{12, 4, 262'144},
        Case{1, 3, 262'143}, Case{0, 4, 262'148}})
    for (port::Stream* const mover :
         {static_cast<port::Stream*>(stream.get()), static_cast<port::Stream*>(theirs.get())}) {
      port::Fill zero;
      zero.memory = there.get();
      zero.size = bytes;
      run(*theirs, zero);
      port::Copy copy{{here.get()}, {there.get()}, {size, 1, 1}};
      copy.source.offset = source;
      copy.destination.offset = destination;
      run(*mover, copy);
      std::vector<std::byte> back(bytes), expected(bytes);
      std::copy_n(from + source, size, expected.begin() + std::ptrdiff_t(destination));
      run(*theirs, copyToHost(*there, back.data(), bytes));
      ASSERT_TRUE(back == expected) << size << " from " << source << " to " << destination;
    }
}

TEST_P(CopyTest, MemoryThatWasGivenBackIsTakenAgain) {
  const auto values = numbers(1000);
  auto first = device->allocate(4000, 8);
  const uint64_t address = first->deviceAddress();
  first = nullptr;
  const auto other = device->allocate(40'000, 8);
  EXPECT_NE(other->deviceAddress(), address);
  const auto again = device->allocate(3990, 8);
  EXPECT_EQ(again->deviceAddress(), address);
  EXPECT_EQ(again->size(), 3990u);
  write(*again, values.data(), 3988);
  EXPECT_EQ(contents<uint32_t>(*again, 997),
            std::vector<uint32_t>(values.begin(), values.begin() + 997));
}

TEST_P(CopyTest, TooMuchMemoryIsAnError) {
  try {
    device->allocate(size_t(1) << 46, 8);
    FAIL() << "allocated 64 TiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  }
}

INSTANTIATE_TEST_SUITE_P(Hip, CopyTest, ::testing::Values(Subject::software, Subject::gpu),
                         subjectName);

}  // namespace
}  // namespace weft::test
