// Code that is left for later, and who makes it when.
#include <atomic>

#include "backends/cpu/module.h"
#include "core/deferred_code.h"
#include "tests/compiler/fixture.h"
#include "tests/compiler/many_kernels.h"
#include "tests/compiler/program.h"

namespace weft {
namespace {

constexpr int kernels = 100;

// Counts what it is asked for, and fails when it is told to.
class CountingMaker : public port::CodeMaker {
 public:
  explicit CountingMaker(std::shared_ptr<const port::CodeMaker> other) : other_(std::move(other)) {}
  port::CompileResult makePart(const Image& image, const DeferredCode& code,
                               uint32_t part) const override {
    ++asked;
    return fails ? port::CompileResult{} : other_->makePart(image, code, part);
  }
  port::CompileResult makeAll(const Image& image) const override { return other_->makeAll(image); }

  mutable std::atomic<int> asked{0};
  std::atomic<bool> fails{false};

 private:
  const std::shared_ptr<const port::CodeMaker> other_;
};

class LaterCodeTest : public test::CompilerTest {
 protected:
  port::CompileResult buildLater(const std::string& source, const std::string& options = {}) {
    if (!later_.compiler) later_ = makeDeferringCompiler();
    auto result = later_.compiler->build(request(source, options));
    EXPECT_TRUE(result.ok) << result.log;
    return result;
  }
  Image manyKernels() {
    return readImage(buildLater(test::manyKernels(kernels, test::helpers, test::sums)).image)
        .value();
  }
  std::shared_ptr<CountingMaker> counting() const {
    return std::make_shared<CountingMaker>(later_.code);
  }

  DeferringCompiler later_;
};

TEST_F(LaterCodeTest, LittleCodeIsMadeAtOnce) {
  const auto image = readImage(buildLater(test::manyKernels(2, test::helpers, test::sums)).image);
  EXPECT_FALSE(isDeferred(image->payload));
}

TEST_F(LaterCodeTest, NothingIsLeftWhereNobodyWouldMakeIt) {
  const auto result = build(test::manyKernels(kernels, test::helpers, test::sums));
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_FALSE(isDeferred(readImage(result.image)->payload));
}

TEST_F(LaterCodeTest, TheSameIsLeftEachTime) {
  set("WEFT_CACHE", "0");
  const Image first = manyKernels();
  later_ = {};
  const Image second = manyKernels();
  ASSERT_TRUE(isDeferred(first.payload));
  EXPECT_TRUE(first.payload == second.payload);
}

TEST_F(LaterCodeTest, WhatIsKnownOfKernelsDoesNotWait) {
  const Image later = manyKernels();
  const auto now = readImage(build(test::manyKernels(kernels, test::helpers, test::sums)).image);
  ASSERT_EQ(later.kernels.size(), now->kernels.size());
  for (size_t i = 0; i < later.kernels.size(); ++i) {
    EXPECT_EQ(later.kernels[i].symbol, now->kernels[i].symbol);
    EXPECT_EQ(later.kernels[i].private_bytes, now->kernels[i].private_bytes);
    EXPECT_EQ(later.kernels[i].lane_context_bytes, now->kernels[i].lane_context_bytes);
    EXPECT_EQ(later.kernels[i].has_barriers, now->kernels[i].has_barriers);
  }
}

TEST_F(LaterCodeTest, PartsAreMadeWhenTheyAreWanted) {
  const Image image = manyKernels();
  const auto code = readDeferred(image.payload);
  ASSERT_TRUE(code);
  ASSERT_GE(code->parts.size(), 6u);
  const auto kernelOf = [&](uint32_t part) {
    return static_cast<uint32_t>(std::ranges::find(code->part_of, part) - code->part_of.begin());
  };
  const auto maker = counting();
  cpu::Module module(image, maker, 2);
  EXPECT_EQ(maker->asked, 0);
  EXPECT_TRUE(module.entry(kernelOf(3)));
  EXPECT_TRUE(module.entry(kernelOf(3) + 1));
  EXPECT_EQ(maker->asked, 1);
  EXPECT_TRUE(module.entry(kernelOf(0)));
  EXPECT_EQ(maker->asked, 2);
  // Now part 2 comes along.
  EXPECT_TRUE(module.entry(kernelOf(1)));
  EXPECT_TRUE(module.entry(kernelOf(2)));
  EXPECT_EQ(maker->asked, 4);
  for (uint32_t kernel = 0; kernel < image.kernels.size(); ++kernel)
    EXPECT_TRUE(module.entry(kernel)) << kernel;
  EXPECT_EQ(maker->asked, static_cast<int>(code->parts.size()));
}

TEST_F(LaterCodeTest, WhatFailedIsTriedAgain) {
  const Image image = manyKernels();
  const auto maker = counting();
  cpu::Module module(image, maker);
  maker->fails = true;
  EXPECT_FALSE(module.entry(0));
  maker->fails = false;
  EXPECT_TRUE(module.entry(0));
  EXPECT_THROW(cpu::Module(image, nullptr), std::exception);
}

TEST_F(LaterCodeTest, AllCodeIsOneLibrary) {
  const Image image = manyKernels();
  const auto all = later_.code->makeAll(image);
  ASSERT_TRUE(all.ok) << all.log;
  const test::Program program(all.image);
  EXPECT_EQ(program.image().kernels.size(), image.kernels.size());
  for (const int k : {0, 1, kernels / 2, kernels - 1}) {
    std::vector<int> values{0, 1, 2, 3, 4, 5, 6, 7};
    int* pointer = values.data();
    const uint64_t offset = 0;
    const int n = 1;
    program.run("k" + std::to_string(k), {8, 1, 1}, {8, 1, 1}, {&pointer, &offset, &n}, 32);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(values[i], test::sumOf(k, i));
  }
}

TEST_F(LaterCodeTest, LinkedProgramsKeepTheOptionsOfTheLink) {
  const auto object = compile(test::manyKernels(kernels, test::helpers, test::sums));
  ASSERT_TRUE(object.ok) << object.log;
  later_ = makeDeferringCompiler();
  port::LinkRequest link;
  link.objects = {object.image};
  link.options = "-cl-denorms-are-zero";
  link.target = request({}).target;
  link.features = request({}).features;
  const auto linked = later_.compiler->link(link);
  ASSERT_TRUE(linked.ok) << linked.log;
  const auto image = readImage(linked.image);
  ASSERT_TRUE(isDeferred(image->payload));
  cpu::Module module(*image, later_.code);
  EXPECT_TRUE(module.entry(0));
}

TEST_F(LaterCodeTest, DamageIsSeen) {
  DeferredCode code;
  code.part_of = {0, 1, 1};
  code.parts = {port::Bytes(5), port::Bytes(7)};
  port::Bytes bytes = writeDeferred(code);
  const auto read = readDeferred(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->part_of, code.part_of);
  EXPECT_EQ(read->parts, code.parts);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readDeferred(std::span(bytes).first(size))) << size;
  code.part_of = {0, 2, 1};
  EXPECT_FALSE(readDeferred(writeDeferred(code)));
}

}  // namespace
}  // namespace weft
