// What command buffers bring over from other devices.
#include <numeric>

#include "tests/conformance/command_buffer.h"
#include "tests/e2e/counted_traffic.h"

namespace weft::e2e {
namespace {

constexpr size_t elements = 1024, bytes = elements * sizeof(cl_int);

constexpr char source[] = R"(
kernel void to_from(global int* out, global const int* in) {
  out[get_global_id(0)] = in[get_global_id(0)] + 1;
}
kernel void from_to(global const int* in, global int* out) {
  out[get_global_id(0)] = in[get_global_id(0)] + 1;
}
)";

class RecordedTraffic : public CountedTraffic {};

// A kernel that overwrites all of an argument may read the same bytes through another one.
TEST_F(RecordedTraffic, BytesThatAKernelReadsAndOverwrites) {
  const OwnedProgram program = built(source);
  std::vector<cl_int> values(elements);
  for (const char* name : {"to_from", "from_to"}) {
    SCOPED_TRACE(name);
    std::iota(values.begin(), values.end(), 5);
    const OwnedMem memory = makeBuffer(0, bytes);
    const OwnedKernel step = kernel(program, name);
    set(step, memory, memory);
    const cl_command_queue on = queues[0];
    cl_int code = CL_SUCCESS;
    const OwnedCommandBuffer commands(buffers().create(1, &on, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(buffers().launch(commands, nullptr, nullptr, step, 1, nullptr, &elements, nullptr, 0,
                               nullptr, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(buffers().finalize(commands), CL_SUCCESS);
    // The kernel leaves its result on the other device.
    ASSERT_EQ(cl.clEnqueueWriteBuffer(queues[1], memory, CL_TRUE, 0, bytes, values.data(), 0,
                                      nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queues[1], step, 1, nullptr, &elements, nullptr, 0, nullptr,
                                        nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(queues[1]), CL_SUCCESS);
    const size_t before = bytesMovedTo(0);
    ASSERT_EQ(buffers().enqueue(0, nullptr, commands, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
    EXPECT_EQ(bytesMovedTo(0) - before, bytes);
    std::vector<cl_int> result(elements);
    ASSERT_EQ(
        cl.clEnqueueReadBuffer(on, memory, CL_TRUE, 0, bytes, result.data(), 0, nullptr, nullptr),
        CL_SUCCESS);
    for (cl_int& value : values) value += 2;
    EXPECT_EQ(result, values);
  }
}

}  // namespace
}  // namespace weft::e2e
