// Specification 5.8: creating, building, compiling and linking programs.
#include <algorithm>
#include <cstring>

#include "api/checks.h"
#include "api/entry.h"
#include "api/entry_points.h"

namespace weft::api {
namespace {

// The devices of a list argument, which must be the program's; all of them for {0, NULL}.
Program::Devices toDevicesOf(const Program& program, cl_uint count, const cl_device_id* list) {
  require((count == 0) == (list == nullptr), CL_INVALID_VALUE, "device list and its length");
  if (!list) return program.devices();
  Program::Devices devices;
  for (const cl_device_id handle : std::span(list, count)) {
    const Ref<Device> device(&toDevice(handle));
    program.build(*device);  // throws CL_INVALID_DEVICE for a device that is not the program's
    if (std::find(devices.begin(), devices.end(), device) == devices.end())
      devices.push_back(device);
  }
  return devices;
}

std::string toOptions(const char* options) { return options ? options : ""; }

// "If an element in lengths is zero, its accompanying string is null-terminated. If lengths is
// NULL, all strings in the strings argument are considered null-terminated."
std::string joinStrings(cl_uint count, const char** strings, const size_t* lengths) {
  require(count > 0 && strings, CL_INVALID_VALUE, "no strings");
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    require(strings[i] != nullptr, CL_INVALID_VALUE, "a string is NULL");
    source.append(strings[i], lengths && lengths[i] ? lengths[i] : std::strlen(strings[i]));
  }
  return source;
}

struct BinaryArguments {
  cl_uint count;
  const cl_device_id* devices;
  const size_t* lengths;
  const unsigned char** binaries;
  cl_int* status;
};

// "CL_INVALID_VALUE if lengths or binaries is NULL, or if any entry in lengths[i] is zero or
// binaries[i] is NULL", "CL_INVALID_BINARY if an invalid program binary was encountered for any
// device. binary_status will return specific status for each device."
std::vector<Program::DeviceBinary> readBinaries(const Context& context,
                                                const BinaryArguments& arguments) {
  const auto& [count, handles, lengths, binaries, status] = arguments;
  require(count > 0 && handles, CL_INVALID_VALUE, "no devices");
  require(lengths && binaries, CL_INVALID_VALUE, "no binaries");
  std::vector<Program::DeviceBinary> result;
  for (const cl_device_id handle : std::span(handles, count)) {
    Device& device = toDeviceOf(context, handle);
    for (const auto& other : result)
      require(other.device.get() != &device, CL_INVALID_VALUE, "a device given twice");
    result.push_back({Ref<Device>(&device), nullptr});
  }
  cl_int worst = CL_SUCCESS;
  for (cl_uint i = 0; i < count; ++i) {
    cl_int code = CL_SUCCESS;
    if (lengths[i] == 0 || !binaries[i]) {
      code = CL_INVALID_VALUE;
    } else {
      const auto bytes = std::as_bytes(std::span(binaries[i], lengths[i]));
      result[i].image = Program::decode(*result[i].device, bytes);
      if (!result[i].image) code = CL_INVALID_BINARY;
    }
    if (status) status[i] = code;
    if (worst != CL_INVALID_VALUE && code != CL_SUCCESS) worst = code;
  }
  require(worst == CL_SUCCESS, worst, "a binary is missing, damaged or of another target");
  return result;
}

// "CL_INVALID_VALUE if num_input_headers is zero and header_include_names or input_headers are not
// NULL or if num_input_headers is not zero and header_include_names or input_headers are NULL."
std::vector<port::Header> readHeaders(cl_uint count, const cl_program* programs,
                                      const char** names) {
  require((count == 0) == (programs == nullptr) && (count == 0) == (names == nullptr),
          CL_INVALID_VALUE, "headers, their names and their number");
  std::vector<port::Header> headers;
  for (cl_uint i = 0; i < count; ++i) {
    const Program& program = toProgram(programs[i]);
    require(program.kind() == ProgramSource::source, CL_INVALID_OPERATION,
            "a header has no source");
    require(names[i] != nullptr, CL_INVALID_VALUE, "a header has no name");
    headers.push_back({names[i], program.source()});
  }
  return headers;
}

std::vector<Ref<Program>> readInputs(const Context& context, cl_uint count,
                                     const cl_program* programs) {
  require(count > 0 && programs, CL_INVALID_VALUE, "no input programs");
  std::vector<Ref<Program>> inputs;
  for (const cl_program handle : std::span(programs, count)) {
    Program& program = toProgram(handle);
    require(&program.context() == &context, CL_INVALID_CONTEXT, "an input of another context");
    inputs.emplace_back(&program);
  }
  return inputs;
}

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                 const char** strings, const size_t* lengths,
                                                 cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Context& owner = toContext(context);
    return give(make<Program>(Ref<Context>(&owner), joinStrings(count, strings, lengths)));
  });
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint num_devices,
                                                 const cl_device_id* device_list,
                                                 const size_t* lengths,
                                                 const unsigned char** binaries,
                                                 cl_int* binary_status, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Context& owner = toContext(context);
    auto images = readBinaries(owner, {num_devices, device_list, lengths, binaries, binary_status});
    return give(make<Program>(Ref<Context>(&owner), std::move(images)));
  });
}

// "CL_INVALID_VALUE if kernel_names is NULL or kernel_names contains a kernel name that is not
// supported by any of the devices in device_list." No device has built-in kernels.
cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices,
                                                         const cl_device_id* device_list,
                                                         const char*, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_program {
    const Context& owner = toContext(context);
    require(num_devices > 0 && device_list, CL_INVALID_VALUE, "no devices");
    for (const cl_device_id handle : std::span(device_list, num_devices)) toDeviceOf(owner, handle);
    throw Error(CL_INVALID_VALUE, "no device has built-in kernels");
  });
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void* il, size_t length,
                                             cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Context& owner = toContext(context);
    require(il && length > 0, CL_INVALID_VALUE, "no intermediate language");
    Program::Intermediate language{std::string(static_cast<const char*>(il), length)};
    return give(make<Program>(Ref<Context>(&owner), std::move(language)));
  });
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
  return call([&] { toProgram(program).retainHandle(); });
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
  return call([&] { toProgram(program).releaseHandle(); });
}

cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program program,
                                               void(CL_CALLBACK* pfn_notify)(cl_program, void*),
                                               void*) {
  return call([&] {
    toProgram(program);
    require(pfn_notify != nullptr, CL_INVALID_VALUE);
    throw Error(CL_INVALID_OPERATION, "no device supports global destructors");
  });
}

cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint spec_id,
                                                      size_t spec_size, const void* spec_value) {
  return call([&] {
    Program& target = toProgram(program);
    require(spec_value != nullptr, CL_INVALID_VALUE);
    target.specialize(spec_id, {static_cast<const char*>(spec_value), spec_size});
  });
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices,
                                  const cl_device_id* device_list, const char* options,
                                  void(CL_CALLBACK* pfn_notify)(cl_program, void*),
                                  void* user_data) {
  return call([&] {
    Program& target = toProgram(program);
    const auto devices = toDevicesOf(target, num_devices, device_list);
    checkCallback(pfn_notify, user_data);
    require(target.buildFor(devices, toOptions(options), {pfn_notify, user_data}),
            CL_BUILD_PROGRAM_FAILURE);
  });
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint num_devices,
                                    const cl_device_id* device_list, const char* options,
                                    cl_uint num_input_headers, const cl_program* input_headers,
                                    const char** header_include_names,
                                    void(CL_CALLBACK* pfn_notify)(cl_program, void*),
                                    void* user_data) {
  return call([&] {
    Program& target = toProgram(program);
    const auto devices = toDevicesOf(target, num_devices, device_list);
    checkCallback(pfn_notify, user_data);
    const auto headers = readHeaders(num_input_headers, input_headers, header_include_names);
    require(target.compileFor(devices, toOptions(options), headers, {pfn_notify, user_data}),
            CL_COMPILE_PROGRAM_FAILURE);
  });
}

// "clLinkProgram returns a valid non-zero program object, if the linking operation can begin": also
// with CL_LINK_PROGRAM_FAILURE, so that the log can be read.
cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint num_devices,
                                     const cl_device_id* device_list, const char* options,
                                     cl_uint num_input_programs, const cl_program* input_programs,
                                     void(CL_CALLBACK* pfn_notify)(cl_program, void*),
                                     void* user_data, cl_int* errcode_ret) {
  bool linked = true;
  const cl_program program = create(errcode_ret, [&] {
    Context& owner = toContext(context);
    auto devices = toDevicesOf(owner, num_devices, device_list);
    const auto inputs = readInputs(owner, num_input_programs, input_programs);
    checkCallback(pfn_notify, user_data);
    auto target = make<Program>(Ref<Context>(&owner), std::move(devices));
    linked = target->linkFrom(inputs, toOptions(options), {pfn_notify, user_data});
    return give(std::move(target));
  });
  if (!linked && errcode_ret) *errcode_ret = CL_LINK_PROGRAM_FAILURE;
  return program;
}
