// Where a work-item stands: sizes, offsets, non-uniform groups.
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t fields = 18;

// Every builtin of the family, for each work-item.
constexpr char record_source[] =
    "kernel void record(global ulong* out) {\n"
    "  size_t row = get_global_id(0) - get_global_offset(0), size = get_global_size(0);\n"
    "  row += size * (get_global_id(1) - get_global_offset(1));\n"
    "  row += size * get_global_size(1) * (get_global_id(2) - get_global_offset(2));\n"
    "  out += row * 18;\n"
    "  for (uint d = 0; d < 3; ++d) {\n"
    "    out[d] = get_global_id(d); out[3 + d] = get_local_id(d); out[6 + d] = get_group_id(d);\n"
    "    out[9 + d] = get_local_size(d); out[12 + d] = get_num_groups(d);\n"
    "  }\n"
    "  out[15] = get_work_dim();\n"
    "  out[16] = get_global_id(3) + get_local_id(3) + get_group_id(7) + get_global_offset(9);\n"
    "  out[17] = get_global_size(3) * get_local_size(3) * get_num_groups(1000000);\n"
    "}\n";

class NDRanges : public Programs {
 protected:
  // Runs `record` and checks each work-item against the definition.
  void check(cl_kernel record, const Range& range) {
    const size_t dimensions = range.global.size();
    size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1}, offset[3] = {0, 0, 0};
    for (size_t d = 0; d < dimensions; ++d) {
      global[d] = range.global[d];
      local[d] = range.local[d];
      if (!range.offset.empty()) offset[d] = range.offset[d];
    }
    const size_t items = global[0] * global[1] * global[2];
    const OwnedMem out = upload(std::vector<cl_ulong>(items * fields, 0xee));
    set(record, out);
    run(record, range);
    const auto rows = download<cl_ulong>(out);
    for (size_t i = 0; i < items; ++i) {
      const size_t at[3] = {i % global[0], i / global[0] % global[1], i / global[0] / global[1]};
      const cl_ulong* row = rows.data() + i * fields;
      for (size_t d = 0; d < 3; ++d) {
        const size_t group = at[d] / local[d];
        ASSERT_EQ(row[d], at[d] + offset[d]) << "id " << i << " dimension " << d;
        ASSERT_EQ(row[3 + d], at[d] % local[d]) << "local id " << i;
        ASSERT_EQ(row[6 + d], group) << "group " << i;
        ASSERT_EQ(row[9 + d], std::min(local[d], global[d] - group * local[d]))
            << "local size " << i;
        ASSERT_EQ(row[12 + d], (global[d] + local[d] - 1) / local[d]) << "groups";
      }
      ASSERT_EQ(row[15], dimensions);
      ASSERT_EQ(row[16], 0u);
      ASSERT_EQ(row[17], 1u);
    }
  }
};

TEST_F(NDRanges, OddLocalSizes) {
  const OwnedKernel record = kernel(built(record_source), "record");
  for (const size_t local : {1, 2, 3, 5, 7, 11, 13, 17, 31, 61, 127})
    check(record, {{local * 6}, {local}});
  check(record, {{21, 10}, {7, 5}});
  check(record, {{9, 10, 4}, {3, 5, 2}});
}

TEST_F(NDRanges, GlobalOffsets) {
  const OwnedKernel record = kernel(built(record_source), "record");
  check(record, {{12}, {4}, {100}});
  check(record, {{6, 4}, {3, 2}, {0, 1000}});
  check(record, {{4, 4, 4}, {2, 2, 2}, {1, 2, size_t{1} << 40}});
}

TEST_F(NDRanges, NonUniformGroups) {
  for (const char* standard : {"-cl-std=CL2.0", "-cl-std=CL3.0"}) {
    const OwnedKernel record = kernel(built(record_source, standard), "record");
    check(record, {{10}, {4}});
    check(record, {{1}, {64}});
    check(record, {{127}, {128}});
    check(record, {{7, 5}, {4, 3}, {3, 9}});
    check(record, {{5, 7, 9}, {2, 3, 4}});
  }
}

TEST_F(NDRanges, NonUniformGroupsMustBeAllowed) {
  for (const char* options : {"", "-cl-std=CL1.2", "-cl-std=CL3.0 -cl-uniform-work-group-size"}) {
    const OwnedKernel record = kernel(built(record_source, options), "record");
    const OwnedMem out = upload(std::vector<cl_ulong>(10 * fields));
    set(record, out);
    EXPECT_EQ(enqueue(record, {{10}, {4}}), CL_INVALID_WORK_GROUP_SIZE) << options;
    EXPECT_EQ(enqueue(record, {{10}, {5}}), CL_SUCCESS) << options;
    EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  }
}

// With and without groups that must divide the range, and whether or not kernels can tell.
TEST_F(NDRanges, SizesWithoutDivisors) {
  constexpr char source[] = R"(
    size_t place(void) { return get_global_id(0) + get_global_id(1) * get_global_size(0); }
    kernel void blind(global uint* out) { atomic_inc(out + place()); }
    kernel void seeing(global uint* out) {
      atomic_add(out + place(), get_local_id(0) < get_local_size(0) ? 1 : 2);
    })";
  for (const char* options : {"-cl-std=CL1.2", "-cl-std=CL3.0"}) {
    const OwnedProgram program = built(source, options);
    for (const char* name : {"blind", "seeing"})
      for (const std::vector<size_t>& global :
           {std::vector<size_t>{10007}, {1}, {131, 127}, {134, 3}, {1366, 5}, {3, 1009}}) {
        const size_t items = global[0] * (global.size() > 1 ? global[1] : 1);
        const OwnedMem out = upload(std::vector<cl_uint>(items));
        const OwnedKernel k = kernel(program, name);
        set(k, out);
        run(k, {global});
        EXPECT_EQ(download<cl_uint>(out), std::vector<cl_uint>(items, 1))
            << name << options << global[0];
      }
  }
}

TEST_F(NDRanges, EnqueuedAndLinearSizes) {
  const OwnedProgram program = built(
      "kernel void k(global ulong* out) {\n"
      "  size_t i = get_global_linear_id();\n"
      "  out[3 * i] = get_enqueued_local_size(0); out[3 * i + 1] = get_local_linear_id();\n"
      "  out[3 * i + 2] = get_enqueued_local_size(1); }",
      "-cl-std=CL3.0");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_ulong>(35 * 3));
  set(k, out);
  run(k, {{7, 5}, {4, 3}, {10, 20}});
  const auto values = download<cl_ulong>(out);
  for (size_t y = 0; y < 5; ++y)
    for (size_t x = 0; x < 7; ++x) {
      const size_t i = y * 7 + x, width = x < 4 ? 4 : 3;
      EXPECT_EQ(values[3 * i], 4u);
      EXPECT_EQ(values[3 * i + 1], (y % 3) * width + x % 4) << x << "," << y;
      EXPECT_EQ(values[3 * i + 2], 3u);
    }
}

TEST_F(NDRanges, ChosenByTheRuntime) {
  const OwnedProgram program = built(
      "kernel void k(global int* out) { out[get_global_id(0)] = get_local_size(0) *\n"
      "  get_num_groups(0) == get_global_size(0) ? (int)get_global_id(0) : -1; }");
  const OwnedKernel k = kernel(program, "k");
  for (const size_t size : {1, 2, 97, 1000, 1021, 65536}) {
    const OwnedMem out = upload(std::vector<cl_int>(size, -2));
    set(k, out);
    run(k, {{size}});
    const auto values = download<cl_int>(out);
    for (size_t i = 0; i < size; ++i) ASSERT_EQ(values[i], static_cast<cl_int>(i)) << size;
  }
}

TEST_F(NDRanges, RequiredSizes) {
  const OwnedProgram program = built(
      "kernel __attribute__((reqd_work_group_size(5, 3, 1))) void k(global int* out) {\n"
      "  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] =\n"
      "    get_local_size(0) * 10 + get_local_size(1); }");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(60));
  set(k, out);
  run(k, {{10, 6}});
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>(60, 53));
  EXPECT_EQ(enqueue(k, {{10, 6}, {2, 3}}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(enqueue(k, {{10}, {5}}), CL_INVALID_WORK_GROUP_SIZE);
}

TEST_F(NDRanges, EmptyRangesDoNothing) {
  const OwnedProgram program = built("kernel void k(global int* out) { out[0] = 1; }");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>{7});
  set(k, out);
  run(k, {{0}});
  run(k, {{4, 0}});
  EXPECT_EQ(download<cl_int>(out)[0], 7);
}

}  // namespace
}  // namespace weft::e2e
