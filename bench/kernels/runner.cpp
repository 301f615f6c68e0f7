#include "bench/kernels/runner.h"

#include <time.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "api/cl_weft_ext.h"

namespace weft::bench {
namespace {

using Kind = Argument::Kind;

cl::Device firstDevice() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  return devices.at(0);
}

// The clock of one thread's processor time; the system's encoding of such a clock's number.
clockid_t clockOf(pid_t thread) {
  constexpr clockid_t per_thread = 4, scheduler = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3) | per_thread | scheduler;
}

// Of every thread by itself: what the process's own clock says of threads that run right now may be
// a tick old, which is longer than some kernels take.
double cpuSeconds() {
  double sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    timespec time{};
    if (clock_gettime(clockOf(std::stoi(entry.path().filename())), &time) == 0)
      sum += static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  return sum;
}

cl::NDRange ndRange(const Range& range) {
  switch (range.size()) {
    case 0:
      return cl::NullRange;
    case 1:
      return {range[0]};
    case 2:
      return {range[0], range[1]};
    default:
      return {range[0], range[1], range[2]};
  }
}

size_t itemsIn(const Range& local) {
  size_t items = 1;
  for (size_t extent : local) items *= extent;
  return items;
}

bool isImage(const Argument& argument) {
  return argument.kind == Kind::image_in || argument.kind == Kind::image_out;
}

cl::array<cl::size_type, 3> extentOf(const Argument& image) {
  return {image.width, image.bytes.size() / 4 / image.width, 1};
}

std::string describe(size_t index, double result, double expected) {
  return "element " + std::to_string(index) + " is " + std::to_string(result) + ", expected " +
         std::to_string(expected);
}

double secondsOf(const std::vector<cl::Event>& events) {
  double sum = 0;
  for (const cl::Event& event : events)
    sum += 1e-9 * static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                      event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
  return sum;
}

}  // namespace

Target::Target(bool with_times) : Target(firstDevice(), with_times) {}

Target::Target(const cl::Device& which, bool with_times)
    : device(which),
      context(device),
      profiled(with_times),
      queue(context, device,
            profiled ? cl::QueueProperties::Profiling : cl::QueueProperties::None) {
  const cl::Platform of(device.getInfo<CL_DEVICE_PLATFORM>());
  platform = of.getInfo<CL_PLATFORM_NAME>() + ", " + of.getInfo<CL_PLATFORM_VERSION>();
}

Prepared::Prepared(const Target& target, const Case& which, size_t size)
    : Prepared(target, which, which.problem(size)) {}

Prepared::Prepared(const Target& target, const Case& which, Problem problem)
    : target_(target), case_(which), problem_(std::move(problem)) {
  cl::Program program(target.context, std::string(which.source));
  program.build(std::vector<cl::Device>{target.device});
  if (problem_.steps.empty()) problem_.steps.push_back({which.name});
  for (const Step& step : problem_.steps) {
    const bool again = !kernels_.empty() && kernels_.front().getInfo<CL_KERNEL_FUNCTION_NAME>() ==
                                                std::string(step.kernel);
    kernels_.push_back(again ? kernels_.front() : cl::Kernel(program, step.kernel));
  }
  for (const Argument& argument : problem_.arguments) create(argument);
  writeContents();
}

void Prepared::create(const Argument& argument) {
  if (isImage(argument)) {
    const auto extent = extentOf(argument);
    objects_.push_back(cl::Image2D(
        target_.context, argument.kind == Kind::image_in ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY,
        cl::ImageFormat(CL_RGBA, CL_UNORM_INT8), extent[0], extent[1]));
  } else if (argument.decode) {
    objects_.push_back(cl::Buffer(target_.context, CL_MEM_READ_WRITE, argument.bytes.size()));
  } else {
    objects_.emplace_back();
  }
}

void Prepared::setArguments(size_t items) {
  for (cl::Kernel& kernel : kernels_) {
    for (cl_uint i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      if (argument.kind == Kind::value)
        kernel.setArg(i, argument.bytes.size(), argument.bytes.data());
      else if (argument.kind == Kind::local)
        kernel.setArg(i, argument.local_bytes * items, nullptr);
      else
        kernel.setArg(i, sizeof(cl_mem), &objects_[i]());
    }
  }
}

void Prepared::writeContents() {
  for (size_t i = 0; i < problem_.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!objects_[i]()) continue;
    if (isImage(argument))
      target_.queue.enqueueWriteImage(cl::Image2D(objects_[i](), true), CL_TRUE, {0, 0, 0},
                                      extentOf(argument), 0, 0, argument.bytes.data());
    else
      target_.queue.enqueueWriteBuffer(cl::Buffer(objects_[i](), true), CL_TRUE, 0,
                                       argument.bytes.size(), argument.bytes.data());
  }
}

Values Prepared::read() const {
  const Argument& argument = problem_.arguments[problem_.output];
  const cl_mem object = objects_[problem_.output]();
  Bytes bytes(argument.bytes.size());
  if (isImage(argument))
    target_.queue.enqueueReadImage(cl::Image2D(object, true), CL_TRUE, {0, 0, 0},
                                   extentOf(argument), 0, 0, bytes.data());
  else
    target_.queue.enqueueReadBuffer(cl::Buffer(object, true), CL_TRUE, 0, bytes.size(),
                                    bytes.data());
  return argument.decode(bytes);
}

std::pair<cl_uint, std::string> Prepared::split(const Range& local) {
  setArguments(itemsIn(local));
  const cl::Platform platform(target_.device.getInfo<CL_DEVICE_PLATFORM>());
  const auto query = reinterpret_cast<clGetKernelSplitInfoWEFT_fn>(
      clGetExtensionFunctionAddressForPlatform(platform(), "clGetKernelSplitInfoWEFT"));
  if (!query) throw cl::Error(CL_INVALID_OPERATION, "clGetKernelSplitInfoWEFT");
  cl_uint worst = CL_SPLIT_CLASS_EXACT_WEFT;
  std::string why;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const Step& step = problem_.steps[i];
    for (const auto& [index, setting] : step.settings) kernels_[i].setArg(index, setting);
    const Range& global = step.global.empty() ? problem_.global : step.global;
    const Range& group = step.local.empty() ? local : step.local;
    const auto ask = [&](cl_uint what, size_t size, void* answer, size_t* size_ret) {
      const cl_int status =
          query(target_.queue(), kernels_[i](), cl_uint(global.size()), nullptr, global.data(),
                group.empty() ? nullptr : group.data(), what, size, answer, size_ret);
      if (status != CL_SUCCESS) throw cl::Error(status, "clGetKernelSplitInfoWEFT");
    };
    cl_uint found = 0;
    ask(CL_KERNEL_SPLIT_CLASS_WEFT, sizeof found, &found, nullptr);
    if (found == CL_SPLIT_CLASS_EXACT_WEFT || worst == CL_SPLIT_CLASS_WHOLE_WEFT) continue;
    worst = found;
    size_t size = 0;
    ask(CL_KERNEL_SPLIT_REASON_WEFT, 0, nullptr, &size);
    why.resize(size);
    ask(CL_KERNEL_SPLIT_REASON_WEFT, size, why.data(), nullptr);
    why.resize(size - 1);
  }
  return {worst, why};
}

Times Prepared::run(const Range& local, bool fresh) {
  for (size_t i = 0; i < problem_.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (fresh && argument.kind == Kind::inout)
      target_.queue.enqueueWriteBuffer(cl::Buffer(objects_[i](), true), CL_TRUE, 0,
                                       argument.bytes.size(), argument.bytes.data());
  }
  setArguments(itemsIn(local));
  target_.queue.finish();

  std::vector<cl::Event> events(target_.profiled ? kernels_.size() : 0);
  const double cpu = cpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const Step& step = problem_.steps[i];
    for (const auto& [index, setting] : step.settings) kernels_[i].setArg(index, setting);
    target_.queue.enqueueNDRangeKernel(kernels_[i], cl::NullRange,
                                       ndRange(step.global.empty() ? problem_.global : step.global),
                                       ndRange(step.local.empty() ? local : step.local), nullptr,
                                       target_.profiled ? &events[i] : nullptr);
  }
  target_.queue.finish();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), cpuSeconds() - cpu, secondsOf(events)};
}

std::string Prepared::check(const Range& local) {
  run(local);
  return compare(read());
}

std::string Prepared::compare(const Values& result) {
  if (expected_.empty()) expected_ = problem_.expected();
  return compare(result, expected_);
}

std::string Prepared::compare(const Values& result, const Values& expected) const {
  if (result.size() != expected.size())
    return std::to_string(result.size()) + " elements, expected " + std::to_string(expected.size());
  double outliers = 0, allowed = case_.outliers * static_cast<double>(result.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const double error = std::abs(result[i] - expected[i]);
    if (error <= case_.tolerance * std::max(1.0, std::abs(expected[i]))) continue;
    if (++outliers > allowed) return describe(i, result[i], expected[i]);
  }
  return {};
}

}  // namespace weft::bench
