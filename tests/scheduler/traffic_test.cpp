// How many bytes move: for each access pattern as many as have to, worked out by hand.
#include <gtest/gtest.h>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 4096;

// What moved to and from each of two devices, and in how many transfers.
struct Traffic {
  uint64_t in_a = 0, out_a = 0, transfers_a = 0;
  uint64_t in_b = 0, out_b = 0, transfers_b = 0;
  bool operator==(const Traffic&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Traffic& t) {
  return out << "a: in " << t.in_a << " (" << t.transfers_a << "), out " << t.out_a << "; b: in "
             << t.in_b << " (" << t.transfers_b << "), out " << t.out_b;
}

FakeOptions device(bool peers) {
  FakeOptions options;
  options.manual = false;
  options.max_delay = std::chrono::microseconds(0);
  options.reaches_peers = peers;
  return options;
}

// What the patterns are made of; every step waits for its end.
class Scene {
 public:
  explicit Scene(bool peers) : platform_({device(peers), device(peers)}) {}

  void fill(Queue& queue, size_t begin, size_t end) {
    const char value = 1;
    done(enqueueFill(queue, *buffer, &value, 1, begin, end - begin, {}));
  }
  // A kernel that may write one object and read another one.
  void kernel(Queue& queue, Buffer* writes, Buffer* reads) {
    const auto kernel = make<Kernel>(program_, "touch");
    const cl_mem handles[] = {writes ? writes->handle() : nullptr,
                              reads ? reads->handle() : nullptr};
    for (const cl_uint i : {0, 1}) kernel->setArgument(i, sizeof handles[i], &handles[i]);
    const size_t global = 1;
    NDRange range;
    range.global = &global;
    done(enqueueLaunch(queue, *kernel, range, {}));
  }
  void read(Queue& queue, size_t begin, size_t end) {
    std::vector<char> host(end - begin);
    done(enqueueRead(queue, *buffer, begin, end - begin, host.data(), {}));
  }
  void map(Queue& queue, cl_map_flags flags, size_t begin, size_t end) {
    const Mapped mapped = enqueueMap(queue, *buffer, flags, begin, end - begin, {});
    done(mapped.event);
    done(enqueueUnmap(queue, *buffer, mapped.pointer, {}));
  }
  void migrate(Queue& queue, cl_mem_migration_flags flags) {
    MemObject* const object = buffer.get();
    done(enqueueMigrate(queue, {&object, 1}, flags, {}));
  }
  // 8 rows of 16 bytes, 64 bytes apart.
  void rows(Queue& queue, Buffer& from, Buffer& to) {
    const RectLayout layout{{0, 0, 0}, 64, 512};
    done(enqueueCopyRect(queue, from, to, layout, layout, {16, 8, 1}, {}));
  }
  Ref<Buffer> part(size_t begin, size_t end) {
    return make<Buffer>(buffer, CL_MEM_READ_WRITE, begin, end - begin);
  }
  Ref<Buffer> fresh(cl_mem_flags flags = 0, void* host = nullptr) {
    return platform_.buffer(size, flags, host);
  }

  Traffic traffic() {
    const auto at = [&](size_t d) { return statistics(platform_.context(), platform_.device(d)); };
    return {at(0).bytes_in, at(0).bytes_out, at(0).transfers,
            at(1).bytes_in, at(1).bytes_out, at(1).transfers};
  }
  FakePlatform& platform() { return platform_; }

 private:
  void done(const Ref<Event>& event) { EXPECT_EQ(event->wait(), CL_COMPLETE); }

  FakePlatform platform_;
  Ref<Program> program_ = platform_.program(
      {{"touch", {pointerArgument(false, true), pointerArgument(true, false)}, [](auto&) {}}});

 public:
  Ref<Queue> a = platform_.queue(0), b = platform_.queue(1);
  Ref<Buffer> buffer = platform_.buffer(size);
  std::vector<char> host = std::vector<char>(size, 1);
};

struct Pattern {
  const char* name;
  void (*run)(Scene& s);
  Traffic
      expected;  // with peers; without, bytes between devices pass the host, which counts nothing
};

void PrintTo(const Pattern& pattern, std::ostream* out) { *out << pattern.name; }

const Pattern patterns[] = {
    {"OverwritingMovesNothing",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.fill(*s.b, 0, size);
       s.fill(*s.a, 0, size);
     },
     {}},
    {"NeverWrittenMovesNothing",
     [](Scene& s) {
       s.kernel(*s.a, nullptr, s.buffer.get());
       s.kernel(*s.b, s.buffer.get(), nullptr);
     },
     {}},
    {"APartlyWritingKernelNeedsTheRest",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.kernel(*s.b, s.buffer.get(), nullptr);
       s.kernel(*s.b, s.buffer.get(), nullptr);
     },
     {0, size, 0, size, 0, 1}},
    {"OverlappingArgumentsMoveOnce",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       const auto head = s.part(0, size / 2), middle = s.part(size / 4, size);
       s.kernel(*s.b, head.get(), middle.get());
       s.fill(*s.a, 0, size);
       s.kernel(*s.b, s.buffer.get(), s.buffer.get());
     },
     {0, 2 * size, 0, 2 * size, 0, 2}},
    {"ReadersShare",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       for (int i = 0; i < 3; ++i) {
         s.kernel(*s.a, nullptr, s.buffer.get());
         s.kernel(*s.b, nullptr, s.buffer.get());
       }
     },
     {0, size, 0, size, 0, 1}},
    {"OnlyTheStaleRangeMovesAndAsOne",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.kernel(*s.b, nullptr, s.buffer.get());
       s.fill(*s.a, 100, 130);
       s.fill(*s.a, 130, 150);
       s.kernel(*s.b, nullptr, s.buffer.get());
     },
     {0, size + 50, 0, size + 50, 0, 2}},
    {"PingPongOfAWrittenBuffer",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.kernel(*s.b, s.buffer.get(), nullptr);
       s.kernel(*s.a, s.buffer.get(), nullptr);
     },
     {size, size, 1, size, size, 1}},
    {"HalvesStayWhereTheyAre",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       const auto left = s.part(0, size / 2), right = s.part(size / 2, size);
       for (int i = 0; i < 3; ++i) {
         s.kernel(*s.a, left.get(), nullptr);
         s.kernel(*s.b, right.get(), nullptr);
       }
     },
     {0, size / 2, 0, size / 2, 0, 1}},
    {"HaloExchange",
     [](Scene& s) {
       const auto left = s.part(0, size / 2), right = s.part(size / 2, size);
       const auto left_halo = s.part(0, size / 2 + 128), right_halo = s.part(size / 2 - 128, size);
       s.fill(*s.a, 0, size / 2);
       s.fill(*s.b, size / 2, size);
       for (int i = 0; i < 2; ++i) {
         s.kernel(*s.a, nullptr, left_halo.get());
         s.kernel(*s.b, nullptr, right_halo.get());
         s.kernel(*s.a, left.get(), nullptr);
         s.kernel(*s.b, right.get(), nullptr);
       }
     },
     {256, 256, 2, 256, 256, 2}},
    {"RowsMoveWithoutTheirGaps",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       const auto to = s.fresh();
       s.rows(*s.b, *s.buffer, *to);
     },
     {0, 8 * 16, 0, 8 * 16, 0, 8}},
    {"OverwrittenRowsMoveNothing",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       const auto from = s.fresh();
       s.rows(*s.b, *from, *s.buffer);
     },
     {}},
    {"ReadsRunWhereTheBytesAre",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.read(*s.b, 0, size);
       s.read(*s.a, 10, 20);
     },
     {}},
    {"InitialisedBuffersMoveOnce",
     [](Scene& s) {
       const auto copied = s.fresh(CL_MEM_COPY_HOST_PTR, s.host.data());
       const auto used = s.fresh(CL_MEM_USE_HOST_PTR, s.host.data());
       for (int i = 0; i < 2; ++i) {
         s.kernel(*s.a, copied.get(), nullptr);
         s.kernel(*s.a, nullptr, used.get());
       }
     },
     {2 * size, 0, 2, 0, 0, 0}},
    {"MapsMoveTheirRegion",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.map(*s.a, CL_MAP_READ, 0, 64);
       s.map(*s.b, CL_MAP_READ, 32, 64);
       s.kernel(*s.a, nullptr, s.buffer.get());
       s.map(*s.a, CL_MAP_WRITE, 128, 160);
       s.kernel(*s.a, nullptr, s.buffer.get());
     },
     {32, 64 + 32, 1, 0, 0, 0}},
    {"InvalidatingMapsMoveNothingToTheHost",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.map(*s.a, CL_MAP_WRITE_INVALIDATE_REGION, 0, 64);
       s.kernel(*s.a, nullptr, s.buffer.get());
     },
     {64, 0, 1, 0, 0, 0}},
    {"MigrationIsAMoveAheadOfUse",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.migrate(*s.b, 0);
       s.kernel(*s.b, nullptr, s.buffer.get());
       s.kernel(*s.a, nullptr, s.buffer.get());
     },
     {0, size, 0, size, 0, 1}},
    {"MigrationToTheHostKeepsTheDevicesCopy",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.migrate(*s.a, CL_MIGRATE_MEM_OBJECT_HOST);
       s.kernel(*s.a, nullptr, s.buffer.get());
       s.map(*s.a, CL_MAP_READ, 0, size);
     },
     {0, size, 0, 0, 0, 0}},
    {"UndefinedContentsMoveNothing",
     [](Scene& s) {
       s.fill(*s.a, 0, size);
       s.migrate(*s.b, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
       s.kernel(*s.b, s.buffer.get(), nullptr);
     },
     {}},
};

class TrafficTest : public testing::TestWithParam<std::tuple<Pattern, bool>> {};

TEST_P(TrafficTest, IsTheLeast) {
  const auto& [pattern, peers] = GetParam();
  Scene scene(peers);
  pattern.run(scene);
  EXPECT_EQ(scene.traffic(), pattern.expected);
  EXPECT_EQ(scene.platform().fake(0).violations() + scene.platform().fake(1).violations(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Patterns, TrafficTest,
                         testing::Combine(testing::ValuesIn(patterns), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "PeerToPeer" : "ThroughTheHost");
                         });

TEST(StatisticsTest, TransfersAreNotCommands) {
  Scene scene(false);
  scene.fill(*scene.a, 0, size);
  scene.kernel(*scene.b, scene.buffer.get(), nullptr);
  const auto at = [&](size_t d) {
    return statistics(scene.platform().context(), scene.platform().device(d)).commands;
  };
  EXPECT_EQ(at(0), 1u);
  EXPECT_EQ(at(1), 1u);
}

}  // namespace
}  // namespace weft::test
