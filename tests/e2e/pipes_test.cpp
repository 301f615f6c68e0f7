// Pipes between kernels, with and without reservations.
#include <algorithm>
#include <numeric>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class Pipes : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (!deviceInfo<cl_bool>(CL_DEVICE_PIPE_SUPPORT)) GTEST_SKIP() << "the device has no pipes";
  }
  OwnedMem makePipe(cl_uint packet_bytes, cl_uint packets) {
    cl_int code = 1;
    OwnedMem pipe(cl.clCreatePipe(context, 0, packet_bytes, packets, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return pipe;
  }
  // What kernel "get" takes out of `pipe`, sorted; -1 where there was nothing.
  std::vector<cl_int> taken(cl_program program, const OwnedMem& pipe, Range range) {
    const OwnedKernel get = kernel(program, "get");
    const OwnedMem out = upload(std::vector<cl_int>(range.global[0], -1));
    set(get, pipe, out);
    run(get, range);
    auto values = download<cl_int>(out);
    std::sort(values.begin(), values.end());
    return values;
  }
};

std::vector<cl_int> count(size_t n) {
  std::vector<cl_int> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST_F(Pipes, GoRoundAndRefuseWhatDoesNotFit) {
  const OwnedProgram program = built(
      "kernel void put(write_only pipe int p, global int* failed) {\n"
      "  int i = get_global_id(0);\n"
      "  if (write_pipe(p, &i) != 0) atomic_inc(failed);\n"
      "}\n"
      "kernel void get(read_only pipe int p, global int* out) {\n"
      "  int x; if (read_pipe(p, &x) == 0) out[get_global_id(0)] = x; }\n"
      "kernel void ask(read_only pipe int p, global int* out) {\n"
      "  out[0] = get_pipe_num_packets(p); out[1] = get_pipe_max_packets(p); }\n",
      "-cl-std=CL3.0");
  const OwnedMem pipe = makePipe(sizeof(cl_int), 100);
  const OwnedKernel put = kernel(program, "put"), ask = kernel(program, "ask");
  const OwnedMem failed = upload(std::vector<cl_int>(1)), answers = upload(count(2));
  for (int turn = 0; turn < 7; ++turn) {
    set(put, pipe, failed);
    run(put, {{90}, {9}});
    set(ask, pipe, answers);
    run(ask, {{1}});
    EXPECT_EQ(download<cl_int>(answers), (std::vector<cl_int>{90, 100}));
    EXPECT_EQ(taken(program, pipe, {{90}, {10}}), count(90)) << turn;
    EXPECT_EQ(taken(program, pipe, {{3}}), std::vector<cl_int>(3, -1)) << turn;
  }
  EXPECT_EQ(download<cl_int>(failed), std::vector<cl_int>{0});
  set(put, pipe, failed);
  run(put, {{120}, {8}});
  EXPECT_EQ(download<cl_int>(failed), std::vector<cl_int>{20});
}

// Structures of 12 bytes, by the reservations of work-items, work-groups and sub-groups.
TEST_F(Pipes, Reservations) {
  constexpr char source[] =
      "typedef struct { int a; short b; int c; } S;\n"
      "kernel void put(write_only pipe S p) {\n"
      "  S s = {get_global_id(0), 7, -(int)get_global_id(0)};\n"
      "  local reserve_id_t r; r = WIDE(reserve_write_pipe)(p, SIZE);\n"
      "  if (!is_valid_reserve_id(r)) return;\n"
      "  write_pipe(p, r, INDEX, &s); WIDE(commit_write_pipe)(p, r); }\n"
      "kernel void get(read_only pipe S p, global int* out) {\n"
      "  S s; reserve_id_t r = WIDE(reserve_read_pipe)(p, SIZE);\n"
      "  if (!is_valid_reserve_id(r)) return;\n"
      "  read_pipe(p, r, INDEX, &s); WIDE(commit_read_pipe)(p, r);\n"
      "  if (s.b == 7 && s.c == -s.a) out[get_global_id(0)] = s.a; }\n";
  constexpr const char* options[] = {
      "-cl-std=CL3.0 -DWIDE(f)=work_group_##f -DSIZE=get_local_size(0) -DINDEX=get_local_id(0)",
      "-cl-std=CL3.0 -DWIDE(f)=sub_group_##f -DSIZE=get_sub_group_size() "
      "-DINDEX=get_sub_group_local_id()"};
  const bool sub_groups = deviceInfo<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS) != 0;
  for (const char* option : options) {
    if (option == options[1] && !sub_groups) break;
    std::string text = source;
    if (option == options[1]) text.replace(text.find("local reserve_id_t"), 6, "");
    const OwnedProgram program = built(text, option);
    const OwnedMem pipe = makePipe(12, 64);
    const OwnedKernel put = kernel(program, "put");
    for (int turn = 0; turn < 5; ++turn) {
      set(put, pipe);
      run(put, {{60}, {20}});
      EXPECT_EQ(taken(program, pipe, {{60}, {20}}), count(60)) << option << turn;
    }
  }
}

TEST_F(Pipes, WhatIsNoPipe) {
  cl_int code = 1;
  EXPECT_EQ(cl.clCreatePipe(context, 0, 0, 4, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PIPE_SIZE);
  EXPECT_EQ(cl.clCreatePipe(context, 0, 4, 0, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PIPE_SIZE);
  EXPECT_EQ(cl.clCreatePipe(context, CL_MEM_USE_HOST_PTR, 4, 4, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  const OwnedMem pipe = makePipe(4, 4), buffer = upload(count(4));
  size_t size = 0;
  EXPECT_EQ(cl.clGetPipeInfo(buffer, CL_PIPE_PACKET_SIZE, 0, nullptr, &size),
            CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(info<cl_uint>(cl.clGetPipeInfo, cl_mem(pipe), CL_PIPE_MAX_PACKETS), 4u);
  const OwnedProgram program =
      built("kernel void k(read_only pipe int p, global int* b) {}", "-cl-std=CL3.0");
  const OwnedKernel k = kernel(program, "k");
  const cl_mem a_pipe = pipe, a_buffer = buffer;
  EXPECT_EQ(cl.clSetKernelArg(k, 0, sizeof a_buffer, &a_buffer), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clSetKernelArg(k, 1, sizeof a_pipe, &a_pipe), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, pipe, CL_TRUE, 0, 4, &size, 0, nullptr, nullptr),
            CL_INVALID_MEM_OBJECT);
}

}  // namespace
}  // namespace weft::e2e
