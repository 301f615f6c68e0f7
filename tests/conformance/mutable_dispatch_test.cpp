// cl_khr_command_buffer: kernels; cl_khr_command_buffer_mutable_dispatch.
#include "tests/conformance/command_buffer.h"
#include "tests/conformance/program_fixture.h"

namespace weft::conformance {
namespace {

constexpr char source[] =
    "kernel void put(global int* data, int value) {\n"
    "  data[get_global_id(0)] += value * 100 + (int)get_local_size(0);\n"
    "}\n";

class MutableDispatchTest : public ProgramFixture {
 protected:
  static constexpr size_t items = 8;

  OwnedCommandBuffer make(cl_bitfield flags = khr::flag_mutable) const {
    const cl_command_queue on = queue;
    const cl_command_buffer_properties_khr list[] = {khr::buffer_flags, flags, 0};
    cl_int code = 1;
    OwnedCommandBuffer made(functions.create(1, &on, list, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return made;
  }
  cl_int record(cl_command_buffer_khr into, cl_mutable_command_khr* handle,
                const cl_command_properties_khr* properties = nullptr, size_t global = items,
                size_t local = 4) const {
    return functions.launch(into, nullptr, properties, put, 1, nullptr, &global, &local, 0, nullptr,
                            nullptr, handle);
  }
  void setArguments(cl_mem memory, cl_int value) const {
    ASSERT_EQ(cl.clSetKernelArg(put, 0, sizeof memory, &memory), CL_SUCCESS);
    ASSERT_EQ(cl.clSetKernelArg(put, 1, sizeof value, &value), CL_SUCCESS);
  }
  cl_int update(cl_command_buffer_khr of, const khr::DispatchConfig& config) const {
    const cl_uint type = khr::dispatch_config;
    const void* pointer = &config;
    return functions.update(of, 1, &type, &pointer);
  }
  static khr::DispatchConfig changing(cl_mutable_command_khr command) {
    khr::DispatchConfig config{};
    config.command = command;
    return config;
  }
  // What one execution adds to data that begins as zeros.
  std::vector<cl_int> run(cl_command_buffer_khr commands, cl_mem memory) const {
    const cl_int zero = 0;
    std::vector<cl_int> values(items);
    EXPECT_EQ(cl.clEnqueueFillBuffer(queue, memory, &zero, sizeof zero, 0, items * sizeof(cl_int),
                                     0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(functions.enqueue(0, nullptr, commands, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, items * sizeof(cl_int),
                                     values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  std::vector<cl_int> all(cl_int value) const { return std::vector<cl_int>(items, value); }

  const CommandBufferFunctions& functions = buffers();
  OwnedProgram program = built(source);
  OwnedKernel put = kernel(program, "put");
  OwnedMem other = makeBuffer();
};

TEST_F(MutableDispatchTest, ArgumentsAreThoseOfTheRecording) {
  setArguments(buffer, 1);
  const auto commands = make(0);
  ASSERT_EQ(record(commands, nullptr), CL_SUCCESS);
  setArguments(buffer, 2);
  ASSERT_EQ(record(commands, nullptr), CL_SUCCESS);
  setArguments(other, 9);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(commands, buffer), all(300 + 8));
}

TEST_F(MutableDispatchTest, ChangesArgumentsAndGeometry) {
  setArguments(buffer, 1);
  const auto commands = make();
  cl_mutable_command_khr handle = nullptr;
  ASSERT_EQ(record(commands, &handle), CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  EXPECT_EQ(run(commands, buffer), all(104));

  const cl_int value = 5;
  const cl_mem memory = other;
  const khr::DispatchArgument arguments[] = {{1, sizeof value, &value},
                                             {0, sizeof memory, &memory}};
  auto config = changing(handle);
  config.num_args = 2;
  config.arg_list = arguments;
  ASSERT_EQ(update(commands, config), CL_SUCCESS);
  EXPECT_EQ(run(commands, other), all(504));

  const size_t offset = 2, global = 4, local = 2;
  config = changing(handle);
  config.global_work_offset = &offset;
  config.global_work_size = &global;
  config.local_work_size = &local;
  ASSERT_EQ(update(commands, config), CL_SUCCESS);
  EXPECT_EQ(run(commands, other), (std::vector<cl_int>{0, 0, 502, 502, 502, 502, 0, 0}));
  const auto ask = [&](cl_uint name) {
    return info<size_t>(functions.getCommandInfo, handle, name);
  };
  EXPECT_EQ(ask(khr::dispatch_global_offset), offset);
  EXPECT_EQ(ask(khr::dispatch_global_size), global);
  EXPECT_EQ(ask(khr::dispatch_local_size), local);
}

// What is enqueued already runs as it was enqueued.
TEST_F(MutableDispatchTest, ChangesWhatIsEnqueuedLater) {
  setArguments(buffer, 1);
  const auto commands = make(khr::flag_mutable | khr::flag_simultaneous_use);
  cl_mutable_command_khr handle = nullptr;
  ASSERT_EQ(record(commands, &handle), CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  const OwnedEvent gate = makeUserEvent();
  const cl_event wait = gate;
  write(buffer, std::vector<unsigned char>(buffer_bytes));
  ASSERT_EQ(functions.enqueue(0, nullptr, commands, 1, &wait, nullptr), CL_SUCCESS);
  const cl_int value = 2;
  const khr::DispatchArgument argument{1, sizeof value, &value};
  auto config = changing(handle);
  config.num_args = 1;
  config.arg_list = &argument;
  ASSERT_EQ(update(commands, config), CL_SUCCESS);
  ASSERT_EQ(functions.enqueue(0, nullptr, commands, 0, nullptr, nullptr), CL_SUCCESS);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  std::vector<cl_int> values(items);
  ASSERT_EQ(cl.clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, items * sizeof(cl_int), values.data(),
                                   0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(values, all(308));
}

TEST_F(MutableDispatchTest, ArgumentsMayComeLater) {
  const auto commands = make();
  const cl_command_properties_khr fields[] = {khr::updatable_fields, khr::field_arguments, 0};
  cl_mutable_command_khr handle = nullptr;
  EXPECT_EQ(record(commands, &handle), CL_INVALID_KERNEL_ARGS);
  ASSERT_EQ(record(commands, &handle, fields), CL_SUCCESS);
  ASSERT_EQ(functions.finalize(commands), CL_SUCCESS);
  const auto state = [&] {
    return info<cl_uint>(functions.getInfo, cl_command_buffer_khr(commands), khr::buffer_state);
  };
  EXPECT_EQ(state(), khr::state_finalized);
  EXPECT_EQ(functions.enqueue(0, nullptr, commands, 0, nullptr, nullptr), CL_INVALID_OPERATION);
  const cl_int value = 5;
  const cl_mem memory = buffer;
  const khr::DispatchArgument arguments[] = {{1, sizeof value, &value},
                                             {0, sizeof memory, &memory}};
  auto config = changing(handle);
  config.arg_list = arguments;
  for (const cl_uint count : {1u, 2u}) {
    config.num_args = count;
    ASSERT_EQ(update(commands, config), CL_SUCCESS);
    EXPECT_EQ(state(), count == 1 ? khr::state_finalized : khr::state_executable);
  }
  EXPECT_EQ(run(commands, buffer), all(504));
}

TEST_F(MutableDispatchTest, AnswersQueries) {
  setArguments(buffer, 1);
  const auto commands = make();
  const cl_command_properties_khr fields[] = {khr::updatable_fields, khr::field_arguments, 0};
  cl_mutable_command_khr handle = nullptr;
  ASSERT_EQ(record(commands, &handle, fields), CL_SUCCESS);
  const auto& get = functions.getCommandInfo;
  EXPECT_EQ(info<cl_command_queue>(get, handle, khr::command_queue), cl_command_queue(queue));
  EXPECT_EQ(info<cl_command_buffer_khr>(get, handle, khr::command_buffer),
            cl_command_buffer_khr(commands));
  EXPECT_EQ(info<cl_command_type>(get, handle, khr::command_type),
            cl_command_type{CL_COMMAND_NDRANGE_KERNEL});
  EXPECT_EQ(info<cl_kernel>(get, handle, khr::dispatch_kernel), cl_kernel(put));
  EXPECT_EQ(info<cl_uint>(get, handle, khr::dispatch_dimensions), 1u);
  size_t bytes = 0;
  EXPECT_EQ(get(handle, khr::command_properties_array, 0, nullptr, &bytes), CL_SUCCESS);
  EXPECT_EQ(bytes, sizeof fields);
  EXPECT_EQ(get(nullptr, khr::command_queue, 0, nullptr, nullptr), khr::invalid_mutable_command);
  EXPECT_EQ(get(handle, 0xdead, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(deviceInfo<cl_bitfield>(khr::device_mutable_dispatch_capabilities), khr::all_fields);
}

TEST_F(MutableDispatchTest, RecordingChecksItsArguments) {
  setArguments(buffer, 1);
  const cl_command_queue on = queue;
  const cl_command_buffer_properties_khr asserts[] = {khr::buffer_asserts,
                                                      khr::assert_no_additional_work_groups, 0};
  cl_int code = 1;
  const OwnedCommandBuffer commands(functions.create(1, &on, asserts, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const size_t global = items, odd = 3;
  const auto launch = [&](cl_kernel what, cl_uint dimensions, const size_t* size,
                          const size_t* local, const cl_command_properties_khr* properties) {
    return functions.launch(commands, nullptr, properties, what, dimensions, nullptr, size, local,
                            0, nullptr, nullptr, nullptr);
  };
  const cl_command_properties_khr unknown[] = {khr::updatable_fields, 1 << 20, 0};
  EXPECT_EQ(launch(nullptr, 1, &global, &odd, nullptr), CL_INVALID_KERNEL);
  EXPECT_EQ(launch(put, 4, &global, &odd, nullptr), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(launch(put, 1, &global, nullptr, nullptr), CL_INVALID_VALUE);  // the assertion
  EXPECT_EQ(launch(put, 1, &global, &global, unknown), CL_INVALID_VALUE);
  const size_t huge = deviceInfo<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE) * 2;
  EXPECT_EQ(launch(put, 1, &huge, &huge, nullptr), CL_INVALID_WORK_ITEM_SIZE);
}

TEST_F(MutableDispatchTest, UpdatesAreCheckedAndAllOrNothing) {
  setArguments(buffer, 1);
  const auto commands = make(), another = make(), fixed = make(0);
  const cl_command_properties_khr fields[] = {khr::updatable_fields, khr::field_arguments, 0};
  cl_mutable_command_khr limited = nullptr, open = nullptr, foreign = nullptr, stuck = nullptr;
  ASSERT_EQ(record(commands, &limited, fields), CL_SUCCESS);
  ASSERT_EQ(record(commands, &open), CL_SUCCESS);
  ASSERT_EQ(record(another, &foreign), CL_SUCCESS);
  ASSERT_EQ(record(fixed, &stuck), CL_SUCCESS);
  const cl_int value = 7;
  const khr::DispatchArgument argument{1, sizeof value, &value}, bad{9, sizeof value, &value};
  const auto arguments = [&](cl_mutable_command_khr of, const khr::DispatchArgument& list) {
    auto config = changing(of);
    config.num_args = 1;
    config.arg_list = &list;
    return config;
  };
  EXPECT_EQ(update(commands, arguments(limited, argument)), CL_INVALID_OPERATION);  // recording
  for (const auto* each : {&commands, &another, &fixed})
    ASSERT_EQ(functions.finalize(*each), CL_SUCCESS);
  EXPECT_EQ(update(nullptr, arguments(limited, argument)), khr::invalid_command_buffer);
  EXPECT_EQ(update(fixed, arguments(stuck, argument)), CL_INVALID_OPERATION);
  EXPECT_EQ(update(commands, arguments(foreign, argument)), khr::invalid_mutable_command);
  EXPECT_EQ(update(commands, arguments(nullptr, argument)), khr::invalid_mutable_command);
  EXPECT_EQ(update(commands, arguments(open, bad)), CL_INVALID_ARG_INDEX);
  auto config = changing(limited);
  const size_t global = 4, uneven = 3;
  config.global_work_size = &global;
  EXPECT_EQ(update(commands, config), CL_INVALID_OPERATION);  // not one of its fields
  config = changing(open);
  config.work_dim = 2;
  EXPECT_EQ(update(commands, config), CL_INVALID_OPERATION);
  config = changing(open);
  config.local_work_size = &uneven;
  EXPECT_EQ(update(commands, config), CL_INVALID_OPERATION);  // no longer uniform
  config = arguments(open, argument);
  config.num_args = 0;
  EXPECT_EQ(update(commands, config), CL_INVALID_VALUE);

  const auto good = arguments(limited, argument), wrong = arguments(open, bad);
  const cl_uint types[] = {khr::dispatch_config, khr::dispatch_config}, unknown[] = {5, 5};
  const void* configs[] = {&good, &wrong};
  const void* missing[] = {&good, nullptr};
  EXPECT_EQ(functions.update(commands, 2, types, configs), CL_INVALID_ARG_INDEX);
  EXPECT_EQ(functions.update(commands, 2, types, missing), CL_INVALID_VALUE);
  EXPECT_EQ(functions.update(commands, 2, unknown, configs), CL_INVALID_VALUE);
  EXPECT_EQ(functions.update(commands, 2, nullptr, configs), CL_INVALID_VALUE);
  EXPECT_EQ(functions.update(commands, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(run(commands, buffer), all(208));
}

}  // namespace
}  // namespace weft::conformance
