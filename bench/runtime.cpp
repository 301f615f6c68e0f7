#include "bench/runtime.h"

#include <string>
#include <vector>

namespace weft::bench {
namespace {

cl::Device firstDevice() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  return devices.at(0);
}

}  // namespace

Runtime::Runtime() : device(firstDevice()), context(device) {}

cl::CommandQueue Runtime::queue(Order order) const {
  return {context, device,
          order == Order::in_order ? cl::QueueProperties::None : cl::QueueProperties::OutOfOrder};
}

cl::Kernel Runtime::kernel(std::string_view source, const char* name, const char* options) const {
  cl::Program program(context, std::string(source));
  program.build(std::vector<cl::Device>{device}, options);
  return {program, name};
}

cl::Buffer Runtime::buffer(size_t bytes) const { return {context, CL_MEM_READ_WRITE, bytes}; }

const Runtime& runtime() {
  static const Runtime* instance = new Runtime;
  return *instance;
}

void reportWrong(benchmark::State& state) { state.SkipWithError("the result is wrong"); }

}  // namespace weft::bench
