#include "doubles.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>

namespace weft::test {
namespace {

class HeapMemory final : public port::Memory {
 public:
  explicit HeapMemory(size_t bytes) : data_(bytes) {}
  size_t size() const override { return data_.size(); }
  std::byte* host() const override { return const_cast<std::byte*>(data_.data()); }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(data_.data()); }

 private:
  std::vector<std::byte> data_;
};

class CountedModule final : public port::Module {
 public:
  explicit CountedModule(std::atomic<int>& count) : count_(count) { ++count_; }
  ~CountedModule() override { --count_; }

 private:
  std::atomic<int>& count_;
};

class DoubleBackend final : public port::Backend {
 public:
  explicit DoubleBackend(std::vector<std::shared_ptr<DoubleDevice>> devices)
      : devices_(std::move(devices)) {}
  std::string_view name() const override { return "double"; }
  std::vector<std::shared_ptr<port::Device>> discover(std::vector<port::Diagnostic>&) override {
    return {devices_.begin(), devices_.end()};
  }

 private:
  std::vector<std::shared_ptr<DoubleDevice>> devices_;
};

const std::map<char, ArgumentInfo>& argumentsByLetter() {
  const auto argument = [](ArgumentKind kind, AddressQualifier address, uint32_t size,
                           uint32_t alignment, const char* type) {
    ArgumentInfo info;
    info.name = "x";
    info.type_name = type;
    info.kind = kind;
    info.address = address;
    info.size = size;
    info.alignment = alignment;
    return info;
  };
  using enum ArgumentKind;
  using enum AddressQualifier;
  static const std::map<char, ArgumentInfo> table = {
      {'v', argument(value, private_, 4, 4, "int")},
      {'w', argument(value, private_, 64, 64, "float16")},
      {'g', argument(global_pointer, global, 8, 4, "int*")},
      {'c', argument(constant_pointer, constant, 8, 4, "int*")},
      {'l', argument(local_pointer, local, 8, 16, "int4*")},
      {'i', argument(image, global, 8, 8, "image2d_t")},
      {'s', argument(sampler, private_, 8, 8, "sampler_t")},
      {'q', argument(queue, private_, 8, 8, "queue_t")},
      {'p', argument(pipe, global, 8, 8, "int")},
  };
  return table;
}

KernelInfo kernelFrom(const std::string& word, const port::Target& target) {
  KernelInfo kernel;
  const size_t slash = word.find('/');
  kernel.name = kernel.symbol = word.substr(0, slash);
  std::string letters = word.substr(slash + 1);
  // A kernel whose definition depends on the device.
  if (kernel.name == "unlike" && target.cpu == "two") letters += 'v';
  for (const char letter : letters) kernel.arguments.push_back(argumentsByLetter().at(letter));
  kernel.local_bytes = 100;
  return kernel;
}

}  // namespace

class DoubleDevice::EagerStream final : public port::Stream {
 public:
  explicit EagerStream(DoubleDevice& device) : device_(device) {}

  void submit(port::Operation& operation) noexcept override {
    {
      const std::lock_guard lock(device_.launching_);
      device_.launched_.push_back(std::get<port::Launch>(operation.work).kernel);
    }
    operation.finished(device_.launch_status, 0, 0);
  }
  void flush() noexcept override {}

 private:
  DoubleDevice& device_;
};

std::unique_ptr<port::Stream> DoubleDevice::createStream(port::Order) {
  return std::make_unique<EagerStream>(*this);
}

std::vector<uint32_t> DoubleDevice::launched() {
  const std::lock_guard lock(launching_);
  return launched_;
}

DoubleDevice::DoubleDevice(std::string cpu) {
  target_.cpu = std::move(cpu);
  capabilities_.max_sub_devices = 2;
}

std::vector<std::shared_ptr<port::Device>> DoubleDevice::partition(
    std::span<const port::UnitSet> sets) {
  std::vector<std::shared_ptr<port::Device>> parts;
  for (size_t i = 0; i < sets.size(); ++i)
    parts.push_back(std::make_shared<DoubleDevice>(target_.cpu));
  return parts;
}

std::unique_ptr<port::Memory> DoubleDevice::allocate(size_t bytes, size_t) {
  return std::make_unique<HeapMemory>(bytes);
}

std::unique_ptr<port::Module> DoubleDevice::load(const Image& image) {
  ++loads;
  if (image.options.find("unloadable") != std::string::npos)
    throw Error(CL_OUT_OF_RESOURCES, "no room");
  return std::make_unique<CountedModule>(modules);
}

std::string DoubleCompiler::checkOptions(const std::string& options, port::OptionUse) const {
  return options.find("-bad") == std::string::npos ? "" : "unknown option: -bad\n";
}

void DoubleCompiler::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
}

void DoubleCompiler::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  opened_.notify_all();
}

void DoubleCompiler::pass() {
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [&] { return open_; });
}

port::CompileResult DoubleCompiler::run(const port::CompileRequest& request, ImageKind kind) {
  pass();
  std::string source = request.source;
  for (const port::Header& header : request.headers) {
    const std::string name = "@" + header.name;
    for (size_t at; (at = source.find(name)) != std::string::npos;)
      source.replace(at, name.size(), header.text);
  }
  Image image;
  image.kind = kind;
  image.target = request.target;
  image.options = request.options;
  image.argument_names = true;
  std::istringstream words(source);
  for (std::string word; words >> word;) {
    if (word == "error") return {false, "1: error in: " + source + "\n", {}};
    if (word == "throw") throw std::runtime_error("the compiler went away");
    if (word == "junk") return {true, "", port::Bytes(64)};
    if (word.starts_with('@')) return {false, "no header " + word + "\n", {}};
    image.kernels.push_back(kernelFrom(word, request.target));
  }
  return {true, "a warning\n", writeImage(image)};
}

port::CompileResult DoubleCompiler::compile(const port::CompileRequest& request) {
  ++compiles;
  return run(request, ImageKind::object);
}

port::CompileResult DoubleCompiler::build(const port::CompileRequest& request) {
  ++builds;
  return run(request, ImageKind::executable);
}

port::CompileResult DoubleCompiler::link(const port::LinkRequest& request) {
  ++links;
  pass();
  Image image;
  image.kind = request.make_library ? ImageKind::library : ImageKind::executable;
  image.target = request.target;
  image.options = request.options;
  for (const port::Bytes& object : request.objects) {
    auto input = readImage(object);
    if (!input) return {false, "not an object\n", {}};
    for (KernelInfo& kernel : input->kernels) {
      const auto same = [&](const KernelInfo& other) { return other.name == kernel.name; };
      if (std::any_of(image.kernels.begin(), image.kernels.end(), same))
        return {false, "duplicate symbol: " + kernel.name + "\n", {}};
      image.kernels.push_back(std::move(kernel));
    }
  }
  return {true, "", writeImage(image)};
}

Machine::Machine() {
  for (const char* cpu : {"one", "one", "two"})
    devices_.push_back(std::make_shared<DoubleDevice>(cpu));
  auto compiler = std::make_unique<DoubleCompiler>();
  compiler_ = compiler.get();
  std::vector<std::unique_ptr<port::Backend>> backends;
  backends.push_back(std::make_unique<DoubleBackend>(devices_));
  platform_ = make<Platform>(std::move(backends), std::move(compiler));
}

Machine::~Machine() { compiler_->open(); }

Ref<Context> Machine::context(std::vector<Ref<Device>> devices) {
  return make<Context>(platform(), std::move(devices), std::vector<cl_context_properties>{},
                       nullptr, nullptr);
}

Ref<Program> Machine::built(const std::string& source, const std::string& options) {
  auto program = make<Program>(context(), source);
  program->buildFor(program->devices(), options, {});
  return program;
}

}  // namespace weft::test
