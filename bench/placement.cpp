// Graphs of kernels that are too small to be divided, on the unified device and on each of its
// members alone:
//   WEFT_UNIFIED=1 [WEFT_UNIFIED_DEVICES=1,2] weft-bench-placement [SCALE]
// Prints for each graph the best member's time and the unified device's. Results are compared with
// the best member's.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/unified.h"

namespace {

// Tiles are square, of `tile` floats a side, in memory row by row.
constexpr const char* source = R"(
// A long chain of dependent operations for each item.
kernel void iterate(global float* x, int times) {
  const size_t i = get_global_id(0);
  float v = x[i];
  for (int t = 0; t < times; ++t) v = 0.999f * v + 0.0005f;
  x[i] = v;
}
// The lower triangle: a = l * transposed l, by one work-group.
kernel void factor(global float* a, int tile) {
  const int me = get_local_id(0), count = get_local_size(0);
  for (int k = 0; k < tile; ++k) {
    const float pivot = sqrt(a[k * tile + k]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int i = k + me; i < tile; i += count)
      a[i * tile + k] = i == k ? pivot : a[i * tile + k] / pivot;
    barrier(CLK_GLOBAL_MEM_FENCE);
    const int side = tile - k - 1;
    for (int t = me; t < side * side; t += count) {
      const int i = k + 1 + t / side, j = k + 1 + t % side;
      if (j <= i) a[i * tile + j] -= a[i * tile + k] * a[j * tile + k];
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
// x * transposed l = a, a row for each group; x in place of a.
kernel void solve(global const float* l, global float* a, local float* row, int tile) {
  const int me = get_local_id(0), count = get_local_size(0);
  a += get_group_id(0) * tile;
  for (int j = me; j < tile; j += count) row[j] = a[j];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < tile; ++j) {
    const float x = row[j] / l[j * tile + j];
    for (int k = j + 1 + me; k < tile; k += count) row[k] -= x * l[k * tile + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) a[j] = x;
  }
}
// c -= a * transposed b; 4 x 4 of c for each item, 16 x 16 items in a group.
kernel void update(global const float* a, global const float* b, global float* c, int tile) {
  local float ta[16][65], tb[16][65];
  const int x = get_local_id(0), y = get_local_id(1), me = y * 16 + x;
  const int column = get_group_id(0) * 64, row = get_group_id(1) * 64;
  float sum[4][4] = {{0}};
  for (int k = 0; k < tile; k += 16) {
    for (int t = me; t < 16 * 64; t += 256) {
      ta[t % 16][t / 16] = a[(row + t / 16) * tile + k + t % 16];
      tb[t % 16][t / 16] = b[(column + t / 16) * tile + k + t % 16];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 0; t < 16; ++t)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += ta[t][y + 16 * i] * tb[t][x + 16 * j];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + y + 16 * i) * tile + column + x + 16 * j] -= sum[i][j];
}
)";

using Clock = std::chrono::steady_clock;
using Events = std::vector<cl::Event>;

// A device with the program, and the graph's memory.
class Setting {
 public:
  Setting(const cl::Device& device, size_t scale)
      : context(device), program(context, std::string(source)), scale(scale) {
    program.build(device, "");
  }
  cl::CommandQueue queue(cl_command_queue_properties properties = 0) const {
    return cl::CommandQueue(context, properties);
  }
  cl::Buffer buffer(std::vector<float> values) const {
    return {context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float),
            values.data()};
  }

  cl::Context context;
  cl::Program program;
  size_t scale;
};

template <class... Arguments>
cl::Kernel kernel(const Setting& s, const char* name, const Arguments&... arguments) {
  cl::Kernel made(s.program, name);
  cl_uint index = 0;
  (made.setArg(index++, arguments), ...);
  return made;
}

std::vector<float> read(const cl::CommandQueue& queue, const cl::Buffer& buffer) {
  std::vector<float> values(buffer.getInfo<CL_MEM_SIZE>() / sizeof(float));
  queue.enqueueReadBuffer(buffer, true, 0, values.size() * sizeof(float), values.data());
  return values;
}

// Runs once, from the same bytes each time, and gives the time in ms.
using Graph = std::function<double(std::vector<float>& result)>;

constexpr size_t items = 4096, group = 256;

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// `count` kernels on each of `chains` buffers.
Graph chains(const Setting& s, size_t chains, size_t count, bool one_queue) {
  return [&s, chains, count, one_queue](std::vector<float>& result) {
    std::vector<cl::CommandQueue> queues;
    const cl_command_queue_properties order =
        one_queue ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : cl_command_queue_properties{0};
    for (size_t i = 0; i < (one_queue ? 1 : chains); ++i) queues.push_back(s.queue(order));
    std::vector<cl::Buffer> buffers;
    std::vector<cl::Kernel> kernels;
    std::vector<Events> last(chains);
    for (size_t i = 0; i < chains; ++i) {
      buffers.push_back(s.buffer(std::vector<float>(items, 0.1f + 0.001f * float(i))));
      kernels.push_back(kernel(s, "iterate", buffers.back(), static_cast<cl_int>(2000 * s.scale)));
    }
    const auto begin = Clock::now();
    for (size_t n = 0; n < count; ++n)
      for (size_t i = 0; i < chains; ++i) {
        cl::Event event;
        queues[i % queues.size()].enqueueNDRangeKernel(kernels[i], {}, items, group, &last[i],
                                                       &event);
        last[i] = {event};
      }
    for (const cl::CommandQueue& queue : queues) queue.flush();
    for (const cl::CommandQueue& queue : queues) queue.finish();
    const double time = since(begin);
    for (const cl::Buffer& buffer : buffers) {
      const auto values = read(queues.front(), buffer);
      result.insert(result.end(), values.begin(), values.end());
    }
    return time;
  };
}

// Of a symmetric matrix of n x n tiles, which is positive definite, in an unordered queue.
class Cholesky {
 public:
  Cholesky(const Setting& setting, int n, int tile)
      : s_(setting), n_(n), tile_(tile), writers_(size_t(n) * size_t(n)) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) tiles_.push_back(j <= i ? s_.buffer(values(i, j)) : cl::Buffer());
  }

  double run(std::vector<float>& result) {
    const auto begin = Clock::now();
    for (int k = 0; k < n_; ++k) {
      launch(kernel(s_, "factor", at(k, k), tile_), {256}, {256}, {{k, k}}, {k, k});
      for (int i = k + 1; i < n_; ++i)
        launch(kernel(s_, "solve", at(k, k), at(i, k), cl::Local(size_t(tile_) * sizeof(float)),
                      tile_),
               {size_t(tile_) * 64}, {64}, {{k, k}, {i, k}}, {i, k});
      const size_t side = size_t(tile_) / 4;
      for (int i = k + 1; i < n_; ++i)
        for (int j = k + 1; j <= i; ++j)
          launch(kernel(s_, "update", at(i, k), at(j, k), at(i, j), tile_), {side, side}, {16, 16},
                 {{i, k}, {j, k}, {i, j}}, {i, j});
      queue_.flush();
    }
    queue_.finish();
    const double time = since(begin);
    for (int i = 0; i < n_; ++i) {
      const auto values = read(queue_, at(n_ - 1, i));
      result.insert(result.end(), values.begin(), values.end());
    }
    return time;
  }

 private:
  using Place = std::pair<int, int>;

  size_t indexOf(Place place) const {
    return size_t(place.first) * size_t(n_) + size_t(place.second);
  }
  cl::Buffer& at(int i, int j) { return tiles_[indexOf({i, j})]; }
  std::vector<float> values(int row, int column) const {
    std::vector<float> made(size_t(tile_) * size_t(tile_));
    for (int i = 0; i < tile_; ++i)
      for (int j = 0; j < tile_; ++j) {
        const int y = row * tile_ + i, x = column * tile_ + j;
        made[size_t(i * tile_ + j)] =
            y == x ? float(n_ * tile_) : 1.0f / float(1 + std::abs(y - x));
      }
    return made;
  }
  // Tiles are written by one kernel after the other, and read by later ones; whoever writes one
  // that others read follows all of those, because it is the last to touch it.
  void launch(const cl::Kernel& what, const cl::NDRange& global, const cl::NDRange& local,
              std::initializer_list<Place> touched, Place written) {
    Events waits;
    for (const Place& place : touched)
      waits.insert(waits.end(), writers_[indexOf(place)].begin(), writers_[indexOf(place)].end());
    cl::Event event;
    queue_.enqueueNDRangeKernel(what, {}, global, local, &waits, &event);
    writers_[indexOf(written)] = {event};
  }

  const Setting& s_;
  cl_int n_, tile_;
  cl::CommandQueue queue_ = s_.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<cl::Buffer> tiles_;
  std::vector<Events> writers_;
};

struct Case {
  const char* name;
  Graph (*make)(const Setting&);
};
const Case cases[] = {
    {"one chain of 200", [](const Setting& s) { return chains(s, 1, 200, false); }},
    {"4 queues, 200 each", [](const Setting& s) { return chains(s, 4, 200, false); }},
    {"4 chains, one queue", [](const Setting& s) { return chains(s, 4, 200, true); }},
    {"400 by themselves", [](const Setting& s) { return chains(s, 400, 1, true); }},
    {"Cholesky, 12 x 12 tiles",
     [](const Setting& s) -> Graph {
       return [&s](std::vector<float>& result) {
         return Cholesky(s, 12, s.scale < 4 ? 128 : 512).run(result);
       };
     }},
};

struct Measured {
  double first = 0, least = 1e300;  // ms
  std::vector<float> result;
};

Measured measure(const cl::Device& device, const Case& what, size_t scale) {
  constexpr int runs = 7;
  const Setting setting(device, scale);
  const Graph graph = what.make(setting);
  Measured measured;
  for (int i = 0; i < runs; ++i) {
    measured.result.clear();
    const double time = graph(measured.result);
    if (i == 0) measured.first = time;
    if (i > 1) measured.least = std::min(measured.least, time);
  }
  return measured;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::abs(x - y) <= 1e-3f * std::max({1.0f, std::abs(x), std::abs(y)});
  });
}

int run(size_t scale) {
  const auto [unified, members, name] = weft::bench::findUnifiedDevice();
  std::printf("%s\n\n%-24s %10s %10s %10s %8s\n", name.c_str(), "graph", "best, ms", "first, ms",
              "least, ms", "speedup");
  bool right = true;
  for (const Case& what : cases) {
    Measured best;
    for (const cl::Device& member : members) {
      Measured measured = measure(member, what, scale);
      if (measured.least < best.least) best = std::move(measured);
    }
    const Measured together = measure(unified, what, scale);
    const bool equal = same(best.result, together.result);
    right = right && equal;
    std::printf("%-24s %10.3f %10.3f %10.3f %8.2f%s\n", what.name, best.least, together.first,
                together.least, best.least / together.least, equal ? "" : "  DIFFERS");
    std::fflush(stdout);
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return weft::bench::runScaled(argc, argv, run); }
