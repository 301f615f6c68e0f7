#include "tests/backends/hip/mock_runtime.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "backends/hip/clock.h"
#include "tests/backends/hip/mock_kernels.h"

namespace weft::test {
namespace {

using namespace hip;  // the names of the table's types

constexpr Status illegal_address = 700;

class Stream {
 public:
  Stream() : thread_([this] { run(); }) {}
  ~Stream() {
    push(nullptr);
    thread_.join();
  }
  void push(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !queue_.empty(); });
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      if (!work) return;
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::thread thread_;
};

// Shared with the streams it is recorded on: it may be destroyed before they get there.
struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t issued = 0, reached = 0;
  port::Nanoseconds when = 0;
  bool timed = true;
};
using EventRef = std::shared_ptr<Event>;

Stream& of(StreamHandle handle) { return *reinterpret_cast<Stream*>(handle); }
EventRef& of(EventHandle handle) { return *reinterpret_cast<EventRef*>(handle); }

MockFaults faults;

Status state() { return faults.lost ? illegal_address : success; }

template <class Handle, class T>
Status hand(Handle* handle, T* object) {
  if (faults.lost) {
    delete object;
    return illegal_address;
  }
  ++faults.alive;
  *handle = reinterpret_cast<Handle>(object);
  return success;
}

Status enqueue(StreamHandle stream, std::function<void()> work) {
  if (faults.lost) return illegal_address;
  of(stream).push(std::move(work));
  return success;
}

bool failCopy() {
  int left = faults.failing_copies;
  while (left > 0)
    if (faults.failing_copies.compare_exchange_weak(left, left - 1)) return true;
  return false;
}

Status allocate(void** address, size_t bytes) {
  if (bytes > (size_t(1) << 32)) return out_of_memory;
  *address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  ++faults.alive;
  return success;
}

Status release(void* address) {
  std::free(address);
  --faults.alive;
  return success;
}

Status attribute(int* value, Attribute attribute, int) {
  struct Row {
    Attribute attribute;
    int value;
  };
  // Grids of at most 5 groups, so that ordinary launches are cut.
  static constexpr Row rows[] = {
      {Attribute::clock_rate, 1000000},
      {Attribute::max_block_dim_x, 1024},
      {Attribute::max_block_dim_y, 1024},
      {Attribute::max_block_dim_z, 64},
      {Attribute::max_grid_dim_x, 5},
      {Attribute::max_grid_dim_y, 5},
      {Attribute::max_grid_dim_z, 5},
      {Attribute::max_threads_per_block, 1024},
      {Attribute::multiprocessor_count, 2},
      {Attribute::max_shared_memory_per_block, 65536},
      {Attribute::total_constant_memory, 65536},
      {Attribute::warp_size, 32},
  };
  for (const Row& row : rows)
    if (row.attribute == attribute) {
      *value = row.value;
      return success;
    }
  return invalid_value;
}

Status copy(void* to, const void* from, size_t bytes, int, StreamHandle stream) {
  if (failCopy()) return invalid_value;
  return enqueue(stream, [=] { std::memmove(to, from, bytes); });
}

void rows(std::byte* to, size_t to_pitch, const std::byte* from, size_t from_pitch, size_t width,
          size_t height) {
  for (size_t row = 0; row < height; ++row)
    std::memmove(to + row * to_pitch, from + row * from_pitch, width);
}

Status copy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
              size_t height, int, StreamHandle stream) {
  if (failCopy()) return invalid_value;
  return enqueue(stream, [=] {
    rows(static_cast<std::byte*>(to), to_pitch, static_cast<const std::byte*>(from), from_pitch,
         width, height);
  });
}

Status copy3D(const Copy3D* given, StreamHandle stream) {
  if (failCopy()) return invalid_value;
  return enqueue(stream, [c = *given] {
    for (size_t z = 0; z < c.extent[2]; ++z)
      rows(static_cast<std::byte*>(c.destination.pointer) +
               z * c.destination.pitch * c.destination.height,
           c.destination.pitch,
           static_cast<const std::byte*>(c.source.pointer) + z * c.source.pitch * c.source.height,
           c.source.pitch, c.extent[0], c.extent[1]);
  });
}

template <class T, class Given>
Status set(void* address, Given value, size_t count, StreamHandle stream) {
  return enqueue(stream,
                 [=] { std::fill_n(static_cast<T*>(address), count, static_cast<T>(value)); });
}

Status launch(FunctionHandle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
              unsigned by, unsigned bz, unsigned shared, StreamHandle stream, void** parameters,
              void**) {
  const auto& kernel = *reinterpret_cast<const MockKernel*>(function);
  std::vector<std::vector<std::byte>> values;
  for (size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(parameters[i]);
    values.emplace_back(bytes, bytes + kernel.parameter_bytes[i]);
  }
  return enqueue(stream, [=, &kernel] { kernel.run(values, {gx, gy, gz}, {bx, by, bz}, shared); });
}

Status load(ModuleHandle* module, const void* image, unsigned, JitOption*, void** values) {
  if (std::strstr(static_cast<const char*>(image), ".visible .entry") == nullptr) {
    std::strcpy(static_cast<char*>(values[0]), "no entry");
    return 218;
  }
  return hand(module, new int(0));
}

Status eventRecord(EventHandle handle, StreamHandle stream) {
  const EventRef event = of(handle);
  uint64_t turn = 0;
  {
    const std::lock_guard lock(event->mutex);
    turn = ++event->issued;
  }
  return enqueue(stream, [event, turn] {
    const std::lock_guard lock(event->mutex);
    event->reached = turn;
    event->when = hostNow();
    event->changed.notify_all();
  });
}

void await(const EventRef& event, uint64_t turn) {
  std::unique_lock lock(event->mutex);
  while (event->reached < turn && !faults.lost)
    event->changed.wait_for(lock, std::chrono::milliseconds(1));
}

Status eventQuery(EventHandle handle) {
  if (faults.lost) return illegal_address;
  const EventRef event = of(handle);
  const std::lock_guard lock(event->mutex);
  return event->reached == event->issued ? success : not_ready;
}

Status elapsed(float* milliseconds, EventHandle begin, EventHandle end) {
  const auto when = [](EventHandle handle) {
    const EventRef event = of(handle);
    const std::lock_guard lock(event->mutex);
    return static_cast<double>(event->when);
  };
  *milliseconds = static_cast<float>((when(end) - when(begin)) * 1e-6);
  return of(begin)->timed && of(end)->timed ? state() : invalid_value;
}

Status waitWord(StreamHandle stream, void* address, uint32_t value, unsigned, uint32_t) {
  return enqueue(stream, [=] {
    const std::atomic_ref<uint32_t> word(*static_cast<uint32_t*>(address));
    while (word.load(std::memory_order_acquire) < value) std::this_thread::yield();
  });
}

void fillDevice(Api& api) {
  api.init = [](unsigned) { return success; };
  api.driverGetVersion = [](int* version) {
    *version = 12030;
    return success;
  };
  api.getDeviceCount = [](int* count) {
    *count = 2;
    return success;
  };
  api.deviceGetName = [](char* name, int length, int device) {
    std::snprintf(name, static_cast<size_t>(length), "mock %d", device);
    return success;
  };
  api.deviceGetAttribute = attribute;
  api.deviceTotalMem = [](size_t* bytes, int) {
    *bytes = size_t(1) << 30;
    return success;
  };
  api.deviceCanAccessPeer = [](int* can, int, int) {
    *can = 1;
    return success;
  };
  api.deviceEnablePeerAccess = [](int, unsigned) { return success; };
  api.memGetInfo = [](size_t* free, size_t* total) {
    *free = *total = size_t(1) << 30;
    return success;
  };
  api.getErrorString = [](Status) { return "mock error"; };
  api.enter = [](int, void**) { return success; };
  api.leave = [](void*) {};
  api.targetName = [](char* name, size_t length, int) {
    std::snprintf(name, length, "sm_80");
    return success;
  };
}

void fillMemory(Api& api) {
  api.malloc = allocate;
  api.free = release;
  api.hostMalloc = [](void** address, size_t bytes, unsigned) { return allocate(address, bytes); };
  api.hostFree = release;
  api.hostRegister = [](void*, size_t, unsigned) {
    ++faults.alive;
    return success;
  };
  api.hostUnregister = [](void*) {
    --faults.alive;
    return success;
  };
  api.hostGetDevicePointer = [](void** device, void* host, unsigned) {
    *device = host;
    return success;
  };
  api.memcpyAsync = copy;
  api.memcpy2DAsync = copy2D;
  api.memcpy3DAsync = copy3D;
  api.memsetD8Async = set<unsigned char, unsigned char>;
  api.memsetD16Async = set<unsigned short, unsigned short>;
  api.memsetD32Async = set<int, int>;
}

void fillStreams(Api& api) {
  api.streamCreateWithFlags = [](StreamHandle* stream, unsigned) {
    return hand(stream, new Stream);
  };
  api.streamDestroy = [](StreamHandle stream) {
    delete &of(stream);
    --faults.alive;
    return success;
  };
  api.streamWaitEvent = [](StreamHandle stream, EventHandle handle, unsigned) {
    const EventRef event = of(handle);
    const std::lock_guard lock(event->mutex);
    return enqueue(stream, [event, turn = event->issued] { await(event, turn); });
  };
  api.streamWaitValue32 = waitWord;
  api.streamWriteValue32 = [](StreamHandle stream, void* address, uint32_t value, unsigned) {
    return enqueue(
        stream, [=] { std::atomic_ref<uint32_t>(*static_cast<uint32_t*>(address)).store(value); });
  };
  api.launchHostFunc = [](StreamHandle stream, void (*function)(void*), void* user) {
    return enqueue(stream, [=] { function(user); });
  };
  api.eventCreateWithFlags = [](EventHandle* event, unsigned flags) {
    auto* const made = new EventRef(std::make_shared<Event>());
    (*made)->timed = !(flags & event_disable_timing);
    return hand(event, made);
  };
  api.eventDestroy = [](EventHandle event) {
    delete &of(event);
    --faults.alive;
    return success;
  };
  api.eventRecord = eventRecord;
  api.eventQuery = eventQuery;
  api.eventSynchronize = [](EventHandle event) {
    await(of(event), of(event)->issued);
    return state();
  };
  api.eventElapsedTime = elapsed;
}

void fillModules(Api& api) {
  api.moduleLoadDataEx = load;
  api.moduleUnload = [](ModuleHandle module) {
    delete reinterpret_cast<int*>(module);
    --faults.alive;
    return success;
  };
  api.moduleGetFunction = [](FunctionHandle* function, ModuleHandle, const char* name) -> Status {
    const MockKernel* const kernel = findMockKernel(name);
    *function = reinterpret_cast<FunctionHandle>(const_cast<MockKernel*>(kernel));
    return kernel ? success : 500;
  };
  api.moduleLaunchKernel = launch;
  api.funcGetAttribute = [](int* value, FunctionAttribute, FunctionHandle) {
    *value = 128;
    return success;
  };
}

}  // namespace

MockFaults& mockFaults() { return faults; }

std::unique_ptr<hip::Provider> openMock() {
  auto provider = std::make_unique<Provider>();
  provider->name = "mock";
  provider->platform = Platform::nvidia;
  fillDevice(provider->api);
  fillMemory(provider->api);
  fillStreams(provider->api);
  fillModules(provider->api);
  return provider;
}

}  // namespace weft::test
