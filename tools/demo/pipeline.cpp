#include "tools/demo/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/cl_weft_ext.h"
#include "tools/demo/kernels.h"

namespace weft::tools::demo {
namespace {

constexpr size_t histogram_groups = 64, histogram_group_size = 256;

size_t roundUp(int n, int step) { return static_cast<size_t>((n + step - 1) / step) * step; }

// Time in which at least one of the events ran.
double busyMilliseconds(const std::vector<cl::Event>& events) {
  std::vector<std::pair<cl_ulong, cl_ulong>> spans;
  for (const cl::Event& event : events)
    spans.emplace_back(event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
                       event.getProfilingInfo<CL_PROFILING_COMMAND_END>());
  std::sort(spans.begin(), spans.end());
  cl_ulong busy = 0, until = 0;
  for (const auto& [start, end] : spans) {
    if (end > until) busy += end - std::max(start, until);
    until = std::max(until, end);
  }
  return static_cast<double>(busy) / 1e6;
}

}  // namespace

Pipeline::Pipeline(cl::Platform platform, std::vector<cl::Device> devices)
    : platform_(std::move(platform)),
      devices_(std::move(devices)),
      context_(devices_),
      program_(context_, std::string(kernel_source)),
      events_(devices_.size()),
      needed_(devices_.size()) {
  const std::string options = fmt::format("-cl-std=CL1.2 -DBLUR_TILE={} -DBLUR_RADIUS={} -DBINS={}",
                                          blur_tile, blur_radius, bin_count);
  program_.build(devices_, options.c_str());
  for (const cl::Device& device : devices_)
    queues_.emplace_back(context_, device, cl::QueueProperties::Profiling);
}

void Pipeline::makeBuffers(Picture& picture) {
  width_ = picture.width;
  height_ = picture.height;
  for (size_t i = 0; i < plane_count; ++i) {
    const auto plane = static_cast<Plane>(i);
    const size_t bytes = planeBytes(plane, picture.count());
    PlaneState& s = planes_[i];
    s.valid_on.assign(devices_.size(), false);
    s.writer = -1;
    auto weights = blur_weights;
    const cl_mem_flags copy = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    if (plane == Plane::rgba)
      s.buffer = cl::Buffer(context_, copy, bytes, picture.pixels.data());
    else if (plane == Plane::weights)
      s.buffer = cl::Buffer(context_, copy, bytes, weights.data());
    else
      s.buffer = cl::Buffer(context_, CL_MEM_READ_WRITE, bytes);
  }
}

std::pair<cl::NDRange, cl::NDRange> Pipeline::rangeOf(Range range) const {
  switch (range) {
    case Range::tiles:
      return {{roundUp(width_, blur_tile), roundUp(height_, blur_tile)}, {blur_tile, blur_tile}};
    case Range::strided:
      return {{histogram_groups * histogram_group_size}, {histogram_group_size}};
    case Range::one_group:
      return {{bin_count}, {bin_count}};
    case Range::pixels:
      break;
  }
  return {{roundUp(width_, 16), roundUp(height_, 16)}, cl::NullRange};
}

// The least that any implementation must move: a plane travels once to each device that reads it
// and does not hold it, and leaves the device that wrote it only where another needs it.
void Pipeline::countNeeded(const Stage& stage, size_t device) {
  const size_t pixels = static_cast<size_t>(width_) * height_;
  for (const Plane plane : stage.reads) {
    PlaneState& s = state(plane);
    if (s.valid_on[device]) continue;
    s.valid_on[device] = true;
    needed_[device].needed_in += planeBytes(plane, pixels);
    // Through the host or straight to its peer: the writer gives it away once.
    if (s.writer >= 0) needed_[s.writer].needed_out += planeBytes(plane, pixels);
  }
  for (const Plane plane : stage.writes) {
    PlaneState& s = state(plane);
    s.valid_on.assign(devices_.size(), false);
    s.valid_on[device] = true;
    s.writer = static_cast<int>(device);
  }
}

void Pipeline::enqueue(size_t index) {
  const Stage& stage = stages()[index];
  const size_t device = index % devices_.size();
  countNeeded(stage, device);
  cl::Kernel kernel(program_, stage.name);
  cl_uint argument = 0;
  std::vector<cl::Event> waits;
  for (const Plane plane : stage.reads) {
    kernel.setArg(argument++, state(plane).buffer);
    if (state(plane).written()) waits.push_back(state(plane).written);
  }
  for (const Plane plane : stage.writes) {
    kernel.setArg(argument++, state(plane).buffer);
    if (plane != Plane::bins) continue;
    cl::Event cleared;
    queues_[device].enqueueFillBuffer(state(plane).buffer, cl_uint{0}, 0, planeBytes(plane, 0),
                                      nullptr, &cleared);
    events_[device].push_back(cleared);
    waits.push_back(cleared);
  }
  kernel.setArg(argument++, width_);
  kernel.setArg(argument++, height_);
  const auto [global, local] = rangeOf(stage.range);
  cl::Event done;
  queues_[device].enqueueNDRangeKernel(kernel, cl::NullRange, global, local, &waits, &done);
  queues_[device].flush();
  events_[device].push_back(done);
  for (const Plane plane : stage.writes) state(plane).written = done;
}

double Pipeline::run(Picture& picture) {
  makeBuffers(picture);
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < stages().size(); ++i) enqueue(i);
  for (cl::CommandQueue& queue : queues_) queue.finish();
  for (const auto& events : events_)
    for (const cl::Event& event : events)
      if (const cl_int status = event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(); status < 0)
        throw cl::Error(status, "a stage");
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

std::vector<DeviceReport> Pipeline::reports() const {
  const auto statistics = reinterpret_cast<clGetContextStatisticsWEFT_fn>(extensionFunction(
      platform_, CL_WEFT_STATISTICS_EXTENSION_NAME, "clGetContextStatisticsWEFT"));
  std::vector<DeviceReport> reports = needed_;
  for (size_t i = 0; i < devices_.size(); ++i) {
    DeviceReport& report = reports[i];
    report.name = devices_[i].getInfo<CL_DEVICE_NAME>();
    report.commands = events_[i].size();
    report.busy_ms = busyMilliseconds(events_[i]);
    cl_device_statistics_weft counts;
    if (!statistics || statistics(context_(), devices_[i](), sizeof counts, &counts, nullptr) != 0)
      continue;
    report.has_bytes = true;
    report.commands = counts.commands;
    report.transfers = counts.transfers;
    report.bytes_in = counts.bytes_in;
    report.bytes_out = counts.bytes_out;
  }
  return reports;
}

Planes Pipeline::readPlanes() {
  Planes contents;
  for (size_t i = 0; i < plane_count; ++i) {
    const PlaneState& s = planes_[i];
    contents[i].resize(s.buffer.getInfo<CL_MEM_SIZE>());
    const size_t device = s.writer >= 0 ? static_cast<size_t>(s.writer) : 0;
    queues_[device].enqueueReadBuffer(s.buffer, CL_TRUE, 0, contents[i].size(), contents[i].data());
  }
  return contents;
}

}  // namespace weft::tools::demo
