// Specification 5.4: pipes.
#include "core/pipe.h"

#include "api/checks.h"
#include "api/entry.h"
#include "api/tables.h"

namespace weft::api {
namespace {

constexpr InfoRow<Pipe> rows[] = {
    {CL_PIPE_PACKET_SIZE, [](Pipe& p) { return cl_uint{p.packetBytes()}; }},
    {CL_PIPE_MAX_PACKETS, [](Pipe& p) { return cl_uint{p.packets()}; }},
    // "If [...] properties specified was NULL [...] the implementation must return a
    // param_value_size_ret of 0".
    {CL_PIPE_PROPERTIES, [](Pipe&) { return std::vector<cl_pipe_properties>{}; }},
};

// "CL_INVALID_PIPE_SIZE if pipe_packet_size is 0 or the pipe_packet_size exceeds
// CL_DEVICE_PIPE_MAX_PACKET_SIZE value [...] for all devices in context or if pipe_max_packets is
// 0."
void checkSizes(const Context& context, cl_uint packet_bytes, cl_uint packets) {
  require(packet_bytes > 0 && packet_bytes <= max_pipe_packet_bytes && packets > 0 &&
              packets <= max_pipe_packets,
          CL_INVALID_PIPE_SIZE);
  const auto fits = [&](const Ref<Device>& device) {
    return Pipe::bytes(packet_bytes, packets) <= device->capabilities().max_allocation_bytes;
  };
  require(std::any_of(context.devices().begin(), context.devices().end(), fits),
          CL_MEM_OBJECT_ALLOCATION_FAILURE, "a pipe larger than any device's memory");
}

cl_mem makePipe(cl_context handle, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                const cl_pipe_properties* properties) {
  Context& context = toContext(handle);
  const auto has = [](const Ref<Device>& device) { return device->capabilities().pipes; };
  require(std::any_of(context.devices().begin(), context.devices().end(), has),
          CL_INVALID_OPERATION, "no device of the context supports pipes");
  // "Only CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS can be specified when creating a pipe
  // object. If the value specified for flags is 0, the default is used which is CL_MEM_READ_WRITE |
  // CL_MEM_HOST_NO_ACCESS."
  constexpr cl_mem_flags usual = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
  require(!(flags & ~usual), CL_INVALID_VALUE, "flags that a pipe has not");
  // "In OpenCL 3.0, properties must be NULL."
  require(!properties, CL_INVALID_VALUE, "a pipe has no properties");
  checkSizes(context, packet_bytes, packets);
  return give(make<Pipe>(Ref<Context>(&context), flags ? flags : usual, packet_bytes, packets));
}

}  // namespace

constinit const InfoTable<Pipe> pipe_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint pipe_packet_size,
                                cl_uint pipe_max_packets, const cl_pipe_properties* properties,
                                cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    return makePipe(context, flags, pipe_packet_size, pipe_max_packets, properties);
  });
}

cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info param_name, size_t param_value_size,
                                 void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    MemObject& object = toMemObject(pipe);
    require(object.type() == CL_MEM_OBJECT_PIPE, CL_INVALID_MEM_OBJECT, "not a pipe");
    query(pipe_info, static_cast<Pipe&>(object), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}
