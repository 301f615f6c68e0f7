// The access analysis against what random kernels do, whole launches and boxes of their groups:
// every access is recorded, and each must be foretold; and what is foretold as overwritten must
// have been written, every byte of it.
// WEFT_RANDOM_SEEDS=first:count runs other seeds than the fixed ones.
#include <random>

#include <gtest/gtest.h>

#include "core/access_evaluation.h"
#include "tests/compiler/passes/kernel_jit.h"
#include "tests/compiler/passes/random_accesses.h"
#include "tests/compiler/passes/random_runs.h"

namespace weft::test {
namespace {

constexpr unsigned kernels_per_program = 16, pointers = 3, launches = 4;
constexpr size_t element_sizes[pointers] = {4, 1, 16};
constexpr size_t first_value = 4;  // index of the first by-value argument

const char* const plain = R"(
  int all(int4 v) { return v.x + v.y * 3 + v.z * 5 + v.w * 7; }
  #define EXTRA
  #define READ(p, i) p[i]
  #define WRITE(p, i) p[i]
)";
const char* const recorded = R"(
  int all(int4 v) { return v.x + v.y * 3 + v.z * 5 + v.w * 7; }
  #define EXTRA , global uchar* ra, global uchar* wa, global uchar* rc, global uchar* wc, \
                  global uchar* rv, global uchar* wv
  long written(long i, long size, global uchar* marks) {
    for (long k = 0; k < size; ++k) marks[i * size + k] = 1;
    return i;
  }
  // What was written before is not needed from elsewhere: a compiler may keep it in a register.
  long read(long i, long size, global uchar* marks, global uchar* writes) {
    for (long k = 0; k < size; ++k) marks[i * size + k] |= !writes[i * size + k];
    return i;
  }
  #define READ(p, i) p[read((long)(i), sizeof(*p), r##p, w##p)]
  #define WRITE(p, i) p[written((long)(i), sizeof(*p), w##p)]
)";

// Bytes on both sides of where an argument points.
class Bytes {
 public:
  explicit Bytes(size_t element)
      : half_(element * (random_access_index_limit + 1)), bytes_(2 * half_) {}
  uint8_t* origin() { return bytes_.data() + half_; }
  size_t size() const { return half_; }

 private:
  size_t half_;
  std::vector<uint8_t> bytes_;
};

NdRange randomRange(std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return random() % n; };
  NdRange range;
  range.work_dim = 1 + static_cast<uint32_t>(below(3));
  for (unsigned d = 0; d < range.work_dim; ++d) {
    range.local[d] = 1 + below(d == 0 ? 12 : 3);
    range.global[d] = range.local[d] * (1 + below(3)) + (below(3) ? 0 : below(range.local[d]));
    range.offset[d] = below(2) * below(40);
  }
  return range;
}

struct Precision {
  size_t launches = 0, touched = 0, foretold = 0, written = 0, overwritten = 0;
};

// One pointer's marks against the ranges.
void compare(const std::vector<TouchedRange>& ranges, Bytes& reads, Bytes& writes,
             const std::string& where, Precision& precision) {
  std::vector<uint8_t> may(reads.size(), 0);  // 1: read, 2: written
  for (const TouchedRange& range : ranges)
    for (size_t i = range.begin; i < range.end; ++i) {
      may[i] = static_cast<uint8_t>(range.reads | range.writes << 1);
      ++precision.foretold;
      if (!range.writes || range.reads) continue;
      ++precision.overwritten;
      ASSERT_TRUE(writes.origin()[i]) << where << ": byte " << i << " is not overwritten";
    }
  for (size_t i = 0; i < may.size(); ++i) {
    const bool read = reads.origin()[i], written = writes.origin()[i];
    precision.touched += read || written;
    precision.written += written;
    ASSERT_TRUE(!read || may[i] & 1) << where << ": byte " << i << " is read";
    ASSERT_TRUE(!written || may[i] & 2) << where << ": byte " << i << " is written";
  }
}

port::GroupBox randomBox(const NdRange& range, std::mt19937_64& random) {
  const port::LaunchRecord record = recordOf(range);
  port::GroupBox box;
  for (unsigned d = 0; d < 3; ++d) {
    const uint64_t count = record.group_count[d];
    const bool cut = random() % 2;
    box.begin[d] = cut ? random() % count : 0;
    box.end[d] = cut ? box.begin[d] + 1 + random() % (count - box.begin[d]) : count;
  }
  return box;
}

class Launch {
 public:
  explicit Launch(std::mt19937_64& random)
      : range_(randomRange(random)), box_(randomBox(range_, random)) {
    constexpr unsigned runs[] = {1, 4, AccessEvaluation::few_runs, 128};
    max_runs_ = runs[random() % std::size(runs)];
    const auto value = [&] { return static_cast<int64_t>(random() % random_access_value_limit); };
    values_ = {value() - (random() % 3 ? 0 : 20), value(), value() - 10};
    for (uint32_t& v : data_) v = static_cast<uint32_t>(random());
    for (const size_t size : element_sizes)
      for (auto* set : {&memory_, &reads_, &writes_}) set->emplace_back(size);
  }

  void run(const Program& program, const std::string& kernel) {
    std::vector<Program::Argument> arguments;
    for (Bytes& bytes : memory_) arguments.push_back(Program::buffer(bytes.origin()));
    arguments.push_back(Program::buffer(data_.data()));
    arguments.push_back(Program::value(static_cast<int32_t>(values_[0])));
    arguments.push_back(Program::value(static_cast<uint32_t>(values_[1])));
    arguments.push_back(Program::value(static_cast<int16_t>(values_[2])));
    std::vector<int32_t> sink(range_.global[0] * range_.global[1] * range_.global[2]);
    arguments.push_back(Program::buffer(sink.data()));
    for (unsigned p = 0; p < pointers; ++p) {
      arguments.push_back(Program::buffer(reads_[p].origin()));
      arguments.push_back(Program::buffer(writes_[p].origin()));
    }
    program.run(kernel, range_, std::move(arguments), &box_);
  }

  void check(const KernelInfo& kernel, const std::string& where, Precision& precision) {
    std::vector<ArgumentValue> values(kernel.arguments.size());
    for (size_t i = 0; i < values_.size(); ++i)
      values[first_value + i].setBytes(&values_[i], kernel.arguments[first_value + i].size);
    const port::LaunchRecord record = recordOf(range_);
    ++precision.launches;
    for (unsigned p = 0; p < pointers; ++p) {
      for (const AccessRecord& access : kernel.arguments[p].accesses)
        ASSERT_TRUE(isValid(access, kernel.arguments));
      std::vector<TouchedRange> ranges;
      AccessEvaluation(record, values, box_)
          .touched(kernel.arguments[p], reads_[p].size(), ranges, max_runs_);
      compare(ranges, reads_[p], writes_[p], where + ", argument " + "acv"[p], precision);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  NdRange range_;
  port::GroupBox box_;
  unsigned max_runs_;
  std::vector<int64_t> values_;
  std::array<uint32_t, random_access_data_size> data_;
  std::vector<Bytes> memory_, reads_, writes_;
};

TEST(RandomAccesses, AreForetold) {
  const Seeds range = randomSeeds(96);
  Precision precision;
  for (uint64_t first = range.first; first < range.first + range.count;
       first += kernels_per_program) {
    const uint64_t last = std::min(first + kernels_per_program, range.first + range.count);
    std::string source;
    for (uint64_t seed = first; seed < last; ++seed)
      source += randomAccesses("k" + std::to_string(seed), seed);
    const auto kernels = loweredKernels(plain + source);
    const Program program(recorded + source);
    for (uint64_t seed = first; seed < last; ++seed) {
      const std::string name = "k" + std::to_string(seed);
      std::mt19937_64 random(seed ^ 0xacce55);
      for (unsigned n = 0; n < launches; ++n) {
        Launch launch(random);
        launch.run(program, name);
        launch.check(kernels[seed - first], "seed " + std::to_string(seed), precision);
        if (HasFatalFailure()) FAIL() << randomAccesses(name, seed);
      }
    }
  }
  RecordProperty("launches", static_cast<int>(precision.launches));
  std::printf("%zu launches touched %zu bytes of %zu foretold, wrote %zu, %zu of them foretold\n",
              precision.launches, precision.touched, precision.foretold, precision.written,
              precision.overwritten);
  EXPECT_GT(precision.overwritten * 10, precision.written);
}

}  // namespace
}  // namespace weft::test
