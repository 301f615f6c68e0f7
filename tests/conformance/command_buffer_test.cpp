// cl_khr_command_buffer, all but kernels.
#include "tests/conformance/command_buffer.h"

#include <algorithm>
#include <cstring>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class CommandBufferTest : public CommandTest {
 protected:
  OwnedCommandBuffer make(cl_command_queue on) const {
    cl_int code = 1;
    OwnedCommandBuffer made(functions.create(1, &on, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  cl_int recordFill(cl_command_buffer_khr into, cl_mem target, unsigned char value,
                    const std::vector<cl_sync_point_khr>& waits = {},
                    cl_sync_point_khr* point = nullptr) const {
    return functions.fillBuffer(into, nullptr, nullptr, target, &value, 1, 0, buffer_bytes,
                                static_cast<cl_uint>(waits.size()),
                                waits.empty() ? nullptr : waits.data(), point, nullptr);
  }
  cl_int recordCopy(cl_command_buffer_khr into, cl_mem from, cl_mem to,
                    const std::vector<cl_sync_point_khr>& waits = {},
                    cl_sync_point_khr* point = nullptr) const {
    return functions.copyBuffer(into, nullptr, nullptr, from, to, 0, 0, buffer_bytes,
                                static_cast<cl_uint>(waits.size()),
                                waits.empty() ? nullptr : waits.data(), point, nullptr);
  }
  cl_int enqueue(cl_command_buffer_khr what, cl_event* event = nullptr) const {
    return functions.enqueue(0, nullptr, what, 0, nullptr, event);
  }
  cl_uint state(cl_command_buffer_khr of) const {
    return info<cl_uint>(functions.getInfo, of, khr::buffer_state);
  }

  const CommandBufferFunctions& functions = buffers();
  OwnedMem other = makeBuffer();
  OwnedQueue unordered = makeQueue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
};

TEST_F(CommandBufferTest, RunsAsOftenAsItIsEnqueued) {
  const auto commands = make(queue);
  ASSERT_EQ(recordCopy(commands, buffer, other), CL_SUCCESS);
  EXPECT_EQ(state(commands), khr::state_recording);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  EXPECT_EQ(state(commands), khr::state_executable);
  for (const unsigned char value : {1, 2, 3}) {
    write(buffer, std::vector<unsigned char>(buffer_bytes, value));
    ASSERT_EQ(enqueue(commands), CL_SUCCESS);
    EXPECT_EQ(contents(other), std::vector<unsigned char>(buffer_bytes, value));
  }
}

// The chain is of one queue of each kind, by its order or by points and barriers.
TEST_F(CommandBufferTest, KeepsTheOrderThatWasRecorded) {
  for (const cl_command_queue on : {cl_command_queue(queue), cl_command_queue(unordered)}) {
    const bool in_order = on == queue;
    const auto commands = make(on);
    cl_sync_point_khr point = 0;
    for (const unsigned char value : {7, 8}) {
      ASSERT_EQ(recordFill(commands, buffer, value, {}, &point), CL_SUCCESS);
      ASSERT_EQ(recordCopy(commands, buffer, other,
                           in_order ? std::vector<cl_sync_point_khr>{} : std::vector{point}),
                CL_SUCCESS);
      ASSERT_EQ(functions.barrier(commands, nullptr, nullptr, 0, nullptr, nullptr, nullptr),
                CL_SUCCESS);
    }
    ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
    // On the queue itself, and on one of the other kind.
    for (cl_command_queue instead : {cl_command_queue(queue), cl_command_queue(unordered)}) {
      ASSERT_EQ(functions.enqueue(1, &instead, commands, 0, nullptr, nullptr), CL_SUCCESS);
      ASSERT_EQ(cl.clFinish(instead), CL_SUCCESS);
      EXPECT_EQ(contents(other), std::vector<unsigned char>(buffer_bytes, 8));
      write(other, std::vector<unsigned char>(buffer_bytes));
    }
  }
}

TEST_F(CommandBufferTest, WaitsAndIsWaitedFor) {
  const auto commands = make(unordered);
  ASSERT_EQ(recordFill(commands, buffer, 5), CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  const OwnedEvent gate = makeUserEvent();
  const cl_event wait = gate;
  OwnedEvent done;
  ASSERT_EQ(functions.enqueue(0, nullptr, commands, 1, &wait, done.out()), CL_SUCCESS);
  EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, cl_event(done), CL_EVENT_COMMAND_TYPE),
            khr::command_command_buffer);
  EXPECT_GT(info<cl_int>(cl.clGetEventInfo, cl_event(done), CL_EVENT_COMMAND_EXECUTION_STATUS),
            CL_COMPLETE);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  const cl_event event = done;
  EXPECT_EQ(cl.clWaitForEvents(1, &event), CL_SUCCESS);
  EXPECT_EQ(contents(buffer)[0], 5);
}

TEST_F(CommandBufferTest, OutlivesItsHandleAndItsQueuesWhileItRuns) {
  OwnedQueue own = makeQueue(context);
  auto commands = make(own);
  ASSERT_EQ(recordFill(commands, buffer, 5), CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  own.reset();
  const OwnedEvent gate = makeUserEvent();
  const cl_event wait = gate;
  OwnedEvent done;
  ASSERT_EQ(functions.enqueue(0, nullptr, commands, 1, &wait, done.out()), CL_SUCCESS);
  commands.reset();
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  const cl_event event = done;
  EXPECT_EQ(cl.clWaitForEvents(1, &event), CL_SUCCESS);
  EXPECT_EQ(contents(buffer)[0], 5);
}

// They write the same bytes at once: a race of the application's, in which all write the same.
TEST_F(CommandBufferTest, ExecutionsMayOverlap) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer would report it";
#endif
  const auto commands = make(unordered);
  ASSERT_EQ(recordFill(commands, buffer, 6), CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(enqueue(commands), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(unordered), CL_SUCCESS);
  EXPECT_EQ(contents(buffer), std::vector<unsigned char>(buffer_bytes, 6));
}

TEST_F(CommandBufferTest, AnEmptyOneCompletes) {
  const auto commands = make(queue);
  ASSERT_EQ(functions.barrier(commands, nullptr, nullptr, 0, nullptr, nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  for (cl_command_queue on : {cl_command_queue(queue), cl_command_queue(unordered)}) {
    OwnedEvent done;
    ASSERT_EQ(functions.enqueue(1, &on, commands, 0, nullptr, done.out()), CL_SUCCESS);
    const cl_event event = done;
    EXPECT_EQ(cl.clWaitForEvents(1, &event), CL_SUCCESS);
  }
}

TEST_F(CommandBufferTest, HasTimes) {
  const OwnedQueue timed = makeQueue(context, CL_QUEUE_PROFILING_ENABLE);
  const auto commands = make(timed);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(recordFill(commands, buffer, 1), CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  OwnedEvent done;
  ASSERT_EQ(enqueue(commands, done.out()), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(timed), CL_SUCCESS);
  cl_ulong before = 1;
  for (const cl_profiling_info name : {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                       CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END}) {
    const auto time = info<cl_ulong>(cl.clGetEventProfilingInfo, cl_event(done), name);
    EXPECT_GE(time, before);
    before = time;
  }
}

TEST_F(CommandBufferTest, CopiesRectanglesAndSharedMemory) {
  const auto commands = make(queue);
  write(buffer, counting());
  const size_t from[] = {8, 1, 0}, to[] = {0, 0, 0}, region[] = {16, 4, 1};
  ASSERT_EQ(functions.copyRect(commands, nullptr, nullptr, buffer, other, from, to, region, 64, 0,
                               16, 0, 0, nullptr, nullptr, nullptr),
            CL_SUCCESS);
  const bool shares = deviceInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  auto* const svm =
      shares ? static_cast<unsigned char*>(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0))
             : nullptr;
  const cl_uint pattern = 0x04030201;
  if (shares) {
    ASSERT_EQ(functions.svmFill(commands, nullptr, nullptr, svm, &pattern, sizeof pattern, 32, 0,
                                nullptr, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(functions.svmCopy(commands, nullptr, nullptr, svm + 32, svm, 32, 0, nullptr, nullptr,
                                nullptr),
              CL_SUCCESS);
  }
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  ASSERT_EQ(enqueue(commands), CL_SUCCESS);
  const auto copied = contents(other, 64), all = counting();
  for (size_t row = 0; row < 4; ++row)
    EXPECT_TRUE(std::equal(copied.begin() + row * 16, copied.begin() + row * 16 + 16,
                           all.begin() + (row + 1) * 64 + 8));
  for (size_t i = 0; svm && i < 64; ++i) EXPECT_EQ(svm[i], i % 4 + 1);
  if (svm) cl.clSVMFree(context, svm);
}

TEST_F(CommandBufferTest, CopiesAndFillsImages) {
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 8;
  const auto image = [&] {
    cl_int code = 1;
    OwnedMem made(
        cl.clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  };
  const OwnedMem first = image(), second = image();
  const size_t origin[] = {0, 0, 0}, corner[] = {2, 3, 0}, region[] = {4, 4, 1};
  const cl_uint colour[] = {1, 2, 3, 4};
  const auto commands = make(queue);
  write(buffer, counting());
  ASSERT_EQ(functions.fillImage(commands, nullptr, nullptr, first, colour, origin, region, 0,
                                nullptr, nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(functions.copyBufferToImage(commands, nullptr, nullptr, buffer, second, 0, corner,
                                        region, 0, nullptr, nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(functions.copyImage(commands, nullptr, nullptr, second, first, corner, corner, region,
                                0, nullptr, nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(functions.copyImageToBuffer(commands, nullptr, nullptr, first, other, corner, region, 0,
                                        0, nullptr, nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  ASSERT_EQ(enqueue(commands), CL_SUCCESS);
  EXPECT_EQ(contents(other, 64), counting(64));
  unsigned char pixel[4] = {};
  const size_t one[] = {1, 1, 1};
  ASSERT_EQ(
      cl.clEnqueueReadImage(queue, first, CL_TRUE, origin, one, 0, 0, pixel, 0, nullptr, nullptr),
      CL_SUCCESS);
  EXPECT_TRUE(std::equal(pixel, pixel + 4, colour));
}

TEST_F(CommandBufferTest, AnswersQueries) {
  const cl_command_queue on = queue;
  const cl_command_buffer_properties_khr list[] = {khr::buffer_flags, khr::flag_mutable, 0};
  cl_int code = 1;
  const OwnedCommandBuffer commands(functions.create(1, &on, list, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const cl_command_buffer_khr handle = commands;
  EXPECT_EQ(info<cl_uint>(functions.getInfo, handle, khr::buffer_num_queues), 1u);
  EXPECT_EQ(info<cl_command_queue>(functions.getInfo, handle, khr::buffer_queues), on);
  EXPECT_EQ(info<cl_context>(functions.getInfo, handle, khr::buffer_context), cl_context(context));
  cl_command_buffer_properties_khr answered[3] = {};
  ASSERT_EQ(
      functions.getInfo(handle, khr::buffer_properties_array, sizeof answered, answered, nullptr),
      CL_SUCCESS);
  EXPECT_TRUE(std::equal(list, list + 3, answered));
  EXPECT_EQ(functions.retain(handle), CL_SUCCESS);
  EXPECT_EQ(info<cl_uint>(functions.getInfo, handle, khr::buffer_reference_count), 2u);
  EXPECT_EQ(functions.release(handle), CL_SUCCESS);
  EXPECT_EQ(functions.getInfo(handle, 0xdead, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(functions.getInfo(nullptr, khr::buffer_state, 0, nullptr, nullptr),
            khr::invalid_command_buffer);
  EXPECT_EQ(deviceInfo<cl_bitfield>(khr::device_supported_queue_properties),
            deviceInfo<cl_bitfield>(CL_DEVICE_QUEUE_PROPERTIES));
  EXPECT_EQ(deviceInfo<cl_bitfield>(khr::device_required_queue_properties), 0u);
}

TEST_F(CommandBufferTest, CreationChecksItsArguments) {
  const auto code = [&](cl_uint count, const cl_command_queue* queues,
                        std::vector<cl_command_buffer_properties_khr> properties) {
    cl_int result = 1;
    EXPECT_EQ(
        functions.create(count, queues, properties.empty() ? nullptr : properties.data(), &result),
        nullptr);
    return result;
  };
  const cl_command_queue two[] = {queue, unordered};
  const cl_command_queue none = nullptr;
  EXPECT_EQ(code(2, two, {}), CL_INVALID_VALUE);
  EXPECT_EQ(code(0, nullptr, {}), CL_INVALID_VALUE);
  EXPECT_EQ(code(1, nullptr, {}), CL_INVALID_VALUE);
  EXPECT_EQ(code(1, &none, {}), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(code(1, two, {khr::buffer_flags, 1 << 20, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(code(1, two, {khr::buffer_flags, 0, khr::buffer_flags, 0, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(code(1, two, {khr::buffer_asserts, 2, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(code(1, two, {0xdead, 0, 0}), CL_INVALID_VALUE);
}

TEST_F(CommandBufferTest, RecordingChecksItsArguments) {
  const auto commands = make(queue);
  const cl_sync_point_khr missing = 1, zero = 0;
  const auto barrier = [&](cl_command_buffer_khr into, cl_command_queue on,
                           const cl_command_properties_khr* properties, cl_uint count,
                           const cl_sync_point_khr* points, cl_mutable_command_khr* handle) {
    return functions.barrier(into, on, properties, count, points, nullptr, handle);
  };
  cl_mutable_command_khr handle = nullptr;
  const cl_command_properties_khr unknown[] = {0xdead, 0, 0}, none[] = {0};
  EXPECT_EQ(barrier(nullptr, nullptr, nullptr, 0, nullptr, nullptr), khr::invalid_command_buffer);
  EXPECT_EQ(barrier(commands, queue, nullptr, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(barrier(commands, nullptr, unknown, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(barrier(commands, nullptr, nullptr, 0, nullptr, &handle), CL_INVALID_VALUE);
  for (const cl_sync_point_khr* points : {&missing, &zero}) {
    EXPECT_EQ(barrier(commands, nullptr, nullptr, 1, points, nullptr),
              khr::invalid_sync_point_wait_list);
    EXPECT_EQ(barrier(commands, nullptr, nullptr, 0, points, nullptr),
              khr::invalid_sync_point_wait_list);
  }
  EXPECT_EQ(barrier(commands, nullptr, nullptr, 1, nullptr, nullptr),
            khr::invalid_sync_point_wait_list);
  EXPECT_EQ(barrier(commands, nullptr, none, 0, nullptr, nullptr), CL_SUCCESS);
  // The checks of the functions that enqueue.
  EXPECT_EQ(recordCopy(commands, buffer, buffer), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(recordCopy(commands, nullptr, buffer), CL_INVALID_MEM_OBJECT);
  cl_int code = 1;
  const OwnedMem elsewhere(
      cl.clCreateBuffer(other_context, CL_MEM_READ_WRITE, buffer_bytes, nullptr, &code));
  EXPECT_EQ(recordCopy(commands, elsewhere, buffer), CL_INVALID_CONTEXT);
  EXPECT_EQ(functions.fillBuffer(commands, nullptr, nullptr, buffer, &code, 3, 0, 12, 0, nullptr,
                                 nullptr, nullptr),
            CL_INVALID_VALUE);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  EXPECT_EQ(recordFill(commands, buffer, 1), CL_INVALID_OPERATION);
  EXPECT_EQ(functions.finalize(commands), CL_INVALID_OPERATION);
  EXPECT_EQ(functions.finalize(nullptr), khr::invalid_command_buffer);
}

TEST_F(CommandBufferTest, EnqueueingChecksItsArguments) {
  const auto commands = make(queue);
  EXPECT_EQ(enqueue(commands), CL_INVALID_OPERATION);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  cl_command_queue none = nullptr, both[] = {queue, unordered};
  const OwnedQueue foreign = makeQueue(other_context);
  cl_command_queue elsewhere = foreign;
  EXPECT_EQ(enqueue(nullptr), khr::invalid_command_buffer);
  EXPECT_EQ(functions.enqueue(1, nullptr, commands, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(functions.enqueue(0, both, commands, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(functions.enqueue(2, both, commands, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(functions.enqueue(1, &none, commands, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(functions.enqueue(1, &elsewhere, commands, 0, nullptr, nullptr), CL_INVALID_CONTEXT);
  EXPECT_EQ(functions.enqueue(0, nullptr, commands, 1, nullptr, nullptr),
            CL_INVALID_EVENT_WAIT_LIST);
  EXPECT_EQ(functions.retain(nullptr), khr::invalid_command_buffer);
  EXPECT_EQ(functions.release(nullptr), khr::invalid_command_buffer);
}

}  // namespace
}  // namespace weft::conformance
