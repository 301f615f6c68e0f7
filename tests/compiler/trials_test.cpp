// Kernels in the form that an estimate decided against: who makes it, and when it stays.
#include <atomic>

#include "backends/cpu/launch.h"
#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft {
namespace {

using port::CodeForm;

constexpr auto lanes = static_cast<uint8_t>(CodeForm::lanes);
constexpr auto vectors = static_cast<uint8_t>(CodeForm::vectors);

constexpr const char* quick = "kernel void k(global int* out) { out[get_global_id(0)] = 2; }";
constexpr const char* slow = R"(
  kernel void k(global int* out) {
    uint x = get_global_id(0);
    for (int i = 0; i < 2000; ++i) x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x == 12345u ? 3 : 1;
  })";

// How long lanes turn depends on the data.
constexpr const char* divergent = R"(
  kernel void k(global const int* in, global float* out) {
    int i = get_global_id(0);
    float sum = 0;
    for (int n = in[i]; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) sum += 1.0f / n;
    out[i] = sum;
  })";

// Gives the same for all.
class FixedMaker : public port::FormMaker {
 public:
  explicit FixedMaker(port::CompileResult result) : result_(std::move(result)) {}
  port::CompileResult make(const std::string&, CodeForm form) const override {
    asked.fetch_or(static_cast<uint8_t>(form));
    return result_;
  }

  mutable std::atomic<uint8_t> asked{0};

 private:
  const port::CompileResult result_;
};

class TrialsTest : public test::CompilerTest {
 protected:
  static constexpr uint64_t items = 64;

  Image imageOf(const char* source) {
    const port::CompileResult result = build(source, "-cl-std=CL3.0");
    EXPECT_TRUE(result.ok) << result.log;
    Image image = readImage(result.image).value();
    image.kernels.front().other_forms = lanes;
    return image;
  }
  std::shared_ptr<FixedMaker> makerOf(const char* source) {
    return std::make_shared<FixedMaker>(build(source));
  }
  // What the kernel writes.
  int launch(cpu::Module& module) {
    std::array<int, items> out{};
    port::LaunchRecord record;
    port::LaunchArgument argument;
    argument.kind = ArgumentKind::global_pointer;
    argument.raw_address = reinterpret_cast<uint64_t>(out.data());
    port::Launch launch;
    launch.module = &module;
    launch.record = &record;
    launch.arguments = {&argument, 1};
    record.global_size[0] = record.local_size[0] = items;
    launch.slice.end[0] = launch.slice.end[1] = launch.slice.end[2] = 1;
    EXPECT_EQ(frame_.prepare(launch), 0);
    EXPECT_EQ(frame_.run(0, 1, scratch_), 0);
    for (const int value : out) EXPECT_EQ(value, out[0]);
    return out[0];
  }

  cpu::LaunchFrame frame_;
  cpu::Scratch scratch_;
};

constexpr int enough = 200;  // launches for a contest to end

TEST_F(TrialsTest, AFasterFormStays) {
  Image image = imageOf(slow);
  const auto maker = makerOf(quick);
  image.forms = maker;
  cpu::Module module(image, nullptr, 1, cpu::TrialPolicy::always);
  bool usual = false;
  for (int i = 0; i < enough; ++i) usual |= launch(module) == 1;
  EXPECT_TRUE(usual) << "it was not compared";
  for (int i = 0; i < 8; ++i) EXPECT_EQ(launch(module), 2);
  EXPECT_EQ(maker->asked, lanes);
}

TEST_F(TrialsTest, ASlowerFormDoesNot) {
  Image image = imageOf(quick);
  image.forms = makerOf(slow);
  cpu::Module module(image, nullptr, 1, cpu::TrialPolicy::always);
  bool other = false;
  for (int i = 0; i < enough; ++i) other |= launch(module) == 1;
  EXPECT_TRUE(other) << "it was not tried";
  for (int i = 0; i < 8; ++i) EXPECT_EQ(launch(module), 2);
}

TEST_F(TrialsTest, FormsAreTriedOneAfterTheOther) {
  Image image = imageOf(quick);
  image.kernels.front().other_forms = lanes | vectors;
  const auto maker = makerOf(slow);
  image.forms = maker;
  cpu::Module module(image, nullptr, 1, cpu::TrialPolicy::always);
  for (int i = 0; i < 2 * enough; ++i) launch(module);
  EXPECT_EQ(maker->asked, lanes | vectors);
}

TEST_F(TrialsTest, WhatCannotBeMadeIsNotMissed) {
  for (const char* source : {"kernel void k(", "kernel void other() {}"}) {
    Image image = imageOf(quick);
    image.forms = makerOf(source);
    cpu::Module module(image, nullptr, 1, cpu::TrialPolicy::always);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(launch(module), 2);
  }
}

TEST_F(TrialsTest, NothingIsTriedInVain) {
  const auto maker = makerOf(quick);
  const auto askedFor = [&](Image image, cpu::TrialPolicy policy) {
    image.forms = maker;
    maker->asked = 0;
    cpu::Module module(image, nullptr, 1, policy);
    for (int i = 0; i < 8; ++i) launch(module);
    return maker->asked.load();
  };
  EXPECT_EQ(askedFor(imageOf(slow), cpu::TrialPolicy::always), lanes);
  EXPECT_EQ(askedFor(imageOf(slow), cpu::TrialPolicy::never), 0);
  EXPECT_EQ(askedFor(imageOf(slow), cpu::TrialPolicy::worthwhile), 0) << "8 short launches";
  Image decided = imageOf(slow);
  decided.kernels.front().other_forms = 0;
  EXPECT_EQ(askedFor(decided, cpu::TrialPolicy::always), 0);
  EXPECT_EQ(askedFor(imageOf("global int n; kernel void k(global int* out) "
                             "{ n = 1; out[get_global_id(0)] = n; }"),
                     cpu::TrialPolicy::always),
            0)
      << "another form would have variables of its own";
}

TEST_F(TrialsTest, FormsComputeTheSame) {
  const port::CompileResult usual = build(divergent);
  ASSERT_TRUE(usual.ok) << usual.log;
  const uint8_t decided = readImage(usual.image)->kernels.front().other_forms;
  EXPECT_TRUE(decided == lanes || decided == vectors);
  std::array<int, 256> in;
  for (int i = 0; i < 256; ++i) in[static_cast<size_t>(i)] = i + 1;
  std::vector<std::array<float, 256>> results;
  const auto run = [&](const port::CompileResult& result) {
    ASSERT_TRUE(result.ok) << result.log;
    const void *from = in.data(), *to = results.emplace_back().data();
    test::Program(result.image).run("k", {256, 1, 1}, {64, 1, 1}, {&from, &to});
  };
  results.reserve(3);
  run(usual);
  ASSERT_TRUE(usual.forms);
  run(usual.forms->make("k", CodeForm::lanes));
  run(usual.forms->make("k", CodeForm::vectors));
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

// Lanes that wait for each other's locks may hang side by side, and those that look at volatile
// memory may rely on it.
TEST_F(TrialsTest, FormsThatLanesMightNoticeAreNotOffered) {
  const auto formsOf = [&](const std::string& body) {
    const auto result = build(
        "kernel void k(global int* p, local int* m) { int i = get_global_id(0);"
        "int n = p[i]; while (n > 1) n = n % 2 ? 3 * n + 1 : n / 2;" +
        body + " p[i] = n; }");
    EXPECT_TRUE(result.ok) << result.log;
    return readImage(result.image)->kernels.front().other_forms;
  };
  EXPECT_NE(formsOf(""), 0);
  EXPECT_NE(formsOf("atomic_add(m, n);"), 0);
  EXPECT_EQ(formsOf("while (atomic_cmpxchg(m, 0, 1)) ; m[1] += n; atomic_xchg(m, 0);"), 0);
  EXPECT_EQ(formsOf("atomic_xchg(m, 0);"), 0);
  EXPECT_EQ(formsOf("volatile local int* v = m; v[i] = n; n += v[i ^ 1];"), 0);
}

TEST_F(TrialsTest, OtherKernelsAreNotMade) {
  const auto usual = build(std::string(divergent) +
                           "kernel void called(global int* p) { *p = 1; }"
                           "kernel void caller(global int* p) { called(p); }"
                           "kernel void another(global int* p) { *p = 2; }");
  ASSERT_TRUE(usual.ok) << usual.log;
  const auto namesIn = [&](const char* kernel) {
    const auto result = usual.forms->make(kernel, CodeForm::lanes);
    EXPECT_TRUE(result.ok) << result.log;
    std::vector<std::string> names;
    const Image image = readImage(result.image).value();
    for (const KernelInfo& info : image.kernels) names.push_back(info.name);
    return names;
  };
  EXPECT_EQ(namesIn("k"), std::vector<std::string>{"k"});
  EXPECT_EQ(namesIn("caller"), (std::vector<std::string>{"called", "caller"}));
}

// Forms round alike, unless the program lets the compiler take liberties.
TEST_F(TrialsTest, NoOtherFormWhereItMightRoundOtherwise) {
  for (const char* option : {"-cl-mad-enable", "-cl-fast-relaxed-math",
                             "-cl-unsafe-math-optimizations", "-cl-opt-disable"}) {
    const auto result = build(divergent, option);
    ASSERT_TRUE(result.ok) << result.log;
    EXPECT_FALSE(result.forms->make("k", CodeForm::lanes).ok) << option;
  }
  const auto object = compile(divergent, "-cl-mad-enable");
  const auto linked = compiler().link({{object.image}, "", false, request("").target, {}});
  ASSERT_TRUE(linked.ok) << linked.log;
  EXPECT_FALSE(linked.forms->make("k", CodeForm::lanes).ok);
  const auto plain = compile(divergent);
  const auto fit = compiler().link({{plain.image}, "", false, request("").target, {}});
  ASSERT_TRUE(fit.ok) << fit.log;
  EXPECT_TRUE(fit.forms->make("k", CodeForm::lanes).ok);
}

TEST_F(TrialsTest, NoOtherFormOfWhatHasChanged) {
  write("value.h", "#define VALUE 1\n");
  const std::string source =
      "#include \"value.h\"\nkernel void k(global int* out) { out[get_global_id(0)] = VALUE; }";
  const auto result = build(source, "-I " + directory());
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_TRUE(result.forms->make("k", CodeForm::lanes).ok);
  const auto cached = build(source, "-I " + directory());
  write("value.h", "#define VALUE 2\n");
  EXPECT_FALSE(result.forms->make("k", CodeForm::lanes).ok);
  EXPECT_FALSE(cached.forms->make("k", CodeForm::lanes).ok);
}

}  // namespace
}  // namespace weft
