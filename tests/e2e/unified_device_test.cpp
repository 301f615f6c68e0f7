// cl_weft_unified_device: what a unified device says of itself, of kernels and of commands.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "api/cl_weft_ext.h"
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class UnifiedDevices : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (IsSkipped()) return;
    const std::string extensions = listOf<char>(testDevice(), CL_DEVICE_EXTENSIONS).data();
    if (extensions.find(CL_WEFT_UNIFIED_DEVICE_EXTENSION_NAME) == std::string::npos)
      GTEST_SKIP() << "the device is not a unified one";
    split_info_ = reinterpret_cast<clGetKernelSplitInfoWEFT_fn>(
        cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), "clGetKernelSplitInfoWEFT"));
    ASSERT_NE(split_info_, nullptr);
  }

  // Of a launch over 1024 work-items in groups of 16.
  cl_int splitInfo(cl_kernel kernel, cl_uint what, size_t size, void* value,
                   size_t* size_ret = nullptr, cl_uint dimensions = 1) const {
    const size_t global[] = {1024, 1, 1}, local[] = {16, 1, 1};
    return split_info_(queue, kernel, dimensions, nullptr, global, local, what, size, value,
                       size_ret);
  }
  cl_split_class_weft classOf(cl_kernel kernel) const {
    cl_split_class_weft answer = ~0u;
    EXPECT_EQ(splitInfo(kernel, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer), CL_SUCCESS);
    return answer;
  }
  std::string reasonOf(cl_kernel kernel) const {
    size_t size = 0;
    EXPECT_EQ(splitInfo(kernel, CL_KERNEL_SPLIT_REASON_WEFT, 0, nullptr, &size), CL_SUCCESS);
    std::string reason(size, '?');
    EXPECT_EQ(splitInfo(kernel, CL_KERNEL_SPLIT_REASON_WEFT, size, reason.data()), CL_SUCCESS);
    return reason.substr(0, size - 1);
  }
  OwnedKernel kernelOf(const char* body) const {
    return kernel(
        built(("kernel void k(global int* a, global int* b) { int i = get_global_id(0); " +
               std::string(body) + " }")
                  .c_str()),
        "k");
  }

  clGetKernelSplitInfoWEFT_fn split_info_ = nullptr;
};

TEST_F(UnifiedDevices, SayHowAKernelIsSplit) {
  const OwnedMem a = upload(std::vector<cl_int>(1024)), b = upload(std::vector<cl_int>(1024));
  const OwnedKernel exact = kernelOf("a[i] = b[1023 - i];");
  set(exact, a, b);
  EXPECT_EQ(classOf(exact), cl_split_class_weft{CL_SPLIT_CLASS_EXACT_WEFT});
  EXPECT_EQ(reasonOf(exact), "");
  const OwnedKernel whole = kernelOf("if (b[i]) while (atomic_or(a, 0) != i) {}");
  set(whole, a, b);
  EXPECT_EQ(classOf(whole), cl_split_class_weft{CL_SPLIT_CLASS_WHOLE_WEFT});
  EXPECT_EQ(reasonOf(whole), "loops that depend on atomics on global memory");
  const OwnedKernel merge = kernelOf("if (b[i] == 7) a[atomic_inc(a)] = i;");
  set(merge, a, b);
  EXPECT_EQ(classOf(merge), cl_split_class_weft{CL_SPLIT_CLASS_MERGE_WEFT});
  EXPECT_EQ(reasonOf(merge), "atomics on global memory");
}

TEST_F(UnifiedDevices, NameTheirMembers) {
  const auto members = listOf<cl_device_id>(testDevice(), CL_DEVICE_MEMBERS_WEFT);
  EXPECT_GE(members.size(), 2u);
  for (const cl_device_id member : members)
    EXPECT_TRUE(listOf<cl_device_id>(member, CL_DEVICE_MEMBERS_WEFT).empty());
}

// Each work-group was run by one member; or, of a queue that never divides, nothing is said.
TEST_F(UnifiedDevices, SayWhereACommandRan) {
  if (std::getenv("WEFT_CHECK_SPLIT")) GTEST_SKIP() << "each kernel runs twice";
  const auto members = listOf<cl_device_id>(testDevice(), CL_DEVICE_MEMBERS_WEFT);
  const auto nameOf = [](cl_device_id member) {
    return std::string(listOf<char>(member, CL_DEVICE_NAME).data());
  };
  const bool alike = std::ranges::all_of(
      members, [&](cl_device_id member) { return nameOf(member) == nameOf(members.front()); });
  // Enough for each of them, GPUs included.
  const size_t global = size_t{1} << 18, local = 64;
  const OwnedMem a = upload(std::vector<cl_int>(global)), b = upload(std::vector<cl_int>(global));
  const OwnedKernel k = kernelOf("a[i] = b[i];");
  set(k, a, b);
  for (const cl_split_policy_weft policy :
       {CL_SPLIT_POLICY_ALWAYS_WEFT, CL_SPLIT_POLICY_AUTO_WEFT, CL_SPLIT_POLICY_NEVER_WEFT}) {
    const cl_queue_properties properties[] = {CL_QUEUE_SPLIT_POLICY_WEFT, policy, 0};
    cl_int code = CL_SUCCESS;
    const OwnedQueue own(
        cl.clCreateCommandQueueWithProperties(context, testDevice(), properties, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const cl_command_queue handle = own;
    EXPECT_EQ(
        info<cl_split_policy_weft>(cl.clGetCommandQueueInfo, handle, CL_QUEUE_SPLIT_POLICY_WEFT),
        policy);
    cl_event event = nullptr;
    const OwnedEvent gate(cl.clCreateUserEvent(context, &code));
    const cl_event wait = gate;
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(own, k, 1, nullptr, &global, &local, 1, &wait, &event),
              CL_SUCCESS);
    const OwnedEvent ended(event);
    size_t size = 0;
    EXPECT_EQ(cl.clGetEventInfo(ended, CL_EVENT_PARTS_WEFT, 0, nullptr, &size),
              CL_PROFILING_INFO_NOT_AVAILABLE);
    ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(own), CL_SUCCESS);
    ASSERT_EQ(cl.clGetEventInfo(ended, CL_EVENT_PARTS_WEFT, 0, nullptr, &size), CL_SUCCESS);
    std::vector<cl_event_part_weft> parts(size / sizeof(cl_event_part_weft));
    ASSERT_EQ(cl.clGetEventInfo(ended, CL_EVENT_PARTS_WEFT, size, parts.data(), nullptr),
              CL_SUCCESS);
    EXPECT_EQ(parts.empty(), policy == CL_SPLIT_POLICY_NEVER_WEFT);
    if (policy == CL_SPLIT_POLICY_ALWAYS_WEFT) {
      // One that is much slower than the others may have nothing to do.
      EXPECT_GE(parts.size(), alike ? 2u : 1u);
    }
    size_t next = 0;
    for (const cl_event_part_weft& part : parts) {
      EXPECT_EQ(part.first_group[0], next);
      EXPECT_EQ(part.group_count[1], 1u);
      next += part.group_count[0];
      EXPECT_NE(std::find(members.begin(), members.end(), part.device), members.end());
    }
    EXPECT_EQ(next, parts.empty() ? 0 : global / local);
  }
}

TEST_F(UnifiedDevices, RefusePoliciesThatAreNone) {
  const auto createOn = [&](cl_device_id device, cl_context in, cl_queue_properties policy) {
    const cl_queue_properties properties[] = {CL_QUEUE_SPLIT_POLICY_WEFT, policy, 0};
    cl_int code = CL_SUCCESS;
    const OwnedQueue made(cl.clCreateCommandQueueWithProperties(in, device, properties, &code));
    return code;
  };
  EXPECT_EQ(createOn(testDevice(), context, 3), CL_INVALID_VALUE);
  const cl_device_id member = listOf<cl_device_id>(testDevice(), CL_DEVICE_MEMBERS_WEFT).front();
  cl_int code = CL_SUCCESS;
  const OwnedContext other(cl.clCreateContext(nullptr, 1, &member, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(createOn(member, other, CL_SPLIT_POLICY_NEVER_WEFT), CL_INVALID_QUEUE_PROPERTIES);
}

// 1024 work-items, several times, because parts are cut at random places.
constexpr int launches = 5;

TEST_F(UnifiedDevices, MergeWhatPartsScatter) {
  std::vector<cl_int> to(1024), values(1024);
  std::iota(values.begin(), values.end(), 1);
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<cl_int>(i * 331 % 1024);
  const OwnedMem places = upload(to);
  const OwnedKernel scatter = kernelOf("if (i % 3) a[b[i]] += i; else a[b[i]] = a[b[i]];");
  const OwnedMem a = upload(values);
  set(scatter, a, places);
  EXPECT_EQ(classOf(scatter), cl_split_class_weft{CL_SPLIT_CLASS_MERGE_WEFT});
  for (int launch = 0; launch < launches; ++launch) {
    run(scatter, {{1024}, {16}});
    for (int i = 0; i < 1024; ++i)
      if (i % 3) values[size_t(to[size_t(i)])] += i;
    ASSERT_EQ(download<cl_int>(a), values);
  }
}

// With one buffer behind both arguments it is merged, in blocks of columns; with two of them one is
// written in rows, too many to keep account of unless they are the blocks. Their number is another
// one.
TEST_F(UnifiedDevices, CutOneKernelAlongEitherDimension) {
  constexpr size_t width = 48, rows = 320;
  const OwnedKernel k = kernel(built("kernel void k(global int* a, global int* b) {\n"
                                     "  int i = get_global_id(1) * 48 + get_global_id(0);\n"
                                     "  a[i] += i;\n"
                                     "  b[16000] = 7;\n"
                                     "}\n"),
                               "k");
  const cl_queue_properties properties[] = {CL_QUEUE_SPLIT_POLICY_WEFT, CL_SPLIT_POLICY_ALWAYS_WEFT,
                                            0};
  cl_int code = CL_SUCCESS;
  const OwnedQueue own(
      cl.clCreateCommandQueueWithProperties(context, testDevice(), properties, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  std::vector<cl_int> first(16384, 1), second(16384, 2);
  const OwnedMem a = upload(first), b = upload(second);
  const auto launch = [&](cl_mem one, std::vector<cl_int>& values, cl_mem other) {
    set(k, one, other);
    const size_t global[] = {width, rows}, local[] = {2, 16};
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(own, k, 2, nullptr, global, local, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(own), CL_SUCCESS);
    for (size_t i = 0; i < width * rows; ++i) values[i] += static_cast<cl_int>(i);
  };
  for (int round = 0; round < 3; ++round) {
    launch(a, first, b);
    second[16000] = 7;
    ASSERT_EQ(download<cl_int>(a), first) << round;
    ASSERT_EQ(download<cl_int>(b), second) << round;
    launch(b, second, b);
    ASSERT_EQ(download<cl_int>(b), second) << round;
  }
}

// A sub-buffer is merged, what is beside it is not touched, and bytes stay apart.
TEST_F(UnifiedDevices, MergeSubBuffersBytewise) {
  const auto align = deviceInfo<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  const OwnedKernel bytes = kernel(built("kernel void k(global uchar* a, global const int* b) {"
                                         " int i = get_global_id(0); a[b[i]] = i; }"),
                                   "k");
  std::vector<cl_int> to(1024);
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<cl_int>(i * 3 % 1024);
  std::vector<cl_uchar> all(align + 1100, 7);
  const OwnedMem whole = upload(all), places = upload(to);
  const cl_buffer_region region{align, 1024};
  cl_int code = CL_SUCCESS;
  const OwnedMem part(
      cl.clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  set(bytes, part, places);
  EXPECT_EQ(classOf(bytes), cl_split_class_weft{CL_SPLIT_CLASS_MERGE_WEFT});
  for (size_t i = 0; i < 1024; ++i) all[align + size_t(to[i])] = static_cast<cl_uchar>(i);
  for (int launch = 0; launch < launches; ++launch) {
    run(bytes, {{1024}, {16}});
    ASSERT_EQ(download<cl_uchar>(whole), all);
  }
}

// Two groups write each place: whoever is taken, none of its bytes are the other's.
TEST_F(UnifiedDevices, TearNoStoreWhenTheyMerge) {
  constexpr cl_int one = 0x12345678, other = 0x5600ff00;
  const OwnedKernel race = kernelOf("a[b[i]] = i & 64 ? 0x12345678 : 0x5600ff00;");
  std::vector<cl_int> to(1024);
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<cl_int>(i % 64);
  const OwnedMem places = upload(to);
  for (int launch = 0; launch < 4 * launches; ++launch) {
    const OwnedMem a = upload(std::vector<cl_int>(64));
    set(race, a, places);
    run(race, {{1024}, {16}});
    for (const cl_int value : download<cl_int>(a)) ASSERT_TRUE(value == one || value == other);
  }
}

struct Combined {
  const char* name;
  const char* body;
  cl_int start;
  cl_int (*step)(cl_int sum, cl_int i);
};
const Combined combined[] = {
    {"add", "atomic_add(&a[b[i]], i);", 5, [](cl_int s, cl_int i) { return s + i; }},
    {"sub and inc", "atomic_sub(&a[b[i]], i); atomic_inc(&a[b[i]]);", 5,
     [](cl_int s, cl_int i) { return s - i + 1; }},
    {"min", "atomic_min(&a[b[i]], 500 - i);", 100,
     [](cl_int s, cl_int i) { return std::min(s, 500 - i); }},
    {"max", "atomic_max(&a[b[i]], i - 500);", -7,
     [](cl_int s, cl_int i) { return std::max(s, i - 500); }},
    {"and", "atomic_and(&a[b[i]], ~(i << 3));", -1,
     [](cl_int s, cl_int i) { return s & ~(i << 3); }},
    {"or", "atomic_or(&a[b[i]], i << 3);", 1, [](cl_int s, cl_int i) { return s | i << 3; }},
    {"xor", "atomic_xor(&a[b[i]], i << 3);", 1, [](cl_int s, cl_int i) { return s ^ i << 3; }},
};

TEST_F(UnifiedDevices, CombineAtomicsOfAllParts) {
  std::vector<cl_int> to(1024);
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<cl_int>(i * 331 % 16);
  const OwnedMem places = upload(to);
  for (const Combined& c : combined) {
    SCOPED_TRACE(c.name);
    const OwnedKernel k = kernelOf(c.body);
    std::vector<cl_int> expected(16, c.start);
    const OwnedMem a = upload(expected);
    set(k, a, places);
    EXPECT_EQ(classOf(k), cl_split_class_weft{CL_SPLIT_CLASS_MERGE_WEFT});
    for (int launch = 0; launch < launches; ++launch) {
      run(k, {{1024}, {16}});
      for (cl_int i = 0; i < 1024; ++i) {
        cl_int& sum = expected[size_t(to[size_t(i)])];
        sum = c.step(sum, i);
      }
      ASSERT_EQ(download<cl_int>(a), expected);
    }
  }
}

TEST_F(UnifiedDevices, AnswerFalseQuestionsWithErrors) {
  const OwnedMem a = upload(std::vector<cl_int>(1024)), b = upload(std::vector<cl_int>(1024));
  const OwnedKernel k = kernelOf("a[i] = b[i];");
  cl_split_class_weft answer = 0;
  EXPECT_EQ(splitInfo(k, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer),
            CL_INVALID_KERNEL_ARGS);
  set(k, a, b);
  EXPECT_EQ(splitInfo(k, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer - 1, &answer), CL_INVALID_VALUE);
  EXPECT_EQ(splitInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof answer, &answer), CL_INVALID_VALUE);
  EXPECT_EQ(splitInfo(k, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer, nullptr, 4),
            CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(splitInfo(nullptr, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer),
            CL_INVALID_KERNEL);
  EXPECT_EQ(split_info_(nullptr, k, 1, nullptr, nullptr, nullptr, CL_KERNEL_SPLIT_CLASS_WEFT, 0,
                        nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
}

}  // namespace
}  // namespace weft::e2e
