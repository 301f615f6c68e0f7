// Random programs on buffers and their sub-buffers, in queues of both kinds on every device of a
// context: kernels, copies, fills, maps, and command buffers of them. Commands that meet are
// ordered by events, and everything is compared with the same done one after the other.
#include <algorithm>
#include <deque>
#include <random>

#include "tests/conformance/command_buffer.h"
#include "tests/e2e/several_devices.h"

namespace weft::e2e {
namespace {

constexpr char source[] = R"(
kernel void scale(global uint* to, uint to_at, global const uint* from, uint from_at, uint by) {
  const uint i = get_global_id(0);
  to[to_at + i] = from[from_at + i] * by + i;
}
kernel void some(global uint* to, uint to_at, global const uint* from, uint from_at, uint by) {
  const uint i = get_global_id(0);
  if ((i * by >> 4) & 1) to[to_at + i] = from[from_at + i] + by;
}
)";

using Numbers = std::vector<cl_uint>;

struct Use {
  size_t object, begin, end;  // elements
  bool writes;
};
using Uses = std::vector<Use>;

bool meet(const Uses& one, const Uses& other) {
  for (const Use& a : one)
    for (const Use& b : other)
      if (a.object == b.object && (a.writes || b.writes) && a.begin < b.end && b.begin < a.end)
        return true;
  return false;
}

// What can be enqueued or recorded. Kernels may have one object as both arguments.
struct Step {
  enum class Kind : uint8_t { scale, some, fill, copy };
  Kind kind;
  size_t to, to_at, from, from_at, count;
  cl_uint by;

  bool isKernel() const { return kind == Kind::scale || kind == Kind::some; }
  Uses uses() const {
    Uses all{{to, to_at, to_at + count, true}};
    if (kind != Kind::fill) all.push_back({from, from_at, from_at + count, false});
    return all;
  }
  void apply(std::vector<Numbers>& model) const {
    const Numbers in(model[from].begin() + std::ptrdiff_t(from_at),
                     model[from].begin() + std::ptrdiff_t(from_at + count));
    for (cl_uint i = 0; i < count; ++i) {
      cl_uint& out = model[to][to_at + i];
      if (kind == Kind::scale) out = in[i] * by + i;
      if (kind == Kind::some && (i * by >> 4) & 1) out = in[i] + by;
      if (kind == Kind::fill) out = by;
      if (kind == Kind::copy) out = in[i];
    }
  }
};

struct Recorded {
  OwnedCommandBuffer commands;
  std::vector<Step> steps;
  cl_command_queue queue;
};

class RandomCommands : public SeveralDevices {
 protected:
  static constexpr size_t objects = 3, parts = 4;
  static constexpr std::array<size_t, objects> sizes{700, 1024, 3000};

  void SetUp() override {
    useDevices();
    program = built(source);
    for (const cl_device_id device : devices) {
      cl_int code = 1;
      queues.emplace_back(
          cl.clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code));
      ASSERT_EQ(code, CL_SUCCESS);
    }
  }

  size_t below(size_t limit) { return random() % limit; }
  cl_command_queue anyQueue() { return queues[below(queues.size())]; }

  void begin(uint32_t seed) {
    random.seed(seed);
    done.clear();
    reads.clear();
    model.clear();
    memory.clear();
    windows.clear();
    for (const size_t size : sizes) {
      Numbers numbers(size);
      for (cl_uint& number : numbers) number = static_cast<cl_uint>(random());
      memory.push_back(upload(numbers));
      model.push_back(std::move(numbers));
      // Of the first elements, up to some parts of them.
      auto& own = windows.emplace_back();
      for (size_t i = 1; i <= parts; ++i)
        own.push_back(makeSubBuffer(memory.back(), 0, size / parts * i * sizeof(cl_uint)));
    }
  }

  // The object, or a sub-buffer that has the elements up to `end`.
  cl_mem part(size_t object, size_t end) {
    const size_t i = below(parts + 1);
    return i < parts && end <= sizes[object] / parts * (i + 1) ? windows[object][i]
                                                               : memory[object];
  }

  Step anyStep() {
    Step step{static_cast<Step::Kind>(below(4)), below(objects), 0, below(objects), 0, 0, 0};
    const size_t most = std::min(sizes[step.to], sizes[step.from]);
    step.count = below(3) ? 1 + below(most) : most;
    step.to_at = below(sizes[step.to] - step.count + 1);
    step.from_at = below(sizes[step.from] - step.count + 1);
    step.by = static_cast<cl_uint>(random()) | 1;
    const Uses uses = step.uses();
    const bool overlap = meet({uses.front()}, {uses.back()}) && uses.size() == 2;
    if (overlap && !step.isKernel()) step.kind = Step::Kind::fill;
    if (overlap) step.from_at = step.to_at;
    return step;
  }

  // With its arguments set.
  OwnedKernel kernelOf(const Step& step) {
    OwnedKernel made = kernel(program, step.kind == Step::Kind::scale ? "scale" : "some");
    set(made, part(step.to, step.to_at + step.count), cl_uint(step.to_at),
        part(step.from, step.from_at + step.count), cl_uint(step.from_at), step.by);
    return made;
  }

  // Of what was enqueued before and meets with it.
  std::vector<cl_event> waits(const Uses& uses) {
    std::vector<cl_event> events;
    for (const auto& [earlier, event] : done)
      if (meet(earlier, uses)) events.push_back(event);
    return events;
  }
  // Calls `function` with the wait list and where the event goes.
  template <class F>
  void enqueue(const Uses& uses, F&& function) {
    const std::vector<cl_event> list = waits(uses);
    OwnedEvent event;
    ASSERT_EQ(function(cl_uint(list.size()), list.empty() ? nullptr : list.data(), event.out()),
              CL_SUCCESS);
    done.emplace_back(uses, std::move(event));
  }

  void run(const Step& step) {
    const cl_command_queue on = anyQueue();
    const size_t to = step.to_at * sizeof(cl_uint), bytes = step.count * sizeof(cl_uint);
    enqueue(step.uses(), [&](cl_uint count, const cl_event* list, cl_event* event) {
      if (step.isKernel())
        return cl.clEnqueueNDRangeKernel(on, kernelOf(step), 1, nullptr, &step.count, nullptr,
                                         count, list, event);
      const cl_mem target = part(step.to, step.to_at + step.count);
      if (step.kind == Step::Kind::fill)
        return cl.clEnqueueFillBuffer(on, target, &step.by, sizeof step.by, to, bytes, count, list,
                                      event);
      return cl.clEnqueueCopyBuffer(on, memory[step.from], memory[step.to],
                                    step.from_at * sizeof(cl_uint), to, bytes, count, list, event);
    });
    step.apply(model);
  }

  void read() {
    const size_t object = below(objects), begin = below(sizes[object]);
    const size_t count = 1 + below(sizes[object] - begin);
    const auto from = model[object].begin() + std::ptrdiff_t(begin);
    auto& [got, expected] =
        reads.emplace_back(Numbers(count), Numbers(from, from + std::ptrdiff_t(count)));
    enqueue({{object, begin, begin + count, false}}, [&](cl_uint waiting, const cl_event* list,
                                                         cl_event* event) {
      return cl.clEnqueueReadBuffer(anyQueue(), memory[object], CL_FALSE, begin * sizeof(cl_uint),
                                    count * sizeof(cl_uint), got.data(), waiting, list, event);
    });
  }

  void map() {
    const size_t object = below(objects), begin = below(sizes[object]);
    const size_t count = 1 + below(sizes[object] - begin), bytes = count * sizeof(cl_uint);
    const Uses uses{{object, begin, begin + count, true}};
    const bool keeps = below(2);
    cl_uint* mapped = nullptr;
    enqueue(uses, [&](cl_uint waiting, const cl_event* list, cl_event* event) {
      cl_int code = 1;
      mapped = static_cast<cl_uint*>(
          cl.clEnqueueMapBuffer(anyQueue(), memory[object], CL_TRUE,
                                keeps ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION,
                                begin * sizeof(cl_uint), bytes, waiting, list, event, &code));
      return code;
    });
    ASSERT_NE(mapped, nullptr);
    for (size_t i = 0; i < count; ++i) {
      cl_uint& number = model[object][begin + i];
      if (keeps) {
        EXPECT_EQ(mapped[i], number) << object << ", " << begin + i;
      }
      if (!keeps || below(2)) number = mapped[i] = static_cast<cl_uint>(random());
    }
    enqueue(uses, [&](cl_uint waiting, const cl_event* list, cl_event* event) {
      return cl.clEnqueueUnmapMemObject(anyQueue(), memory[object], mapped, waiting, list, event);
    });
  }

  cl_sync_point_khr record(cl_command_buffer_khr into, const Step& step,
                           const std::vector<cl_sync_point_khr>& points) {
    const cl_uint count = cl_uint(points.size());
    const cl_sync_point_khr* const list = points.empty() ? nullptr : points.data();
    const size_t to = step.to_at * sizeof(cl_uint), bytes = step.count * sizeof(cl_uint);
    cl_sync_point_khr point = 0;
    cl_int code = 1;
    if (step.isKernel())
      code = buffers().launch(into, nullptr, nullptr, kernelOf(step), 1, nullptr, &step.count,
                              nullptr, count, list, &point, nullptr);
    else if (step.kind == Step::Kind::fill)
      code = buffers().fillBuffer(into, nullptr, nullptr, memory[step.to], &step.by, sizeof step.by,
                                  to, bytes, count, list, &point, nullptr);
    else
      code = buffers().copyBuffer(into, nullptr, nullptr, memory[step.from], memory[step.to],
                                  step.from_at * sizeof(cl_uint), to, bytes, count, list, &point,
                                  nullptr);
    EXPECT_EQ(code, CL_SUCCESS);
    return point;
  }
  Recorded recorded() {
    const cl_command_queue on = anyQueue();
    cl_int code = 1;
    const cl_command_buffer_properties_khr list[] = {khr::buffer_flags, khr::flag_simultaneous_use,
                                                     0};
    Recorded made{OwnedCommandBuffer(buffers().create(1, &on, list, &code)), {}, on};
    EXPECT_EQ(code, CL_SUCCESS);
    std::vector<cl_sync_point_khr> points;
    for (size_t i = 0, count = 1 + below(6); i < count; ++i) {
      const Step step = anyStep();
      std::vector<cl_sync_point_khr> after;
      for (size_t j = 0; j < i; ++j)
        if (meet(made.steps[j].uses(), step.uses())) after.push_back(points[j]);
      points.push_back(record(made.commands, step, after));
      made.steps.push_back(step);
    }
    EXPECT_EQ(buffers().finalize(made.commands), CL_SUCCESS);
    return made;
  }
  void run(const Recorded& what) {
    Uses uses;
    for (const Step& step : what.steps) std::ranges::copy(step.uses(), std::back_inserter(uses));
    enqueue(uses, [&](cl_uint count, const cl_event* list, cl_event* event) {
      return buffers().enqueue(0, nullptr, what.commands, count, list, event);
    });
    for (const Step& step : what.steps) step.apply(model);
  }

  void compare() {
    for (const OwnedQueue& each : queues) ASSERT_EQ(cl.clFinish(each), CL_SUCCESS);
    for (const auto& [got, expected] : reads) ASSERT_EQ(got, expected);
    for (size_t i = 0; i < objects; ++i) {
      Numbers got(sizes[i]);
      ASSERT_EQ(cl.clEnqueueReadBuffer(anyQueue(), memory[i], CL_TRUE, 0,
                                       sizes[i] * sizeof(cl_uint), got.data(), 0, nullptr, nullptr),
                CL_SUCCESS);
      ASSERT_EQ(got, model[i]) << i;
    }
  }

  OwnedProgram program;
  std::mt19937 random;
  std::vector<Numbers> model;
  std::vector<OwnedMem> memory;
  std::vector<std::vector<OwnedMem>> windows;
  std::vector<std::pair<Uses, OwnedEvent>> done;
  std::deque<std::pair<Numbers, Numbers>> reads;  // what came, what should
};

TEST_F(RandomCommands, DoWhatTheyWouldOneAfterTheOther) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    begin(seed);
    std::vector<Recorded> recordings;
    for (int i = 0; i < 2; ++i) recordings.push_back(recorded());
    for (int i = 0; i < 60; ++i) {
      const size_t kind = below(10);
      if (kind < 5) run(anyStep());
      if (kind == 5) read();
      if (kind == 6) map();
      if (kind > 6) run(recordings[below(recordings.size())]);
      if (HasFatalFailure()) return;
    }
    compare();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weft::e2e
