#include "core/image.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/ports/launch.h"
#include "core/ports/native_images.h"

namespace weft {
namespace {

constexpr char magic[8] = {'W', 'E', 'F', 'T', 'I', 'M', 'G', '\0'};
constexpr uint32_t format_version = 16;

struct FileHeader {
  char magic[8];
  uint32_t format_version;
  uint32_t abi_version;
  uint64_t body_bytes;
  uint64_t checksum;
};

// FNV-1a over 64-bit words, then over the tail: damage, not malice, is what it looks for.
uint64_t checksum(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  };
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    mix(word);
  }
  for (; i < bytes.size(); ++i) mix(static_cast<uint64_t>(bytes[i]));
  return hash;
}

// One description of the layout serves both directions: Writer and Reader have the same operators.
class Writer {
 public:
  explicit Writer(port::Bytes& out) : out_(out) {}
  bool reading() const { return false; }
  void raw(void* data, size_t size) {
    auto* bytes = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), bytes, bytes + size);
  }
  bool count(uint64_t& n) {
    raw(&n, sizeof n);
    return true;
  }

 private:
  port::Bytes& out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  bool reading() const { return true; }
  bool ok() const { return ok_ && in_.empty(); }
  void raw(void* data, size_t size) {
    if (!ok_ || size > in_.size()) {
      ok_ = false;
      return;
    }
    if (size == 0) return;
    std::memcpy(data, in_.data(), size);
    in_ = in_.subspan(size);
  }
  // Every counted element takes at least a byte, so a count beyond what is left is damage.
  bool count(uint64_t& n) {
    n = 0;
    raw(&n, sizeof n);
    if (n > in_.size()) ok_ = false;
    return ok_;
  }

 private:
  std::span<const std::byte> in_;
  bool ok_ = true;
};

template <class S, class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
void fields(S& s, T& value) {
  s.raw(&value, sizeof value);
}

template <class S>
void fields(S& s, bool& value) {
  uint8_t byte = value;
  s.raw(&byte, 1);
  value = byte != 0;
}

template <class S>
void fields(S& s, std::string& text) {
  uint64_t n = text.size();
  if (!s.count(n)) return;
  text.resize(n);
  s.raw(text.data(), n);
}

template <class S>
void fields(S& s, port::Bytes& bytes) {
  uint64_t n = bytes.size();
  if (!s.count(n)) return;
  bytes.resize(n);
  s.raw(bytes.data(), n);
}

template <class S>
void fields(S& s, std::array<uint64_t, 3>& values) {
  s.raw(values.data(), sizeof values);
}

template <class S, class... T>
void all(S& s, T&... values) {
  (fields(s, values), ...);
}

template <class S>
void fields(S& s, AccessStep& step) {
  all(s, step.code, step.width, step.variable, step.a, step.b, step.value);
}

template <class S>
void fields(S& s, AccessRecord& record);
template <class S>
void fields(S& s, ArgumentInfo& a);
template <class S>
void fields(S& s, NativeImage& image);
template <class S>
void fields(S& s, NativeSampler& sampler);
template <class S>
void fields(S& s, KernelInfo& k);

template <class S, class T>
  requires(std::is_class_v<T> && !std::is_arithmetic_v<T>)
void fields(S& s, std::vector<T>& items) {
  uint64_t n = items.size();
  if (!s.count(n)) return;
  items.resize(n);
  for (T& item : items) fields(s, item);
}

template <class S>
void fields(S& s, AccessRecord& record) {
  all(s, record.reads, record.writes, record.complete, record.offset, record.bytes, record.steps);
}

template <class S>
void fields(S& s, ArgumentInfo& a) {
  all(s, a.name, a.type_name, a.kind, a.address, a.access, a.type_qualifiers, a.size, a.alignment,
      a.reads, a.writes, a.reads_known, a.writes_known, a.combination, a.combined_bytes,
      a.store_bytes, a.accesses);
}

template <class S>
void fields(S& s, NativeImage& image) {
  all(s, image.argument, image.samplers);
}

template <class S>
void fields(S& s, NativeSampler& sampler) {
  all(s, sampler.is_argument, sampler.value);
}

template <class S>
void fields(S& s, KernelInfo& k) {
  all(s, k.name, k.symbol, k.attributes, k.arguments, k.required_local_size, k.hinted_local_size,
      k.required_sub_group_size, k.sub_group_size, k.local_bytes, k.private_bytes,
      k.lane_context_bytes, k.lane_dimension, k.rows_at_once, k.other_forms, k.stack_bytes,
      k.uniform_groups, k.observes_groups, k.has_barriers, k.uses_printf, k.uses_device_queue,
      k.is_block, k.split_hazards, k.native.symbol, k.native.images, k.native.samplers);
}

template <class S>
void fields(S& s, Image& image) {
  all(s, image.kind, image.target.kind, image.target.cpu, image.target.features, image.options,
      image.kernels, image.global_variable_bytes, image.argument_names, image.payload);
}

bool accessesAreValid(const Image& image) {
  for (const KernelInfo& kernel : image.kernels)
    for (const ArgumentInfo& argument : kernel.arguments)
      for (const AccessRecord& record : argument.accesses)
        if (!isValid(record, kernel.arguments)) return false;
  return true;
}

// Launches look up what it names.
bool isValid(const NativeImages& native, std::span<const ArgumentInfo> arguments) {
  const auto is = [&](uint32_t index, ArgumentKind kind) {
    return index < arguments.size() && arguments[index].kind == kind;
  };
  const size_t samplers = native.samplers.size();
  return native.images.size() <= port::most_native_images &&
         samplers <= port::most_native_samplers &&
         std::ranges::all_of(native.images,
                             [&](const NativeImage& image) {
                               return is(image.argument, ArgumentKind::image) &&
                                      image.samplers >> samplers == 0;
                             }) &&
         std::ranges::all_of(native.samplers, [&](const NativeSampler& sampler) {
           return !sampler.is_argument || is(sampler.value, ArgumentKind::sampler);
         });
}

bool nativeImagesAreValid(const Image& image) {
  return std::ranges::all_of(image.kernels, [](const KernelInfo& kernel) {
    return isValid(kernel.native, kernel.arguments);
  });
}

}  // namespace

bool mayWrite(const ArgumentInfo& argument) {
  if (argument.kind == ArgumentKind::image)
    return argument.access == AccessQualifier::write_only ||
           argument.access == AccessQualifier::read_write;
  return argument.writes &&
         (argument.kind == ArgumentKind::global_pointer || argument.kind == ArgumentKind::pipe);
}

const char* nameOf(SplitHazard hazard) {
  constexpr std::pair<SplitHazard, const char*> names[] = {
      {SplitHazard::global_atomics, "atomics on global memory"},
      {SplitHazard::volatile_accesses, "volatile accesses to global memory"},
      {SplitHazard::fences, "fences"},
      {SplitHazard::prints, "printf"},
      {SplitHazard::unnamed_memory, "pointers that no argument is"},
      {SplitHazard::program_variables, "variables of the program"},
      {SplitHazard::unknown_calls, "calls that nobody can follow"},
      {SplitHazard::device_queues, "device-side enqueue"},
      {SplitHazard::ordered_atomics, "atomics that order memory"},
      {SplitHazard::common_atomics, "atomics of all work-items on global memory"},
      {SplitHazard::waiting_atomics, "loops that depend on atomics on global memory"},
  };
  for (const auto& [value, name] : names)
    if (value == hazard) return name;
  return "something unknown";
}

std::optional<uint32_t> Image::find(std::string_view kernel) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KernelInfo& info) {
    return !info.is_block && info.name == kernel;
  });
  if (found == kernels.end()) return std::nullopt;
  return static_cast<uint32_t>(found - kernels.begin());
}

std::string imageVersion() {
  return std::to_string(port::abi_version) + '.' + std::to_string(format_version);
}

port::Bytes writeImage(const Image& image) {
  port::Bytes out(sizeof(FileHeader));
  Writer writer(out);
  Image copy = image;
  fields(writer, copy);
  const auto body = std::span(out).subspan(sizeof(FileHeader));
  FileHeader header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.format_version = format_version;
  header.abi_version = port::abi_version;
  header.body_bytes = body.size();
  header.checksum = checksum(body);
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

std::optional<Image> readImage(std::span<const std::byte> bytes) {
  FileHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto body = bytes.subspan(sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 ||
      header.format_version != format_version || header.abi_version != port::abi_version ||
      header.body_bytes != body.size() || header.checksum != checksum(body))
    return std::nullopt;
  Image image;
  Reader reader(body);
  fields(reader, image);
  if (!reader.ok() || !accessesAreValid(image) || !nativeImagesAreValid(image)) return std::nullopt;
  return image;
}

}  // namespace weft
