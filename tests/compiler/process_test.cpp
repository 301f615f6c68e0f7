// The compiler's process: invisible, bounded, replaced when it dies.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include "compiler/client/location.h"
#include "compiler/client/spawn.h"
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;

// The running compilers that were started with `variable` in their environment.
std::set<pid_t> compilersWith(const std::string& variable) {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream name(entry.path() / "comm"), environment(entry.path() / "environ");
    std::string line;
    if (!std::getline(name, line) || line != "weft-compilerd") continue;
    while (std::getline(environment, line, '\0'))
      if (line == variable) found.insert(std::stoi(pid));
  }
  return found;
}

class ProcessTest : public test::CompilerTest {
 protected:
  // Those of this test, dead ones that nobody waited for left out.
  std::set<pid_t> ours() const { return compilersWith("WEFT_CACHE_DIR=" + cacheDirectory()); }
  // A program that is not in any cache.
  std::string fresh() { return "constant int unique" + std::to_string(next_++) + " = 1;\n"; }

  template <class F>
  static bool eventually(F&& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
  }

  static int next_;
};
int ProcessTest::next_ = 0;

volatile std::sig_atomic_t child_signals = 0;

TEST_F(ProcessTest, IsInvisible) {
  struct sigaction action = {}, old;
  action.sa_handler = [](int) { child_signals = child_signals + 1; };
  sigaction(SIGCHLD, &action, &old);
  ASSERT_TRUE(compile(fresh()).ok);
  EXPECT_FALSE(ours().empty());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  newCompiler();
  EXPECT_TRUE(eventually([&] { return ours().empty(); }));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(child_signals, 0);
  sigaction(SIGCHLD, &old, nullptr);
}

TEST_F(ProcessTest, AnIgnoredSigchldDoesNotMatter) {
  struct sigaction action = {}, old;
  action.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &action, &old);
  EXPECT_TRUE(compile(fresh()).ok);
  sigaction(SIGCHLD, &old, nullptr);
}

TEST_F(ProcessTest, HasNoneOfOurDescriptors) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  ASSERT_TRUE(compile(fresh()).ok);
  close(pipe_ends[1]);
  char byte;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 0);  // nobody else holds the other end
  close(pipe_ends[0]);
}

TEST_F(ProcessTest, WorksWithStandardDescriptorsClosed) {
  const pid_t child = fork();
  if (child == 0) {
    for (int fd = 0; fd < 5; ++fd) close(fd);
    _exit(compile(fresh()).ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ProcessTest, EndsWhenTheApplicationIsKilled) {
  int ready[2], over[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(over), 0);
  const pid_t application = fork();
  if (application == 0) {
    const bool ok = compile(fresh()).ok;
    // A child of the application that outlives it must not keep the compiler alive.
    if (fork() == 0) {
      close(over[1]);
      char byte;
      _exit(read(over[0], &byte, 1) == 0 ? 0 : 1);  // when this test has closed the other end
    }
    if (::write(ready[1], &ok, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char ok = 0;
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  EXPECT_TRUE(ok);
  EXPECT_FALSE(ours().empty());
  kill(application, SIGKILL);
  waitpid(application, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return ours().empty(); }));
  close(over[1]);
}

TEST_F(ProcessTest, IsStartedAgainAfterItWasKilled) {
  ASSERT_TRUE(compile(fresh()).ok);
  for (pid_t pid : ours()) kill(pid, SIGKILL);
  EXPECT_TRUE(compile(fresh()).ok);
  for (pid_t pid : ours()) kill(pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return ours().empty(); }));
  EXPECT_TRUE(compile(fresh()).ok);
}

TEST_F(ProcessTest, AForkedChildStartsItsOwn) {
  ASSERT_TRUE(compile(fresh()).ok);
  // The process that compiled may take a moment to end; what stays is the one that waits.
  ASSERT_TRUE(eventually([&] { return ours().size() == 1; }));
  next_ += 100;
  const pid_t child = fork();
  if (child == 0) {
    const bool ok = compile(fresh()).ok && eventually([&] { return ours().size() == 2; });
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  next_ += 100;
  EXPECT_TRUE(compile(fresh()).ok);
}

TEST_F(ProcessTest, AMacroBombIsAFailedBuild) {
  set("WEFT_COMPILER_MEMORY_MB", "300");
  std::string bomb = "#define A0 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "A" + std::to_string(i - 1);
    bomb += "#define A" + std::to_string(i) + " " + last;
    for (int k = 1; k < 16; ++k) bomb += "+" + last;
    bomb += "\n";
  }
  const auto result = compile(bomb + "int x = A8;\n");
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "WEFT_COMPILER_MEMORY_MB")) << result.log;
  EXPECT_TRUE(compile(fresh()).ok);
}

TEST_F(ProcessTest, AnEndlessCompileIsStopped) {
  set("WEFT_COMPILER_TIMEOUT", "1");
  // Instantiations that double at each of 64 levels.
  const char* source =
      "template <int N, int M> struct F { enum : long { v = F<N - 1, 2 * M>::v + F<N - 1, 2 "
      "* M + 1>::v }; };\ntemplate <int M> struct F<0, M> { enum : long { v = M }; };\n"
      "kernel void f(global long* p) { *p = F<30, 1>::v; }\n";
  const auto result = compile(source, "-cl-std=CLC++");
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "WEFT_COMPILER_TIMEOUT")) << result.log;
  // On a busy machine anything may take a second.
  EXPECT_TRUE(eventually([&] { return compile(fresh()).ok; }));
}

TEST_F(ProcessTest, WhoeverMakesPartsOfItIsStopped) {
  set("WEFT_COMPILER_TIMEOUT", "1");
  std::string source;
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    source += "kernel void f" + number + "(global float* p, int n) {\n  float s = " + number +
              ".0f;\n  for (int k = 0; k < n; ++k) s += p[k] * sin(p[k + get_global_id(0)]);\n" +
              "  p[get_global_id(0)] = s;\n}\n";
  }
  const auto result = build(source);
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "WEFT_COMPILER_TIMEOUT")) << result.log;
  EXPECT_TRUE(eventually([&] { return ours().size() <= 1; }));
  EXPECT_TRUE(eventually([&] { return compile(fresh()).ok; }));
}

TEST_F(ProcessTest, TimeWithoutAProcessorDoesNotCount) {
  set("WEFT_COMPILER_TIMEOUT", "3");
  ASSERT_TRUE(eventually([&] { return compile(fresh()).ok; }));
  std::atomic<bool> over = false;
  std::jthread hindrance([&, seen = ours()]() mutable {
    while (!over)
      for (const pid_t pid : ours())
        if (seen.insert(pid).second && kill(pid, SIGSTOP) == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(3500));
          kill(pid, SIGCONT);
        }
  });
  // One may be done before it is seen, or be stopped when it has answered.
  std::chrono::steady_clock::duration longest{};
  for (int attempt = 0; attempt < 20 && longest < std::chrono::seconds(3); ++attempt) {
    std::string source = fresh() + "kernel void f(global int* p, int x) { *p = x";
    for (int i = 0; i < 10000; ++i) source += "*x+" + std::to_string(i);
    const auto begun = std::chrono::steady_clock::now();
    const auto result = compile(source + "; }\n");
    longest = std::max(longest, std::chrono::steady_clock::now() - begun);
    EXPECT_TRUE(result.ok) << result.log;
  }
  over = true;
  EXPECT_GT(longest, std::chrono::seconds(3));
}

TEST_F(ProcessTest, ADeepExpressionDoesNotKillTheApplication) {
  std::string source = "kernel void f(global int* p, int x) { *p = x";
  for (int i = 0; i < 60000; ++i) source += "+x";
  source += "; }\n";
  const auto result = compile(source);
  EXPECT_TRUE(result.ok || !result.log.empty());
  EXPECT_TRUE(compile(fresh()).ok);
}

TEST_F(ProcessTest, ACacheHitStartsNothing) {
  const std::string source = fresh();
  ASSERT_TRUE(compile(source).ok);
  newCompiler();
  ASSERT_TRUE(eventually([&] { return ours().empty(); }));
  EXPECT_TRUE(compile(source).ok);
  EXPECT_TRUE(ours().empty());
}

TEST_F(ProcessTest, ACorruptCacheIsCompiledAgain) {
  const std::string source = fresh();
  ASSERT_TRUE(compile(source).ok);
  for (const auto& file : std::filesystem::directory_iterator(cacheDirectory()))
    std::ofstream(file.path(), std::ios::trunc) << "damage";
  newCompiler();
  EXPECT_TRUE(compile(source).ok);
  newCompiler();
  ASSERT_TRUE(eventually([&] { return ours().empty(); }));
  EXPECT_TRUE(compile(source).ok);
  EXPECT_TRUE(ours().empty());
}

TEST_F(ProcessTest, WorksWithoutACache) {
  set("WEFT_CACHE", "0");
  const std::string source = fresh();
  EXPECT_TRUE(compile(source).ok);
  EXPECT_FALSE(std::filesystem::exists(cacheDirectory()));
  newCompiler();
  set("WEFT_CACHE", "1");
  set("WEFT_CACHE_DIR", "/proc/nowhere");
  EXPECT_TRUE(compile(source).ok);
}

TEST_F(ProcessTest, ManyThreadsCompileAtOnce) {
  std::vector<std::thread> threads;
  port::Compiler& shared = compiler();
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&shared, t] {
      for (int i = 0; i < 3; ++i) {
        const std::string name = "f" + std::to_string(t) + "_" + std::to_string(i);
        const auto result = shared.compile(request("kernel void " + name + "() {}"));
        ASSERT_TRUE(result.ok) << result.log;
        EXPECT_EQ(readImage(result.image)->kernels.at(0).name, name);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ProcessTest, IsStartedByARelativePath) {
  const std::filesystem::path daemon = std::filesystem::canonical(compiler::findDaemon());
  const pid_t child = fork();
  if (child == 0) {
    std::filesystem::current_path(daemon.parent_path());
    set("WEFT_COMPILERD", daemon.filename());
    _exit(compile(fresh()).ok && !ours().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ProcessTest, CompilesInThisProcessWhereNoneCanBeStarted) {
  set("WEFT_COMPILERD", "/no/such/program");
  const pid_t child = fork();
  if (child == 0) _exit(compile(fresh()).ok && ours().empty() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Lets this process make threads but no processes, for good.
bool forbidProcesses() {
  const auto load = [](uint32_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
  };
  const auto answer = [](uint32_t value) { return sock_filter BPF_STMT(BPF_RET | BPF_K, value); };
  const auto isCall = [](uint32_t number, uint8_t skip) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, skip);
  };
  sock_filter filter[] = {
      load(offsetof(seccomp_data, nr)),
      isCall(SYS_clone3, 1),
      answer(SECCOMP_RET_ERRNO | ENOSYS),
      isCall(SYS_fork, 1),
      answer(SECCOMP_RET_ERRNO | EPERM),
      isCall(SYS_vfork, 1),
      answer(SECCOMP_RET_ERRNO | EPERM),
      isCall(SYS_clone, 3),
      load(offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
      answer(SECCOMP_RET_ERRNO | EPERM),
      answer(SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(ProcessTest, CompilesInThisProcessInASandbox) {
  const pid_t child = fork();
  if (child == 0) {
    if (!forbidProcesses()) _exit(2);
    const bool good = compile(fresh()).ok && build("kernel void f(global int* p) { *p = 1; }").ok;
    const auto bad = compile("nonsense");
    _exit(good && !bad.ok && contains(bad.log, "nonsense") && ours().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ProcessTest, ADaemonThatNeverAnswersIsDoneWithout) {
  set("WEFT_COMPILERD", "/bin/true");
  const pid_t child = fork();
  if (child == 0) _exit(compile(fresh()).ok ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ProcessTest, SpawnReportsWhatCannotBeRun) {
  EXPECT_EQ(compiler::spawnInvisible("/no/such/program", 0, -1), ENOENT);
  EXPECT_EQ(compiler::spawnInvisible("/", 0, -1), EACCES);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
}

}  // namespace
}  // namespace weft
