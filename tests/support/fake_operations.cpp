// What a fake device does for an operation.
#include "backends/cpu/launch.h"
#include "tests/support/fake_memory.h"

namespace weft::test {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

bool isShared(const port::Memory* memory) {
  return dynamic_cast<const FakeSharedMemory*>(memory) != nullptr;
}

}  // namespace

port::OperationStatus FakeDevice::execute(port::Operation& operation, FakeRecord& record) {
  using Kind = FakeRecord::Kind;
  return std::visit(Overloaded{
                        [](const std::monostate&) { return port::OperationStatus(0); },
                        [&](const port::HostCall& call) {
                          record.kind = Kind::host_call;
                          call.function(call.user);
                          return port::OperationStatus(0);
                        },
                        [&](const auto& request) { return run(request, record); },
                    },
                    operation.work);
}

port::OperationStatus FakeDevice::run(const port::Launch& launch, FakeRecord& record) {
  const auto& module = *static_cast<FakeModule*>(launch.module);
  record.kind = FakeRecord::Kind::launch;
  record.slice = launch.slice;
  if (launch.kernel >= module.names.size()) return violation("no such kernel in the module");
  record.kernel = module.names[launch.kernel];
  for (const port::LaunchArgument& argument : launch.arguments) {
    if (!argument.memory || isShared(argument.memory)) continue;
    const auto* own = dynamic_cast<const FakeMemory*>(argument.memory);
    if (!own || own->space != options_.memory_space)
      return violation("kernel argument in another device's memory");
  }
  for (const port::MemoryPart& part : launch.prefetch) record.bytes += part.size;
  if (!module.library) {
    if (launch.slice.count() != 0)
      module.functions[launch.kernel]({*launch.record, launch.slice, launch.arguments});
    return 0;
  }
  port::Launch host = launch;
  host.module = module.library.get();
  cpu::LaunchFrame frame;
  cpu::Scratch scratch;
  const port::OperationStatus status = frame.prepare(host);
  return status != 0 ? status : frame.run(0, frame.groups(), scratch);
}

std::byte* FakeDevice::resolve(const port::Location& location, port::MemorySpace& space) {
  space = port::host_space;
  std::byte* base = location.host;
  if (const auto* fake = dynamic_cast<const FakeMemory*>(location.memory)) {
    space = fake->space;
    base = reinterpret_cast<std::byte*>(fake->deviceAddress());
  } else if (location.memory) {
    base = location.memory->host();
  }
  return base && reaches(space) ? base + location.offset : nullptr;
}

port::OperationStatus FakeDevice::run(const port::Copy& copy, FakeRecord& record) {
  record.kind = FakeRecord::Kind::copy;
  record.bytes = copy.region[0] * copy.region[1] * copy.region[2];
  const std::byte* from = resolve(copy.source, record.from);
  std::byte* to = resolve(copy.destination, record.to);
  if (!from || !to) return violation("copy to or from memory that the device does not reach");
  for (size_t z = 0; z < copy.region[2]; ++z)
    for (size_t y = 0; y < copy.region[1]; ++y) {
      const auto at = [&](const port::Location& l) { return y * l.row_pitch + z * l.slice_pitch; };
      std::memcpy(to + at(copy.destination), from + at(copy.source), copy.region[0]);
    }
  return 0;
}

port::OperationStatus FakeDevice::run(const port::Fill& fill, FakeRecord& record) {
  record.kind = FakeRecord::Kind::fill;
  record.bytes = fill.size * fill.rows * fill.slices;
  port::Location location;
  location.memory = fill.memory;
  location.offset = fill.offset;
  std::byte* to = resolve(location, record.to);
  if (!to || (record.to != options_.memory_space && !isShared(fill.memory)))
    return violation("fill of another's memory");
  for (size_t slice = 0; slice < fill.slices; ++slice)
    for (size_t row = 0; row < fill.rows; ++row)
      for (size_t i = 0; i < fill.size; i += fill.pattern_size)
        std::memcpy(to + slice * fill.slice_pitch + row * fill.row_pitch + i, fill.pattern,
                    fill.pattern_size);
  return 0;
}

port::OperationStatus FakeDevice::run(const port::Prefetch& prefetch, FakeRecord& record) {
  record.kind = FakeRecord::Kind::prefetch;
  record.to = prefetch.to_host ? port::host_space : options_.memory_space;
  for (const port::Prefetch::Part& part : prefetch.parts) {
    if (part.offset + part.size > part.memory->size()) return violation("prefetch beyond the end");
    record.bytes += part.size;
  }
  return 0;
}

}  // namespace weft::test
