// Programs that do not compile, that break the compiler, and many builds at once.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char most_seconds[] = "120";  // no program of the tests takes so long on a busy machine
#ifdef __SANITIZE_ADDRESS__
constexpr char most_mib[] = "1024";  // the sanitizer keeps a quarter of a GiB that was given back
#else
constexpr char most_mib[] = "512";
#endif

// Before the compiler's process starts: programs that never end compiling are ended soon.
const bool limited = setenv("WEFT_COMPILER_TIMEOUT", most_seconds, 0) == 0 &&
                     setenv("WEFT_COMPILER_MEMORY_MB", most_mib, 0) == 0;

class Builds : public Programs {
 protected:
  // A source that no cache has seen.
  static std::string fresh(const std::string& text) {
    static std::atomic<unsigned> count{0};
    return "// " + std::to_string(getpid()) + "." + std::to_string(count++) + "." +
           std::to_string(Clock::now().time_since_epoch().count()) + "\n" + text;
  }
  // Builds, expects failure, and returns the log.
  std::string failure(const std::string& text, const char* options = nullptr) {
    const OwnedProgram program = fromSource(text);
    EXPECT_EQ(build(program, options), CL_BUILD_PROGRAM_FAILURE);
    EXPECT_EQ(status(program), CL_BUILD_ERROR);
    return log(program);
  }
  void stillWorks() {
    const OwnedProgram program = built(fresh(scale_source));
    EXPECT_EQ(runScale(kernel(program, "scale"), 3), (std::vector<cl_int>{3, 6, 9, 12}));
  }
};

TEST_F(Builds, ErrorsShowTheSourceLine) {
  const std::string text = failure(
      "kernel void k(global float* out) {\n"
      "  float x = 1.0f;\n"
      "  out[0] = x + missing_variable;\n"
      "}\n");
  EXPECT_NE(text.find(":3:16: error:"), std::string::npos) << text;
  EXPECT_NE(text.find("out[0] = x + missing_variable;"), std::string::npos) << text;
}

TEST_F(Builds, WarningsAreInTheLogOfASuccess) {
  const OwnedProgram program = fromSource(
      "#warning look here\n"
      "kernel void k(global float* out) { out[0] = 1; }\n");
  EXPECT_EQ(build(program), CL_SUCCESS);
  EXPECT_NE(log(program).find("look here"), std::string::npos) << log(program);
  EXPECT_EQ(build(program, "-w"), CL_SUCCESS);
  EXPECT_EQ(log(program).find("look here"), std::string::npos) << log(program);
  EXPECT_EQ(build(program, "-Werror"), CL_BUILD_PROGRAM_FAILURE);
}

TEST_F(Builds, UnknownBuiltinsAreNamed) {
  EXPECT_NE(failure("kernel void k(global float* out) { out[0] = no_such_builtin(1.0f); }")
                .find("no_such_builtin"),
            std::string::npos);
  const std::string text = failure(
      "float declared_only(float); kernel void k(global float* o) { *o = declared_only(1); }");
  EXPECT_NE(text.find("declared_only"), std::string::npos) << text;
}

TEST_F(Builds, AMissingHeaderIsNamed) {
  const std::string text = failure("#include \"not/there.h\"\nkernel void k() {}");
  EXPECT_NE(text.find("not/there.h"), std::string::npos) << text;
}

TEST_F(Builds, AnExpressionThatOverflowsTheCompilersStack) {
  std::string text = "kernel void k(global int* out, int x) { out[0] = x";
  for (int i = 0; i < 60000; ++i) text += "+x";
  const OwnedProgram program = fromSource(fresh(text + "; }"));
  // Either answer is right; what matters is that there is one.
  const cl_int code = build(program);
  if (code != CL_SUCCESS) {
    EXPECT_EQ(code, CL_BUILD_PROGRAM_FAILURE);
    EXPECT_FALSE(log(program).empty());
  }
  std::string deep = "kernel void k(global int* out, int x) { out[0] = ";
  deep += std::string(300000, '(') + "x" + std::string(300000, ')') + "; }";
  EXPECT_FALSE(failure(fresh(deep)).empty());
  stillWorks();
}

TEST_F(Builds, AMacroBomb) {
  ASSERT_TRUE(limited);
  std::string text = "#define A0 x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "A" + std::to_string(i - 1) + "+";
    text += "#define A" + std::to_string(i) + " ";
    for (int j = 0; j < 15; ++j) text += last;
    text += "A" + std::to_string(i - 1) + "\n";
  }
  // The compiler's limits end it; that it ends at all is the test, which has a time limit itself.
  EXPECT_FALSE(
      failure(fresh(text + "kernel void k(global int* out, int x) { out[0] = A11; }")).empty());
  stillWorks();
}

TEST_F(Builds, ACallbackOfABuildThatBreaksTheCompiler) {
  std::string deep = "kernel void k(global int* out, int x) { out[0] = ";
  deep += std::string(300000, '(') + "x" + std::string(300000, ')') + "; }";
  const OwnedProgram program = fromSource(fresh(deep));
  BuildDone done;
  ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, nullptr, BuildDone::notify, done.user()),
            CL_SUCCESS);
  EXPECT_EQ(done.wait(), cl_program(program));
  EXPECT_EQ(status(program), CL_BUILD_ERROR);
  EXPECT_FALSE(log(program).empty());
}

TEST_F(Builds, StatusIsInProgressUntilTheCallback) {
  const OwnedProgram program = fromSource(fresh(scale_source));
  BuildDone done;
  ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, nullptr, BuildDone::notify, done.user()),
            CL_SUCCESS);
  const cl_build_status seen = status(program);
  EXPECT_TRUE(seen == CL_BUILD_IN_PROGRESS || seen == CL_BUILD_SUCCESS) << seen;
  done.wait();
  EXPECT_EQ(status(program), CL_BUILD_SUCCESS);
  EXPECT_EQ(runScale(kernel(program, "scale"), 2), (std::vector<cl_int>{2, 4, 6, 8}));
}

TEST_F(Builds, AProgramReleasedWhileItIsBuilt) {
  for (int i = 0; i < 10; ++i) {
    BuildDone done;
    {
      const OwnedProgram program = fromSource(fresh(scale_source));
      ASSERT_EQ(cl.clBuildProgram(program, 0, nullptr, nullptr, BuildDone::notify, done.user()),
                CL_SUCCESS);
    }
    done.wait();
  }
}

TEST_F(Builds, ManyThreadsBuildAtOnce) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        // Half of the sources are the same for all threads, half are not.
        const std::string mine = i % 2 ? fresh(scale_source) : scale_source;
        const OwnedProgram program = fromSource(mine);
        if (t % 4 == 3 && i == 1) {
          const OwnedProgram broken = fromSource(fresh(bad_source));
          EXPECT_EQ(build(broken), CL_BUILD_PROGRAM_FAILURE);
        }
        EXPECT_EQ(build(program), CL_SUCCESS) << log(program);
        if (runScale(kernel(program, "scale"), t + 1) ==
            std::vector<cl_int>{t + 1, 2 * (t + 1), 3 * (t + 1), 4 * (t + 1)})
          ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 32);
}

TEST_F(Builds, OptionsReachTheProgram) {
  const OwnedProgram program = built(
      "kernel void k(global int* out) {\n"
      "  out[0] = NUMBER;\n"
      "  out[1] = sizeof(TEXT) - 1;\n"
      "#ifdef FLAG\n"
      "  out[2] = FLAG;\n"
      "#endif\n"
      "  out[3] = __OPENCL_C_VERSION__;\n"
      "}\n",
      R"(-DNUMBER=42 -D TEXT=\"abc\" -DFLAG -cl-std=CL3.0)");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(4));
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), (std::vector<cl_int>{42, 3, 1, 300}));
}

TEST_F(Builds, EveryOptionOfTheSpecificationIsAccepted) {
  const OwnedProgram program = fromSource(scale_source);
  for (const char* option :
       {"-cl-single-precision-constant", "-cl-denorms-are-zero",
        "-cl-fp32-correctly-rounded-divide-sqrt", "-cl-opt-disable", "-cl-strict-aliasing",
        "-cl-uniform-work-group-size", "-cl-no-subgroup-ifp", "-cl-mad-enable",
        "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations", "-cl-finite-math-only",
        "-cl-fast-relaxed-math", "-cl-kernel-arg-info", "-w", "-Werror"})
    EXPECT_EQ(build(program, option), CL_SUCCESS) << option << ": " << log(program);
}

TEST_F(Builds, ARebuildChangesTheCode) {
  const OwnedProgram program = fromSource("kernel void k(global int* out) { out[0] = NUMBER; }");
  for (const int number : {1, 2, 3}) {
    ASSERT_EQ(build(program, ("-DNUMBER=" + std::to_string(number)).c_str()), CL_SUCCESS);
    const OwnedKernel k = kernel(program, "k");
    const OwnedMem out = upload(std::vector<cl_int>(1));
    set(k, out);
    run(k, {{1}});
    EXPECT_EQ(download<cl_int>(out)[0], number);
  }
}

}  // namespace
}  // namespace weft::e2e
