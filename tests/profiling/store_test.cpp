#include "profiling/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

namespace weft::profiling {
namespace {

namespace fs = std::filesystem;

const KernelKey kernel{"0123456789abcdef saxpy", "-cl-fast-relaxed-math", "64x1x1"};
const DeviceKey cpu{"c0ffee", "1"};
const DeviceKey gpu{"beef", "580.1"};

class PerformanceStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weft-store-XXXXXX";
    ASSERT_TRUE(mkdtemp(name));
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  PerformanceStore open() {
    return PerformanceStore(folder_, [this] { return now_; });
  }
  std::string file() { return open().file(); }

  std::string folder_;
  int64_t now_ = 1'700'000'000;
};

TEST_F(PerformanceStoreTest, RemembersBetweenRuns) {
  {
    PerformanceStore store = open();
    store.recordKernel(kernel, cpu, 1000, 5000);
    store.recordKernel(kernel, gpu, 1000, 500);
    store.recordTransfer({"host", gpu.uuid, gpu.driver}, 1 << 20, 100'000);
    EXPECT_EQ(store.pending(), 3u);
    EXPECT_TRUE(store.flush());
    EXPECT_EQ(store.pending(), 0u);
  }
  PerformanceStore store = open();
  EXPECT_DOUBLE_EQ(store.kernelTime(kernel, cpu, 2000)->nanoseconds, 10000);
  EXPECT_DOUBLE_EQ(store.kernelTime(kernel, gpu, 2000)->nanoseconds, 1000);
  EXPECT_DOUBLE_EQ(store.transferTime({"host", gpu.uuid, gpu.driver}, 1 << 21)->nanoseconds,
                   200'000);
  EXPECT_FALSE(store.transferTime({gpu.uuid, "host", gpu.driver}, 1 << 21));
  // Another driver, other options, another local size: another kernel.
  EXPECT_FALSE(store.kernelTime(kernel, {gpu.uuid, "580.2"}, 1000));
  EXPECT_FALSE(store.kernelTime({kernel.code, "", kernel.local}, gpu, 1000));
  EXPECT_FALSE(store.kernelTime({kernel.code, kernel.options, "32x1x1"}, gpu, 1000));
}

TEST_F(PerformanceStoreTest, ALinkKnowsWhatTheFileSaidAndWhatCameSince) {
  const LinkKey key{"host", gpu.uuid, gpu.driver};
  {
    PerformanceStore store = open();
    store.recordTransfer(key, 1 << 20, 100'000);
    EXPECT_TRUE(store.flush());
  }
  PerformanceStore store = open();
  const PerformanceStore::Link link = store.link(key);
  EXPECT_FALSE(store.transferTime(store.link({"host", cpu.uuid, cpu.driver}), 1 << 20));
  EXPECT_DOUBLE_EQ(store.transferTime(link, 1 << 20)->nanoseconds, 100'000);
  store.recordTransfer(key, 1 << 20, 300'000);
  EXPECT_DOUBLE_EQ(store.transferTime(link, 1 << 20)->nanoseconds, 200'000);
  EXPECT_DOUBLE_EQ(store.transferTime(key, 1 << 20)->nanoseconds, 200'000);
}

// After that nobody looks at the file again.
TEST_F(PerformanceStoreTest, ReadsAhead) {
  const LinkKey key{"host", gpu.uuid, gpu.driver};
  {
    PerformanceStore store = open();
    store.recordKernel(kernel, cpu, 1000, 5000);
    store.recordTransfer(key, 1 << 20, 100'000);
    EXPECT_TRUE(store.flush());
  }
  PerformanceStore store = open();
  store.recordTransfer(key, 1 << 20, 300'000);
  store.recordKernel(kernel, gpu, 1000, 500);
  store.readAhead();
  fs::remove(store.file());
  store.readAhead();
  EXPECT_DOUBLE_EQ(store.kernelTime(kernel, cpu, 2000)->nanoseconds, 10000);
  EXPECT_DOUBLE_EQ(store.kernelTime(kernel, gpu, 2000)->nanoseconds, 1000);
  EXPECT_DOUBLE_EQ(store.transferTime(key, 1 << 20)->nanoseconds, 200'000);
  EXPECT_FALSE(store.kernelTime(kernel, {gpu.uuid, "580.2"}, 1000));
  EXPECT_FALSE(fs::exists(store.file()));
  store.recordTransfer({gpu.uuid, "host", gpu.driver}, 1 << 20, 50'000);
  EXPECT_DOUBLE_EQ(store.transferTime({gpu.uuid, "host", gpu.driver}, 1 << 20)->nanoseconds,
                   50'000);
}

TEST_F(PerformanceStoreTest, KnowsWhatIsNotWrittenYet) {
  PerformanceStore store = open();
  EXPECT_FALSE(store.kernelTime(kernel, cpu, 1000));
  store.recordKernel(kernel, cpu, 1000, 5000);
  EXPECT_DOUBLE_EQ(store.kernelTime(kernel, cpu, 1000)->nanoseconds, 5000);
  EXPECT_EQ(open().contents().kernels.size(), 0u);
}

TEST_F(PerformanceStoreTest, FileAndMemoryAgree) {
  PerformanceStore kept = open(), memory("");
  for (int i = 1; i <= 50; ++i) {
    kept.recordKernel(kernel, cpu, 1000, 1000 * i);
    memory.recordKernel(kernel, cpu, 1000, 1000 * i);
    if (i % 7 == 0) {
      ASSERT_TRUE(kept.flush());
    }
  }
  ASSERT_TRUE(kept.flush());
  const Contents contents = open().contents();
  ASSERT_EQ(contents.kernels.size(), 1u);
  EXPECT_EQ(contents.kernels[0].kernel, kernel);
  EXPECT_EQ(contents.kernels[0].device, cpu);
  EXPECT_EQ(contents.kernels[0].samples.count, 50u);
  const Prediction before = *memory.kernelTime(kernel, cpu, 1000);
  const Prediction after = *open().kernelTime(kernel, cpu, 1000);
  // Batches are weighed as batches.
  EXPECT_NEAR(after.nanoseconds, before.nanoseconds, before.nanoseconds / 10);
  EXPECT_NEAR(after.spread, before.spread, 0.1);
}

TEST_F(PerformanceStoreTest, SeveralProcessesAddUp) {
  constexpr int processes = 4, threads = 2, rounds = 20;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      PerformanceStore store = open();
      const auto work = [&] {
        for (int round = 0; round < rounds; ++round) {
          store.recordKernel(kernel, cpu, 1000, 5000);
          store.flush();
        }
      };
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t) all.emplace_back(work);
      for (std::thread& thread : all) thread.join();
      for (int attempt = 0; attempt < 6000 && !store.flush(); ++attempt) usleep(10'000);
      _exit(store.pending() == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const Contents contents = open().contents();
  ASSERT_EQ(contents.kernels.size(), 1u);
  EXPECT_EQ(contents.kernels[0].samples.count, uint64_t{processes * threads * rounds});
  EXPECT_DOUBLE_EQ(contents.kernels[0].samples.rate, 5);
}

// Whatever the file holds: it is replaced, and works from then on.
TEST_F(PerformanceStoreTest, ReplacesWhatIsDamaged) {
  const auto healthy = [&] {
    PerformanceStore store = open();
    for (int i = 0; i < 200; ++i)
      store.recordKernel({std::to_string(i), "", "1x1x1"}, cpu, 1000, 5000);
    EXPECT_TRUE(store.flush());
    std::ifstream in(store.file(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string good = healthy();
  ASSERT_GT(good.size(), 8192u);
  std::vector<std::string> bad{
      "this is no database, but it is longer than a header of one would be: "
      "a hundred bytes at least, or SQLite takes it for an empty one"};
  bad.push_back(good.substr(0, good.size() / 2));
  for (const size_t at : {size_t{20}, size_t{100}, size_t{4096}, size_t{4100}}) {
    bad.push_back(good);
    for (size_t i = at; i < at + 64; ++i) bad.back()[i] = static_cast<char>(0xa5);
  }
  for (const std::string& bytes : bad) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
    PerformanceStore store = open();
    store.kernelTime(kernel, cpu, 1000);
    store.contents();
    store.recordKernel(kernel, cpu, 1000, 5000);
    EXPECT_TRUE(store.flush());
    EXPECT_DOUBLE_EQ(open().kernelTime(kernel, cpu, 1000)->nanoseconds, 5000);
  }
}

TEST_F(PerformanceStoreTest, ReplacesTablesOfAnotherVersion) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle, "CREATE TABLE measurement(x); PRAGMA user_version=1", nullptr, nullptr,
               nullptr);
  sqlite3_close(handle);
  PerformanceStore store = open();
  store.recordKernel(kernel, cpu, 1000, 5000);
  EXPECT_TRUE(store.flush());
  EXPECT_EQ(open().contents().kernels.size(), 1u);
}

TEST_F(PerformanceStoreTest, IgnoresNumbersThatNoMeasurementGives) {
  {
    PerformanceStore store = open();
    store.recordKernel(kernel, cpu, 0, 5000);
    store.recordKernel(kernel, cpu, 1000, 0);
    store.recordKernel(kernel, cpu, 1000, NAN);
    EXPECT_EQ(store.pending(), 0u);
    store.recordKernel(kernel, cpu, 1000, 5000);
    store.flush();
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle, "UPDATE measurement SET rate=-1", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  EXPECT_FALSE(open().kernelTime(kernel, cpu, 1000));
}

TEST_F(PerformanceStoreTest, BelongsToItsUser) {
  PerformanceStore store = open();
  store.recordKernel(kernel, cpu, 1000, 5000);
  store.flush();
  struct stat status;
  ASSERT_EQ(stat(store.file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  // Others may write here: not a place to trust.
  chmod(folder_.c_str(), 0777);
  EXPECT_EQ(file(), "");
  PerformanceStore other = open();
  other.recordKernel(kernel, gpu, 1000, 5000);
  EXPECT_TRUE(other.kernelTime(kernel, gpu, 1000));
  EXPECT_FALSE(other.flush());
  EXPECT_EQ(other.pending(), 1u);
}

TEST_F(PerformanceStoreTest, FollowsNoLink) {
  const std::string victim = folder_ + "/victim";
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, file());
  PerformanceStore store = open();
  store.recordKernel(kernel, cpu, 1000, 5000);
  EXPECT_FALSE(store.flush());
  std::ifstream in(victim);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "precious");
}

TEST_F(PerformanceStoreTest, PrunesByAgeAndDevice) {
  const auto fill = [&] {
    PerformanceStore store = open();
    store.recordKernel(kernel, cpu, 1000, 5000);
    store.recordTransfer({"host", gpu.uuid, "1"}, 4096, 100);
    store.recordTransfer({gpu.uuid, "host", "1"}, 4096, 100);
    store.flush();
    now_ += 1000;
    PerformanceStore later = open();
    later.recordKernel(kernel, gpu, 1000, 500);
    later.flush();
  };
  fill();
  EXPECT_EQ(open().prune({500, ""}), 3u);
  EXPECT_EQ(open().contents().kernels.size(), 1u);
  EXPECT_EQ(open().prune({0, "nobody"}), 0u);
  fill();
  EXPECT_EQ(open().prune({0, gpu.uuid}), 3u);
  ASSERT_EQ(open().contents().kernels.size(), 1u);
  EXPECT_EQ(open().contents().kernels[0].device, cpu);
  EXPECT_EQ(open().prune({}), 1u);
  EXPECT_TRUE(open().contents().kernels.empty());
}

}  // namespace
}  // namespace weft::profiling
