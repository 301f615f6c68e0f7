#include "compiler/client/cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "tests/compiler/fixture.h"

namespace weft::compiler {
namespace {

Answer answerOf(size_t bytes, std::byte fill = std::byte{7}) {
  Answer answer;
  answer.result.ok = true;
  answer.result.log = "a warning\n";
  answer.result.image.assign(bytes, fill);
  return answer;
}

class CacheTest : public test::CompilerTest {
 protected:
  Cache cache(uint64_t capacity = 1 << 20) const { return Cache(cacheDirectory(), capacity); }
  std::string entry(const Hash& key) const {
    for (const auto& file : std::filesystem::directory_iterator(cacheDirectory()))
      if (file.path().extension() == ".weft") {
        char name[40];
        std::snprintf(name, sizeof name, "%016lx%016lx", key[0], key[1]);
        if (file.path().stem() == name) return file.path();
      }
    return {};
  }
};

TEST_F(CacheTest, FindsWhatWasStored) {
  cache().store({1, 2}, answerOf(100));
  const auto found = cache().find({1, 2});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->result.ok);
  EXPECT_EQ(found->result.log, "a warning\n");
  EXPECT_EQ(found->result.image.size(), 100u);
  EXPECT_FALSE(cache().find({1, 3}));
}

TEST_F(CacheTest, IsPrivateToItsOwner) {
  cache();
  struct stat status;
  ASSERT_EQ(stat(cacheDirectory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(CacheTest, EveryDamageIsAMiss) {
  cache().store({1, 2}, answerOf(100));
  const std::string path = entry({1, 2});
  ASSERT_FALSE(path.empty());
  const auto size = std::filesystem::file_size(path);
  for (uintmax_t at = 0; at < size; ++at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char before = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(before ^ 0x40)).flush();
    EXPECT_FALSE(cache().find({1, 2})) << "byte " << at;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(before).flush();
  }
  EXPECT_TRUE(cache().find({1, 2}));
  for (uintmax_t length : {uintmax_t{0}, uintmax_t{5}, size - 1}) {
    std::filesystem::resize_file(path, length);
    EXPECT_FALSE(cache().find({1, 2})) << "length " << length;
  }
}

TEST_F(CacheTest, NoticesChangedAndAppearingFiles) {
  Answer answer = answerOf(10);
  const std::string header = write("a.h", "one");
  const std::string absent = directory() + "/b.h";
  answer.files = {{header, true, *hashFile(header)}, {absent, false, {}}};
  cache().store({1, 1}, answer);
  EXPECT_TRUE(cache().find({1, 1}));
  write("a.h", "two");
  EXPECT_FALSE(cache().find({1, 1}));
  write("a.h", "one");
  EXPECT_TRUE(cache().find({1, 1}));
  write("b.h", "");
  EXPECT_FALSE(cache().find({1, 1}));
}

TEST_F(CacheTest, DropsTheLeastRecentlyUsed) {
  const Cache small = cache(10000);
  for (uint64_t i = 0; i < 9; ++i) {
    small.store({i, 0}, answerOf(1000));
    const timespec times[2] = {{static_cast<time_t>(1000 + i), 0},
                               {static_cast<time_t>(1000 + i), 0}};
    utimensat(AT_FDCWD, entry({i, 0}).c_str(), times, 0);
  }
  EXPECT_TRUE(small.find({0, 0}));  // counts as a use
  small.store({100, 0}, answerOf(1000));
  EXPECT_TRUE(small.find({0, 0}));
  EXPECT_FALSE(small.find({1, 0}));
  EXPECT_TRUE(small.find({8, 0}));
  EXPECT_TRUE(small.find({100, 0}));
  uint64_t total = 0;
  for (const auto& file : std::filesystem::directory_iterator(cacheDirectory()))
    total += file.file_size();
  EXPECT_LE(total, 10000u);
}

TEST_F(CacheTest, RefusesADirectoryThatOthersMayWrite) {
  std::filesystem::create_directories(cacheDirectory());
  chmod(cacheDirectory().c_str(), 0777);
  EXPECT_FALSE(cache().usable());
}

TEST_F(CacheTest, RefusesADirectoryOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  std::filesystem::create_directories(cacheDirectory());
  ASSERT_EQ(chown(cacheDirectory().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache().usable());
}

TEST_F(CacheTest, WorksWithoutADirectory) {
  for (const std::string& path : {std::string(), std::string("/proc/no/such"), write("file", "")}) {
    const Cache none(path, 1 << 20);
    EXPECT_FALSE(none.usable());
    none.store({1, 1}, answerOf(1));
    EXPECT_FALSE(none.find({1, 1}));
  }
}

TEST_F(CacheTest, FailedResultsAreNotFound) {
  Answer failed = answerOf(10);
  failed.result.ok = false;
  cache().store({4, 4}, failed);
  EXPECT_FALSE(cache().find({4, 4}));
}

// Stores and reads ten entries whose contents tell which they are; returns what was wrong.
int mixedUse(const Cache& own, uint64_t offset) {
  int wrong = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    own.store({i % 10, 0}, answerOf(1000 + i % 10, static_cast<std::byte>(i % 10)));
    const uint64_t key = (i + offset) % 10;
    const auto found = own.find({key, 0});
    if (!found) continue;
    const port::Bytes& image = found->result.image;
    if (image.size() != 1000 + key || image[0] != std::byte(key)) ++wrong;
  }
  return wrong;
}

TEST_F(CacheTest, ManyWritersAndReaders) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([this, t] { EXPECT_EQ(mixedUse(cache(30000), t), 0); });
  for (std::thread& thread : threads) thread.join();
}

// Runs `function` in a process of its own; its result is the exit status.
template <class F>
pid_t startProcess(F&& function) {
  const pid_t child = fork();
  if (child == 0) _exit(function());
  return child;
}

int exitStatus(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(CacheTest, ManyProcesses) {
  std::vector<pid_t> children;
  // The capacity holds fewer entries than there are, so they evict each other's, too.
  for (uint64_t t = 0; t < 4; ++t)
    children.push_back(startProcess([this, t] { return mixedUse(cache(8000), t); }));
  for (const pid_t child : children) EXPECT_EQ(exitStatus(child), 0);
  EXPECT_EQ(mixedUse(cache(30000), 0), 0);
}

TEST_F(CacheTest, AFullDiskLosesTheEntryAndNothingElse) {
  cache().store({1, 1}, answerOf(100));
  // No file may grow beyond the limit, in the middle of the entry, as when the disk is full.
  const pid_t child = startProcess([this] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Cache own = cache();
    own.store({2, 2}, answerOf(100000));
    return own.find({2, 2}) || !own.find({1, 1}) ? 1 : 0;
  });
  EXPECT_EQ(exitStatus(child), 0);
  EXPECT_FALSE(cache().find({2, 2}));
  for (const auto& file : std::filesystem::directory_iterator(cacheDirectory()))
    EXPECT_FALSE(file.path().filename().string().starts_with(".new-")) << file.path();
}

}  // namespace
}  // namespace weft::compiler
