// Runs the stages over all devices of one context, each on another device than the one before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/demo/picture.h"
#include "tools/demo/reference.h"
#include "tools/opencl.h"

namespace weft::tools::demo {

// What one device did in a run, and what it had to.
struct DeviceReport {
  std::string name;
  uint64_t commands = 0;  // without transfers
  uint64_t transfers = 0;
  double busy_ms = 0;      // in kernels and fills
  bool has_bytes = false;  // whether the implementation tells the bytes it moved
  uint64_t bytes_in = 0, bytes_out = 0;
  uint64_t needed_in = 0, needed_out = 0;
};

class Pipeline {
 public:
  // Builds the kernels for the devices.
  Pipeline(cl::Platform platform, std::vector<cl::Device> devices);

  // Enqueues every stage and waits for the last; returns the milliseconds that took.
  double run(Picture& picture);
  // Of the run so far.
  std::vector<DeviceReport> reports() const;
  // Brings the contents of every plane to the host.
  Planes readPlanes();

 private:
  struct PlaneState {
    cl::Buffer buffer;
    cl::Event written;
    std::vector<bool> valid_on;  // by device; all false: the host has it, or nobody
    int writer = -1;             // the device that wrote it; -1: the host
  };

  PlaneState& state(Plane plane) { return planes_[static_cast<size_t>(plane)]; }
  void makeBuffers(Picture& picture);
  void enqueue(size_t stage);
  void countNeeded(const Stage& stage, size_t device);
  std::pair<cl::NDRange, cl::NDRange> rangeOf(Range range) const;

  cl::Platform platform_;
  std::vector<cl::Device> devices_;
  cl::Context context_;
  cl::Program program_;
  std::vector<cl::CommandQueue> queues_;
  std::vector<PlaneState> planes_{plane_count};
  std::vector<std::vector<cl::Event>> events_;  // by device
  std::vector<DeviceReport> needed_;            // by device; only needed_* are used
  int width_ = 0, height_ = 0;
};

}  // namespace weft::tools::demo
