// Specification 5.8.8, tables 'Program Object Queries' and 'Program Object Build Queries'.
#include <cstring>

#include "api/checks.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/tables.h"
#include "core/deferred_code.h"

namespace weft::api {
namespace {

std::vector<cl_device_id> deviceHandles(Program& program) {
  std::vector<cl_device_id> handles;
  for (const Ref<Device>& device : program.devices()) handles.push_back(device->handle());
  return handles;
}

// With all code, also what was left for later.
port::Bytes binaryOf(const Program& program, const DeviceBuild& build) {
  if (!build.image) return {};
  if (build.image->kind != ImageKind::executable || !isDeferred(build.image->payload))
    return writeImage(*build.image);
  const port::CodeMaker* const maker = program.context().platform().codeMaker();
  require(maker != nullptr, CL_OUT_OF_RESOURCES, "nobody makes the program's code");
  port::CompileResult whole = maker->makeAll(*build.image);
  if (!whole.ok) throw Error(CL_OUT_OF_RESOURCES, whole.log);
  return std::move(whole.image);
}

std::vector<size_t> binarySizes(Program& program) {
  std::vector<size_t> sizes;
  for (const auto& build : program.builds()) sizes.push_back(binaryOf(program, *build).size());
  return sizes;
}

// "param_value points to an array of n pointers allocated by the caller [...] If an entry value in
// the array is NULL, the implementation skips copying the program binary for the specific device."
void binaries(Program& program, Answer& answer) {
  const auto builds = program.builds();
  auto** destinations = static_cast<unsigned char**>(answer.reserve(builds.size() * sizeof(void*)));
  if (!destinations) return;
  for (size_t i = 0; i < builds.size(); ++i) {
    if (!destinations[i]) continue;
    const port::Bytes binary = binaryOf(program, *builds[i]);
    std::copy_n(binary.data(), binary.size(), reinterpret_cast<std::byte*>(destinations[i]));
  }
}

std::string kernelNames(Program& program) {
  std::string list;
  for (const std::string& name : program.kernelNames()) list += (list.empty() ? "" : ";") + name;
  return list;
}

constexpr InfoRow<Program> rows[] = {
    {CL_PROGRAM_REFERENCE_COUNT, [](Program& p) { return cl_uint{p.handleReferences()}; }},
    {CL_PROGRAM_CONTEXT, [](Program& p) -> cl_context { return p.context().handle(); }},
    {CL_PROGRAM_NUM_DEVICES, [](Program& p) { return static_cast<cl_uint>(p.devices().size()); }},
    {CL_PROGRAM_DEVICES, by<deviceHandles>},
    {CL_PROGRAM_SOURCE, [](Program& p) { return p.source(); }},
    {CL_PROGRAM_IL,
     [](Program& program, Answer& answer) {
       const std::string language = program.intermediate();
       answer.bytes(language.data(), language.size());
     }},
    {CL_PROGRAM_BINARY_SIZES, by<binarySizes>},
    {CL_PROGRAM_BINARIES, [](Program& p, Answer& answer) { binaries(p, answer); }},
    {CL_PROGRAM_NUM_KERNELS, [](Program& p) { return p.kernelNames().size(); }},
    {CL_PROGRAM_KERNEL_NAMES, by<kernelNames>},
    {CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, always<cl_bool{CL_FALSE}>},
    {CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, always<cl_bool{CL_FALSE}>},
};

constexpr InfoRow<const DeviceBuild> build_rows[] = {
    {CL_PROGRAM_BUILD_STATUS, [](const DeviceBuild& b) { return b.status; }},
    {CL_PROGRAM_BUILD_OPTIONS, [](const DeviceBuild& b) { return b.options; }},
    {CL_PROGRAM_BUILD_LOG, [](const DeviceBuild& b) { return b.log; }},
    {CL_PROGRAM_BINARY_TYPE, [](const DeviceBuild& b) { return b.binaryType(); }},
    {CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
     [](const DeviceBuild& b) -> size_t { return b.image ? b.image->global_variable_bytes : 0; }},
};

}  // namespace

constinit const InfoTable<Program> program_info = rows;
constinit const InfoTable<const DeviceBuild> program_build_info = build_rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info param_name,
                                    size_t param_value_size, void* param_value,
                                    size_t* param_value_size_ret) {
  return call([&] {
    query(program_info, toProgram(program), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                         cl_program_build_info param_name, size_t param_value_size,
                                         void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    const auto build = toProgram(program).build(toDevice(device));
    query(program_build_info, *build, param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}
