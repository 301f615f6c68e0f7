#include "core/program.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "core/ports/native_images.h"
#include "core/program_objects.h"
#include "core/spirv.h"

namespace weft {
namespace {

using Images = std::vector<std::shared_ptr<const Image>>;
using Inputs = std::vector<std::shared_ptr<const DeviceBuild>>;

// Devices whose images are interchangeable, compiled for once.
std::vector<Program::Devices> groupByTarget(const Program::Devices& devices) {
  std::vector<Program::Devices> groups;
  for (const Ref<Device>& device : devices) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) {
      return other.front()->targets() == device->targets() &&
             other.front()->features() == device->features();
    });
    if (group == groups.end())
      groups.push_back({device});
    else
      group->push_back(device);
  }
  return groups;
}

bool descends(const Device& device, const Device& ancestor) {
  for (const Device* up = device.parent(); up; up = up->parent())
    if (up == &ancestor) return true;
  return false;
}

// What is built for a device is built for those of its sub-devices that the program knows, too.
Program::Devices withSubDevices(const Program::Devices& named, const Program::Devices& known) {
  Program::Devices all = named;
  for (const Ref<Device>& device : known) {
    if (std::find(all.begin(), all.end(), device) != all.end()) continue;
    if (std::any_of(named.begin(), named.end(),
                    [&](const auto& ancestor) { return descends(*device, *ancestor); }))
      all.push_back(device);
  }
  return all;
}

bool hasOption(const std::string& options, std::string_view wanted) {
  std::istringstream words(options);
  for (std::string word; words >> word;)
    if (word == wanted) return true;
  return false;
}

// What each input has for the linker, for one device: "All programs specified by input_programs
// contain a compiled binary or library for the device. In this case, a link is performed [...] None
// of the programs contain a compiled binary or library for that device. In this case, no link is
// performed [...] All other cases will return a CL_INVALID_OPERATION error."
Inputs inputsFor(const Device& device, const std::vector<Ref<Program>>& inputs) {
  Inputs builds;
  for (const Ref<Program>& input : inputs) {
    const auto& devices = input->devices();
    const auto known = std::any_of(devices.begin(), devices.end(),
                                   [&](const auto& other) { return other.get() == &device; });
    const auto build = known ? input->build(device) : nullptr;
    if (!build) continue;
    require(build->status != CL_BUILD_IN_PROGRESS, CL_INVALID_OPERATION, "an input is being built");
    if (build->image && build->image->kind != ImageKind::executable) builds.push_back(build);
  }
  require(builds.empty() || builds.size() == inputs.size(), CL_INVALID_OPERATION,
          "some of the inputs are not compiled for a device that others are compiled for");
  return builds;
}

bool sameImages(const Inputs& a, const Inputs& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x->image == y->image; });
}

// Turns what the compiler gave into an image, or into a message.
std::shared_ptr<const Image> imageOf(const port::CompileResult& result, std::string& log) {
  if (!result.ok) return nullptr;
  auto image = readImage(result.image);
  if (image) {
    image->forms = result.forms;
    return std::make_shared<const Image>(std::move(*image));
  }
  log += "error: the compiler returned a damaged image\n";
  return nullptr;
}

std::shared_ptr<port::Module> load(const Device& device, const Image& image, std::string& log) {
  try {
    return withObjects(device, image, device.port().load(image));
  } catch (const std::exception& error) {
    log += std::string("error: the program cannot be loaded: ") + error.what() + "\n";
    return nullptr;
  }
}

// FNV-1a.
std::string idOf(const port::Bytes& code) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : code) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

bool isExecutable(const std::shared_ptr<const Image>& image) {
  return image && image->kind == ImageKind::executable;
}

// On the device and, if it has members, on all of them. `images` are parallel to its targets.
void loadModules(const Device& device, const Images& images, DeviceBuild& build) {
  const bool executable = isExecutable(build.image);
  if (executable) build.module = load(device, *build.image, build.log);
  if (executable && !device.members().empty()) build.code_id = idOf(build.image->payload);
  const auto& targets = device.targets();
  for (const Ref<Device>& member : device.members()) {
    const auto target = std::find(targets.begin(), targets.end(), member->port().target());
    const auto index = static_cast<size_t>(target - targets.begin());
    DeviceBuild::MemberCode code{index < images.size() ? images[index] : nullptr, nullptr};
    if (build.members.empty())
      code.module = build.module;
    else if (isExecutable(code.image))
      code.module = load(*member, *code.image, build.log);
    build.members.push_back(std::move(code));
  }
}

// What a build of `device` made for a target: its own, or one of its members.
std::shared_ptr<const Image> imageFor(const Device& device, const DeviceBuild& build,
                                      const port::Target& target) {
  if (target == device.port().target()) return build.image;
  for (size_t i = 0; i < build.members.size(); ++i)
    if (device.members()[i]->port().target() == target) return build.members[i].image;
  return nullptr;
}

}  // namespace

cl_program_binary_type DeviceBuild::binaryType() const {
  if (!image) return CL_PROGRAM_BINARY_TYPE_NONE;
  switch (image->kind) {
    case ImageKind::object:
      return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    case ImageKind::library:
      return CL_PROGRAM_BINARY_TYPE_LIBRARY;
    case ImageKind::executable:
      return CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  }
  return CL_PROGRAM_BINARY_TYPE_NONE;
}

std::shared_ptr<const Image> Program::decode(const Device& device,
                                             std::span<const std::byte> bytes) {
  auto image = readImage(bytes);
  if (!image || !port::loads(device.port().target(), image->target)) return nullptr;
  return std::make_shared<const Image>(std::move(*image));
}

Program::Program(Ref<Context> context, std::string source)
    : context_(std::move(context)),
      kind_(ProgramSource::source),
      source_(std::move(source)),
      devices_(context_->devices()) {
  state_.lock()->builds.assign(devices_.size(), std::make_shared<const DeviceBuild>());
}

Program::Program(Ref<Context> context, Intermediate language)
    : Program(std::move(context), std::move(language.bytes)) {
  require(isSpirvModule(source_), CL_INVALID_VALUE, "not a SPIR-V module");
  kind_ = ProgramSource::intermediate;
}

Program::Program(Ref<Context> context, std::vector<DeviceBinary> binaries)
    : context_(std::move(context)), kind_(ProgramSource::binary), binaries_(std::move(binaries)) {
  auto state = state_.lock();
  for (const DeviceBinary& binary : binaries_) {
    devices_.push_back(binary.device);
    auto build = std::make_shared<DeviceBuild>();
    build->image = binary.image;
    state->builds.push_back(std::move(build));
  }
}

Program::Program(Ref<Context> context, Devices devices)
    : context_(std::move(context)), kind_(ProgramSource::linked), devices_(std::move(devices)) {
  state_.lock()->builds.assign(devices_.size(), std::make_shared<const DeviceBuild>());
}

size_t Program::indexOf(const Device& device) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& other) { return other.get() == &device; });
  require(found != devices_.end(), CL_INVALID_DEVICE, "not one of the program's devices");
  return static_cast<size_t>(found - devices_.begin());
}

std::shared_ptr<const DeviceBuild> Program::build(const Device& device) const {
  const size_t index = indexOf(device);
  return state_.lock()->builds[index];
}

Program::Builds Program::builds() const { return state_.lock()->builds; }

bool Program::buildFor(const Devices& devices, const std::string& options, Notify notify) {
  require(kind_ != ProgramSource::linked, CL_INVALID_OPERATION, "the program was linked");
  checkOptions(devices, options, port::OptionUse::build, CL_INVALID_BUILD_OPTIONS);
  if (kind_ == ProgramSource::binary) return start(loadJobs(devices), options, notify);
  Jobs jobs;
  for (Devices& group : groupByTarget(withSubDevices(devices, devices_))) {
    Job job;
    for (const port::Target& target : group.front()->targets())
      job.make.emplace_back([this, request = requestFor(*group.front(), target, options)] {
        return compiler().build(request);
      });
    job.devices = std::move(group);
    jobs.push_back(std::move(job));
  }
  return start(std::move(jobs), options, notify);
}

bool Program::compileFor(const Devices& devices, const std::string& options,
                         const std::vector<port::Header>& headers, Notify notify) {
  require(kind_ == ProgramSource::source || kind_ == ProgramSource::intermediate,
          CL_INVALID_OPERATION, "the program has no source");
  checkOptions(devices, options, port::OptionUse::compile, CL_INVALID_COMPILER_OPTIONS);
  Jobs jobs;
  for (Devices& group : groupByTarget(withSubDevices(devices, devices_))) {
    Job job;
    for (const port::Target& target : group.front()->targets()) {
      port::CompileRequest request = requestFor(*group.front(), target, options);
      request.headers = headers;
      job.make.emplace_back(
          [this, request = std::move(request)] { return compiler().compile(request); });
    }
    job.devices = std::move(group);
    jobs.push_back(std::move(job));
  }
  return start(std::move(jobs), options, notify);
}

bool Program::linkFrom(const std::vector<Ref<Program>>& inputs, const std::string& options,
                       Notify notify) {
  const std::string complaint = compiler().checkOptions(options, port::OptionUse::link);
  require(complaint.empty(), CL_INVALID_LINKER_OPTIONS, complaint.c_str());
  // Devices of equal target may have been compiled for with unlike options.
  std::vector<std::pair<Devices, Inputs>> groups;
  for (const Devices& same : groupByTarget(devices_)) {
    const size_t first = groups.size();
    for (const Ref<Device>& device : same) {
      Inputs builds = inputsFor(*device, inputs);
      if (builds.empty()) continue;
      const auto group =
          std::find_if(groups.begin() + static_cast<ptrdiff_t>(first), groups.end(),
                       [&](const auto& other) { return sameImages(other.second, builds); });
      if (group == groups.end())
        groups.emplace_back(Devices{device}, std::move(builds));
      else
        group->first.push_back(device);
    }
  }
  require(!groups.empty(), CL_INVALID_OPERATION, "no input is compiled for any of the devices");
  Jobs jobs;
  for (auto& [devices, builds] : groups) {
    const Device& device = *devices.front();
    Job job;
    for (const port::Target& target : device.targets()) {
      Images images;
      for (const auto& build : builds) images.push_back(imageFor(device, *build, target));
      job.make.push_back(linkCall(device, target, images, options));
    }
    job.devices = std::move(devices);
    jobs.push_back(std::move(job));
  }
  return start(std::move(jobs), options, notify);
}

std::string Program::intermediate() const {
  return kind_ == ProgramSource::intermediate ? source_ : std::string();
}

// "CL_INVALID_SPEC_ID if spec_id is not a valid specialization constant identifier",
// "CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in the
// SPIR-V module".
void Program::specialize(uint32_t id, std::string_view value) {
  require(kind_ == ProgramSource::intermediate, CL_INVALID_PROGRAM,
          "the program was not made from an intermediate language");
  const SpecializationSizes sizes = specializationSizes(source_);
  const auto known = sizes.find(id);
  require(known != sizes.end(), CL_INVALID_SPEC_ID);
  require(known->second == value.size(), CL_INVALID_VALUE, "size of a specialization constant");
  state_.lock()->specialization[id] = value;
}

std::vector<std::string> Program::kernelNames() const {
  std::vector<std::string> names;
  bool any = false;
  for (const auto& build : builds()) {
    if (!build->executable()) continue;
    any = true;
    for (const KernelInfo& kernel : build->image->kernels)
      if (!kernel.is_block && std::find(names.begin(), names.end(), kernel.name) == names.end())
        names.push_back(kernel.name);
  }
  require(any, CL_INVALID_PROGRAM_EXECUTABLE, "the program is not built");
  return names;
}

Program::Attachment::Attachment(Ref<Program> program) : program_(std::move(program)) {
  program_->state_.with([](State& state) { ++state.kernels; });
}

Program::Attachment::~Attachment() {
  program_->state_.with([](State& state) { --state.kernels; });
}

// Unknown options leave a failed build behind, so that its log can name them.
void Program::checkOptions(const Devices& devices, const std::string& options, port::OptionUse use,
                           cl_int error) {
  const std::string complaint = compiler().checkOptions(options, use);
  if (complaint.empty()) return;
  begin(devices, options);
  for (const Ref<Device>& device : devices)
    publish(*device, {CL_BUILD_ERROR, options, complaint, nullptr, nullptr});
  end();
  throw Error(error, complaint);
}

port::CompileRequest Program::requestFor(const Device& device, const port::Target& target,
                                         const std::string& options) const {
  port::CompileRequest request{source_, options, {}, target, device.features(), false, {}};
  request.intermediate = kind_ == ProgramSource::intermediate;
  for (const auto& [id, value] : state_.lock()->specialization)
    request.specialization.push_back({id, value});
  return request;
}

Program::Make Program::linkCall(const Device& device, const port::Target& target,
                                const Images& images, const std::string& options) const {
  port::LinkRequest request;
  for (const auto& image : images) {
    if (!image) return [] { return port::CompileResult{}; };
    request.objects.push_back(writeImage(*image));
  }
  request.options = options;
  request.make_library = hasOption(options, "-create-library");
  request.target = target;
  request.features = device.features();
  return [this, request = std::move(request)] { return compiler().link(request); };
}

Program::Jobs Program::loadJobs(const Devices& devices) const {
  Jobs jobs;
  for (const Ref<Device>& device : devices) {
    const auto& image = binaries_[indexOf(*device)].image;
    if (image->kind == ImageKind::executable)
      jobs.push_back({{device}, {}, image});
    else
      jobs.push_back({{device}, {linkCall(*device, device->port().target(), {image}, {})}, image});
  }
  return jobs;
}

bool Program::start(Jobs jobs, const std::string& options, Notify notify) {
  Devices devices;
  for (const Job& job : jobs) devices.insert(devices.end(), job.devices.begin(), job.devices.end());
  begin(devices, options);
  if (!notify.callback) return run(jobs, options);
  try {
    context_->platform().background().run(
        [self = Ref<Program>(this), jobs = std::move(jobs), options, notify] {
          self->run(jobs, options);
          notify.callback(self->handle(), notify.user);
        });
  } catch (...) {
    for (const Ref<Device>& device : devices)
      publish(*device, {CL_BUILD_ERROR, options, {}, nullptr, nullptr});
    end();
    throw;
  }
  return true;
}

// "CL_INVALID_OPERATION if the build of a program executable for any of the devices listed in
// device_list by a previous call [...] has not completed", "... if there are kernel objects
// attached to program".
void Program::begin(const Devices& devices, const std::string& options) {
  std::vector<size_t> indices;
  for (const Ref<Device>& device : devices) indices.push_back(indexOf(*device));
  auto pending = std::make_shared<DeviceBuild>();
  pending->status = CL_BUILD_IN_PROGRESS;
  pending->options = options;
  Builds before;  // dropped after the lock: unloading a module calls the backend
  auto state = state_.lock();
  require(!state->building, CL_INVALID_OPERATION, "a build of the program is running");
  require(state->kernels == 0, CL_INVALID_OPERATION, "kernels of the program exist");
  state->building = true;
  before = state->builds;
  for (const size_t index : indices) state->builds[index] = pending;
}

bool Program::run(const Jobs& jobs, const std::string& options) noexcept {
  bool ok = true, any = false;
  for (const Job& job : jobs) {
    try {
      const Devices failed = runJob(job, options);
      any |= failed.size() < job.devices.size();
      ok &= std::ranges::all_of(failed, [](const auto& device) { return device->port().lost(); });
    } catch (const std::exception& error) {
      ok = false;
      for (const Ref<Device>& device : job.devices)
        publish(*device, {CL_BUILD_ERROR, options, error.what(), job.image, nullptr});
    }
  }
  end();
  return ok && any;
}

Program::Devices Program::runJob(const Job& job, const std::string& options) {
  Images images;
  std::string log;
  for (const Make& make : job.make) {
    const port::CompileResult result = make();
    std::string said = result.log;
    images.push_back(imageOf(result, said));
    // All targets' compilers say the same of what they take.
    if (images.size() == 1 || !images.back()) log += said;
    if (!images.front()) break;
  }
  if (job.make.empty()) images.push_back(job.image);
  Devices failed;
  for (const Ref<Device>& device : job.devices) {
    DeviceBuild build{CL_BUILD_SUCCESS, options, log, images.front(), nullptr};
    loadModules(*device, images, build);
    if (!build.image || (isExecutable(build.image) && !build.module)) {
      build.status = CL_BUILD_ERROR;
      build.image = job.image;
      failed.push_back(device);
    }
    publish(*device, std::move(build));
  }
  return failed;
}

void Program::publish(const Device& device, DeviceBuild build) {
  std::shared_ptr<const DeviceBuild> next = std::make_shared<DeviceBuild>(std::move(build));
  const size_t index = indexOf(device);
  state_.with([&](State& state) { state.builds[index].swap(next); });
}

void Program::end() noexcept {
  state_.with([](State& state) { state.building = false; });
}

}  // namespace weft
