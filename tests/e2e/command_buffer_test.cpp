// Kernels that were recorded in a command buffer, on a unified device divided and placed as those
// that are enqueued.
#include "tests/conformance/command_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "api/cl_weft_ext.h"
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t items = 4096, group = 16;

constexpr char source[] = R"(
kernel void smooth(global const int* in, global int* out) {
  const int i = get_global_id(0), n = get_global_size(0);
  out[i] = in[i] * 3 + in[i == 0 ? 0 : i - 1] + in[i == n - 1 ? i : i + 1];
}
kernel void scatter(global const int* in, global int* out) {
  const int i = get_global_id(0);
  out[i * 331 % (int)get_global_size(0)] = in[i] + i;
}
kernel void sum(global const int* in, global int* total) {
  atomic_add(total, in[get_global_id(0)]);
}
kernel void collect(global const int* in, global int* list) {
  if (in[get_global_id(0)] == 5) list[1 + atomic_inc(list)] = get_global_id(0);
}
)";

using Ints = std::vector<cl_int>;
using Points = std::vector<cl_sync_point_khr>;

class RecordedKernels : public Programs {
 protected:
  OwnedCommandBuffer recordingOn(cl_command_queue on) const {
    cl_int code = CL_SUCCESS;
    OwnedCommandBuffer made(buffers().create(1, &on, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  cl_sync_point_khr record(cl_command_buffer_khr into, const char* name, const OwnedMem& from,
                           const OwnedMem& to, const Points& waits = {},
                           size_t count = items) const {
    const OwnedKernel made = kernel(program, name);
    set(made, from, to);
    cl_sync_point_khr point = 0;
    EXPECT_EQ(buffers().launch(into, nullptr, nullptr, made, 1, nullptr, &count, &group,
                               static_cast<cl_uint>(waits.size()),
                               waits.empty() ? nullptr : waits.data(), &point, nullptr),
              CL_SUCCESS);
    return point;
  }
  void run(cl_command_buffer_khr commands, cl_command_queue on) const {
    ASSERT_EQ(buffers().enqueue(1, &on, commands, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
  }

  OwnedProgram program = built(source);
  OwnedQueue unordered = makeQueue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
};

// Exact ones and those that are merged, in diamonds, again and again.
TEST_F(RecordedKernels, DoWhatTheyWouldInAQueue) {
  Ints x(items), y(items), z(items);
  std::iota(x.begin(), x.end(), 1);
  for (const cl_command_queue on : {cl_command_queue(queue), cl_command_queue(unordered)}) {
    const OwnedMem a = upload(x), b = upload(y), c = upload(z), total = upload(Ints(1));
    const OwnedCommandBuffer commands = recordingOn(on);
    const auto smoothed = record(commands, "smooth", a, b);
    const auto scattered = record(commands, "scatter", a, c);
    const auto summed = record(commands, "sum", b, total, {smoothed});
    record(commands, "smooth", c, a, {smoothed, scattered, summed});
    ASSERT_EQ(buffers().finalize(commands), CL_SUCCESS);
    Ints in = x;
    cl_int sum = 0;
    for (int round = 0; round < 6; ++round) {
      const auto smooth = [](const Ints& from, Ints& to) {
        for (size_t i = 0; i < items; ++i)
          to[i] = cl_int(cl_uint(from[i]) * 3 + cl_uint(from[i == 0 ? 0 : i - 1]) +
                         cl_uint(from[std::min(i + 1, items - 1)]));
      };
      smooth(in, y);
      for (size_t i = 0; i < items; ++i) z[i * 331 % items] = cl_int(cl_uint(in[i]) + cl_uint(i));
      for (const cl_int value : y) sum = cl_int(cl_uint(sum) + cl_uint(value));
      smooth(z, in);
      run(commands, round % 2 ? cl_command_queue(queue) : cl_command_queue(unordered));
      ASSERT_EQ(download<cl_int>(a), in) << round;
      ASSERT_EQ(download<cl_int>(b), y) << round;
      ASSERT_EQ(download<cl_int>(c), z) << round;
      ASSERT_EQ(download<cl_int>(total), Ints{sum}) << round;
    }
  }
}

// What one part alone finds need not run again; what two find does.
TEST_F(RecordedKernels, CollectWhatTheyFind) {
  for (const size_t found : {1, 2}) {
    Ints in(items);
    in[items / 16] = 5;
    if (found == 2) in[items - 1] = 5;
    const OwnedMem a = upload(in), list = upload(Ints(items + 1));
    const OwnedCommandBuffer commands = recordingOn(queue);
    const cl_int zero = 0;
    ASSERT_EQ(buffers().fillBuffer(commands, nullptr, nullptr, list, &zero, sizeof zero, 0,
                                   sizeof zero, 0, nullptr, nullptr, nullptr),
              CL_SUCCESS);
    record(commands, "collect", a, list);
    ASSERT_EQ(buffers().finalize(commands), CL_SUCCESS);
    for (int round = 0; round < 4; ++round) {
      run(commands, queue);
      const Ints listed = download<cl_int>(list);
      ASSERT_EQ(listed[0], cl_int(found));
      Ints places(listed.begin() + 1, listed.begin() + 1 + listed[0]);
      std::ranges::sort(places);
      ASSERT_EQ(places[0], cl_int(items / 16));
      ASSERT_EQ(places.back(), cl_int(found == 2 ? items - 1 : items / 16));
    }
  }
}

TEST_F(RecordedKernels, AreDividedOverMembers) {
  const std::string extensions = listOf<char>(testDevice(), CL_DEVICE_EXTENSIONS).data();
  if (extensions.find(CL_WEFT_UNIFIED_DEVICE_EXTENSION_NAME) == std::string::npos)
    GTEST_SKIP() << "the device is not a unified one";
  if (std::getenv("WEFT_CHECK_SPLIT")) GTEST_SKIP() << "each kernel runs twice";
  const auto members = listOf<cl_device_id>(testDevice(), CL_DEVICE_MEMBERS_WEFT);
  const cl_queue_properties properties[] = {CL_QUEUE_SPLIT_POLICY_WEFT, CL_SPLIT_POLICY_ALWAYS_WEFT,
                                            0};
  cl_int code = CL_SUCCESS;
  const OwnedQueue own(
      cl.clCreateCommandQueueWithProperties(context, testDevice(), properties, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const bool alike = std::ranges::all_of(members, [&](cl_device_id member) {
    return listOf<char>(member, CL_DEVICE_NAME) == listOf<char>(members.front(), CL_DEVICE_NAME);
  });
  // Enough for each member, GPUs included.
  constexpr size_t many = size_t{1} << 18;
  const OwnedMem a = upload(Ints(many, 1)), b = upload(Ints(many));
  const OwnedCommandBuffer commands = recordingOn(own);
  record(commands, "smooth", a, b, {}, many);
  record(commands, "scatter", b, a, {}, many);
  ASSERT_EQ(buffers().finalize(commands), CL_SUCCESS);
  cl_command_queue on = own;
  OwnedEvent ended;
  ASSERT_EQ(buffers().enqueue(1, &on, commands, 0, nullptr, ended.out()), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(own), CL_SUCCESS);
  size_t size = 0;
  ASSERT_EQ(cl.clGetEventInfo(ended, CL_EVENT_PARTS_WEFT, 0, nullptr, &size), CL_SUCCESS);
  std::vector<cl_event_part_weft> parts(size / sizeof(cl_event_part_weft));
  ASSERT_EQ(cl.clGetEventInfo(ended, CL_EVENT_PARTS_WEFT, size, parts.data(), nullptr), CL_SUCCESS);
  // Of two kernels, in their order; a member that is much slower may have nothing to do.
  EXPECT_GE(parts.size(), alike ? 4u : 2u);
  size_t groups = 0;
  for (const cl_event_part_weft& part : parts) {
    EXPECT_EQ(part.first_group[0], groups % (many / group));
    groups += part.group_count[0];
    EXPECT_NE(std::ranges::find(members, part.device), members.end());
  }
  EXPECT_EQ(groups, 2 * many / group);
  Ints expected(many);
  for (size_t i = 0; i < many; ++i) expected[i * 331 % many] = cl_int(5 + i);
  EXPECT_EQ(download<cl_int>(a), expected);
}

}  // namespace
}  // namespace weft::e2e
